package lives

import (
	"encoding/json"
	"errors"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/jivad/jivad/soul/lineage"
)

func conceived(t testing.TB) Life {
	t.Helper()
	l, err := Conceive(Life{
		ID: lineage.ID{1}, Sequence: 7, Nonce: lineage.Digest{2}, Device: lineage.Key{3},
		Bounds: Bounds{TTL: time.Hour, Idle: time.Minute, MaxEvents: 3, MaxFailures: 2, WitnessGap: 1},
	}, At(time.Unix(1_800_000_000, 0), true))
	if err != nil {
		t.Fatal(err)
	}
	return l
}

var now = At(time.Unix(1_800_000_100, 0), true)

// in gives a life in a state, by the steps that lead there.
func in(t testing.TB, s State) Life {
	t.Helper()
	l := conceived(t)
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, step := range []struct {
		leads State
		do    func()
	}{
		{Ready, func() { must(l.Settle(nil, "builtin", now)) }},
		{Active, func() { must(l.Begin()) }},
		{Withdrawn, func() { must(l.Withdraw(ByPerson, now)) }},
	} {
		if l.State == s {
			return l
		}
		step.do()
	}
	switch s {
	case Quarantined:
		for range MostTries {
			must(l.Fail("the disk is full"))
		}
	case Dissolved:
		must(l.Decline("nobody judged it"))
		must(l.Dissolve(true, now))
	case Avyakrta:
		l = conceived(t)
		must(l.Settle([]Lack{{J1, "chat", "the model is missing", "pull it"}}, "", now))
	}
	if l.State != s {
		t.Fatalf("%s, want %s", l.State, s)
	}
	return l
}

// Of all pairs of states only those of the table are steps, and an illegal one names both.
func TestAllPairsOfStates(t *testing.T) {
	table := map[[2]State]bool{}
	for _, e := range Edges() {
		table[[2]State{e.From, e.To}] = true
	}
	if len(table) != 8 {
		t.Fatalf("%d edges", len(table))
	}
	for _, from := range States() {
		for _, to := range States() {
			l := Life{Sequence: 7, State: from}
			err := l.to(to)
			if legal := table[[2]State{from, to}]; legal != (err == nil) {
				t.Errorf("%s to %s: %v", from, to, err)
			}
			if err == nil {
				continue
			}
			var illegal *IllegalError
			if !errors.As(err, &illegal) || illegal.From != from || illegal.To != to || !errors.Is(err, ErrIllegal) || l.State != from {
				t.Errorf("%s to %s: %v", from, to, err)
			}
		}
	}
}

// Every method of every state leads along an edge, or is refused and changes no state.
func TestStepsFollowEdges(t *testing.T) {
	steps := map[string]func(*Life) error{
		"settle":   func(l *Life) error { return l.Settle(nil, "builtin", now) },
		"fail":     func(l *Life) error { return l.Settle([]Lack{{Invariant: J1}}, "", now) },
		"begin":    (*Life).Begin,
		"withdraw": func(l *Life) error { return l.Withdraw(ByStop, now) },
		"draft":    func(l *Life) error { return l.Draft(time.Hour, nil) },
		"meet":     func(l *Life) error { return l.Meet(lineage.Digest{9}) },
		"decline":  func(l *Life) error { return l.Decline("no signal") },
		"discard":  func(l *Life) error { return l.Discard("it is let go of") },
		"failed":   func(l *Life) error { return l.Fail("no room") },
		"dissolve": func(l *Life) error { return l.Dissolve(true, now) },
	}
	for _, s := range States() {
		for name, step := range steps {
			l := in(t, s)
			err := step(&l)
			if err == nil && l.State != s && !may(s, l.State) && !(s == Ready && l.State == Withdrawn) {
				t.Errorf("%s of %s leads to %s", name, s, l.State)
			}
			if err != nil && l.State != s {
				t.Errorf("%s of %s is refused and leads to %s", name, s, l.State)
			}
			if err := l.Check(); err != nil {
				t.Errorf("%s of %s: %v", name, s, err)
			}
		}
	}
}

// Whatever is done in whatever order: a life that ended has exactly one obligation, it
// is settled at most once, and what is written reads the same (J-4).
func TestOneObligation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l, err := Conceive(Life{ID: lineage.ID{1}, Sequence: 1, Nonce: lineage.Digest{2}, Device: lineage.Key{3}}, now)
		if err != nil {
			t.Fatal(err)
		}
		owed, settled := 0, 0
		for range rapid.IntRange(1, 30).Draw(t, "steps") {
			before := l.Obligation
			switch rapid.IntRange(0, 8).Draw(t, "step") {
			case 0:
				_ = l.Settle(nil, "m", now)
			case 1:
				_ = l.Begin()
			case 2:
				_ = l.Withdraw(ByStop, now)
			case 3:
				_ = l.Draft(time.Hour, nil)
			case 4:
				_ = l.Meet(lineage.Digest{9})
			case 5:
				_ = l.Decline("no signal")
			case 6:
				_ = l.Fail("no room")
			case 7:
				_ = l.Dissolve(rapid.Bool().Draw(t, "gone"), now)
			case 8:
				_ = l.Discard("let go")
			}
			if before.Status == None && l.Obligation.Status == Owed {
				owed++
			}
			if !before.Settled() && l.Obligation.Settled() {
				settled++
			}
			if before.Settled() && l.Obligation.Status != before.Status {
				t.Fatalf("settled as %s, then as %s", before.Status, l.Obligation.Status)
			}
			data, err := l.Encode()
			if err != nil {
				t.Fatal(err)
			}
			back, err := Decode(data)
			if err != nil {
				t.Fatal(err)
			}
			if again, _ := back.Encode(); string(again) != string(data) {
				t.Fatalf("%s\n%s", data, again)
			}
		}
		if owed > 1 || settled > 1 || settled > owed {
			t.Fatalf("owed %d times, settled %d times", owed, settled)
		}
	})
}

// J-1 broken on purpose: nobody thinks in it, or something is missing.
func TestNobodyIsBornIncomplete(t *testing.T) {
	l := conceived(t)
	if err := l.Settle(nil, "", now); !broken(err, J1) || l.State != Conceived {
		t.Error(err, l.State)
	}
	if err := l.Settle([]Lack{{J1, "a", "a is missing", "mend a"}, {J1, "b", "b is missing", "mend b"}}, "m", now); err != nil {
		t.Fatal(err)
	}
	if l.State != Avyakrta || len(l.Missing) != 2 || l.MayAct(Moment{}) == nil {
		t.Errorf("%+v", l)
	}
}

// J-3 broken on purpose: each bound by itself ends a life, and a life that is over does
// nothing.
func TestEveryBoundEndsALife(t *testing.T) {
	gap := 1.5
	for reason, spend := range map[string]struct {
		s Spent
		m Moment
	}{
		ByTTL:      {Spent{Running: time.Hour}, Moment{}},
		ByEvents:   {Spent{Events: 3}, Moment{}},
		ByFailures: {Spent{Failures: 2}, Moment{}},
		ByGap:      {Spent{Gap: &gap}, Moment{}},
		ByDay:      {Spent{}, Moment{NextDay: true}},
		ByIdle:     {Spent{}, Moment{Quiet: time.Minute}},
	} {
		l := in(t, Active)
		if err := l.MayAct(Moment{}); err != nil {
			t.Fatal(err)
		}
		l.Spent = spend.s
		if got, over := l.Bounds.Over(l.Spent, spend.m); !over || got != reason {
			t.Errorf("%s: %q %v", reason, got, over)
		}
		if err := l.MayAct(spend.m); !broken(err, J3) {
			t.Errorf("%s: %v", reason, err)
		}
		if said := l.Bounds.Says(reason); said == reason {
			t.Errorf("%s has no words", reason)
		}
	}
	l := in(t, Active)
	l.Bounds = Bounds{}
	l.Spent = Spent{Running: 1 << 60, Events: 1 << 30, Failures: 1 << 30, Gap: &gap}
	if reason, over := l.Bounds.Over(l.Spent, Moment{Quiet: 1 << 60}); over {
		t.Error("a bound of 0 is none:", reason)
	}
	for _, s := range States() {
		if l := in(t, s); (l.MayAct(Moment{}) == nil) != (s == Ready || s == Active) {
			t.Errorf("a life that is %s may act, or may not: %v", s, l.MayAct(Moment{}))
		}
	}
}

// J-4 broken on purpose: a life that is let go of without being distilled, twice
// distilled, or twice owed. S-1: one whose trace is still there.
func TestObligationsThatAreBroken(t *testing.T) {
	l := in(t, Withdrawn)
	if err := l.Dissolve(true, now); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Meet(lineage.Digest{}); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Meet(lineage.Digest{1}); err != nil {
		t.Fatal(err)
	}
	if err := l.Meet(lineage.Digest{2}); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Decline("no"); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Fail("late"); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Draft(0, nil); !broken(err, J4) {
		t.Error(err)
	}
	if err := l.Dissolve(false, now); !broken(err, S1) || l.State != Withdrawn {
		t.Error(err)
	}
	if err := l.Dissolve(true, now); err != nil {
		t.Error(err)
	}
	l = in(t, Active)
	l.Obligation.Status = Owed
	if err := l.Withdraw(ByStop, now); !broken(err, J4) {
		t.Error(err)
	}
	if _, err := l.Encode(); !broken(err, J4) {
		t.Error(err)
	}
	l = in(t, Dissolved)
	l.Obligation = Obligation{}
	if err := l.Check(); !broken(err, J4) {
		t.Error(err)
	}
}

// A distillation that keeps failing is tried five times with growing pauses of running
// time, then its life is in quarantine, out of which only the person leads.
func TestQuarantine(t *testing.T) {
	l := in(t, Withdrawn)
	var pauses []time.Duration
	for l.Due() && l.State == Withdrawn {
		if err := l.Fail("no room on the disk"); err != nil {
			t.Fatal(err)
		}
		if l.State == Withdrawn && l.Due() {
			t.Fatal("there is no pause")
		}
		pauses = append(pauses, l.Obligation.Next-l.Obligation.Waited)
		l.Obligation.Waited = l.Obligation.Next
	}
	if l.State != Quarantined || len(pauses) != MostTries || pauses[3] != 8*pauses[0] {
		t.Fatalf("%s after %v", l.State, pauses)
	}
	if l.Due() || l.MayAct(Moment{}) == nil {
		t.Error("something is done in quarantine")
	}
	back, err := Decode(must(l.Encode()))
	if err != nil || back.State != Quarantined {
		t.Fatal(err)
	}
	for name, leave := range map[string]func(*Life) error{
		"cleared":    func(l *Life) error { return l.Meet(lineage.Digest{4}) },
		"superseded": func(l *Life) error { return l.Decline("superseded") },
		"discarded":  func(l *Life) error { return l.Discard("the person let it go") },
	} {
		l := back
		if err := errors.Join(leave(&l), l.Dissolve(true, now), l.Check()); err != nil || l.State != Dissolved {
			t.Errorf("%s: %v, %s", name, err, l.State)
		}
	}
}

// A judgement is waited for by running time: no clock that is set ends the window.
func TestWindow(t *testing.T) {
	l := in(t, Withdrawn)
	if !l.Due() {
		t.Fatal("it is owed")
	}
	if err := l.Draft(24*time.Hour, json.RawMessage(`{"rules":2}`)); err != nil {
		t.Fatal(err)
	}
	l.Obligation.Waited = 24*time.Hour - 1
	if l.Due() {
		t.Error("the window is open")
	}
	l.Obligation.Waited++
	if !l.Due() {
		t.Error("the window is over")
	}
	if err := l.Decline("no signal"); err != nil || string(l.Obligation.Report) != `{"rules":2}` {
		t.Error(err, l.Obligation)
	}
}

func TestDecodeRefuses(t *testing.T) {
	for _, text := range []string{
		``, `{}`, `null`, `[]`,
		`{"schema":"jivad/life/1","id":"00000000-0000-0000-0000-000000000001","sequence":1,"state":"reborn"}`,
		`{"schema":"jivad/life/1","id":"00000000-0000-0000-0000-000000000001","sequence":1,"state":"dissolved"}`,
		`{"schema":"jivad/life/2","id":"00000000-0000-0000-0000-000000000001","sequence":1,"state":"ready"}`,
	} {
		if _, err := Decode([]byte(text)); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

// A projection without a nonce or a key of its own is none (AD-4).
func TestProjectionHasItsOwn(t *testing.T) {
	for _, l := range []Life{
		{Sequence: 1, ID: lineage.ID{1}, Device: lineage.Key{1}},
		{Sequence: 1, ID: lineage.ID{1}, Nonce: lineage.Digest{1}},
		{Sequence: 1, Nonce: lineage.Digest{1}, Device: lineage.Key{1}},
		{ID: lineage.ID{1}, Nonce: lineage.Digest{1}, Device: lineage.Key{1}},
	} {
		if _, err := Conceive(l, now); !broken(err, AD4) {
			t.Errorf("%+v: %v", l, err)
		}
	}
}

func broken(err error, i Invariant) bool {
	var b *BrokenError
	return errors.As(err, &b) && b.Invariant == i && errors.Is(err, ErrBroken)
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}
