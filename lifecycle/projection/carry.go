package projection

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// A store that is put back to an earlier copy remembers what it remembered then. Its lives
// are not lived again: that they were, how they ended and what they left is the history of
// the device, not of a file. So a copy gets the lives and the lineage of the store that it
// takes the place of.

// nameAgain is there while what is left of excised lives is still to be taken out of a
// store that was put back: with the ids of those that are to be excised.
const nameAgain = "lineage/again"

// Taken tells what a copy takes over.
type Taken struct {
	// Values are to be put; nil data removes.
	Values []Value
	// Newer counts lives that the copy does not know and gets, Excised those of it that
	// were excised since, Aside those that it alone knows, of another course, and loses;
	// Cut those that it holds as lived or not yet distilled, and whose end nobody here
	// knows: nothing more comes of them.
	Newer, Excised, Aside, Cut int
}

// history is what a store knows of lives, its records by name.
type history struct {
	records map[string][]byte
	lives   map[lineage.ID]lives.Life
	// facts are what only grows as long as a store is the same: the lives, that one is
	// settled, or was excised.
	facts map[string]bool
}

// ofLives tells of a record that is part of that.
func ofLives(name string) bool {
	return strings.HasPrefix(name, "lineage/") || strings.HasPrefix(name, "life/") || name == nameSatisfaction
}

func historyOf(values []Value) (h history, err error) {
	h = history{map[string][]byte{}, map[lineage.ID]lives.Life{}, map[string]bool{}}
	for _, v := range values {
		if !ofLives(v.Name) {
			continue
		}
		h.records[v.Name] = v.Data
		if id, is := strings.CutPrefix(v.Name, prefixTombstone); is {
			h.facts["excised "+id] = true
		}
		if !strings.HasPrefix(v.Name, prefixLife) {
			continue
		}
		l, err := lives.Decode(v.Data)
		if err != nil {
			return h, unreadable(v.Name, err)
		}
		h.lives[l.ID] = l
		if l.State == lives.Avyakrta || l.State == lives.Conceived {
			continue // nobody was born, and the next try has another id
		}
		h.facts["life "+l.ID.String()] = true
		if l.Obligation.Settled() {
			h.facts["settled "+l.ID.String()] = true
		}
	}
	return h, nil
}

// within tells whether all that a history knows is known to another.
func (h history) within(other history) bool {
	for fact := range h.facts {
		if !other.facts[fact] {
			return false
		}
	}
	return true
}

// excised are the lives of which it has a tombstone.
func (h history) excised() map[string]bool {
	out := map[string]bool{}
	for fact := range h.facts {
		if id, is := strings.CutPrefix(fact, "excised "); is {
			out[id] = true
		}
	}
	return out
}

// Carry works out what a copy takes over of lives: own are the records of the copy, others
// those of the store that it takes the place of, or of copies of that. Of two courses of
// which neither holds the other that of the store goes on, without what was excised in
// either. here tells whether the trace of a life, by its number, is on this disk; present
// that others are the store itself, so that what it says of a life's end holds.
func Carry(own []Value, others [][]Value, present bool, here func(n int64) bool, now lives.Stamp) (t Taken, err error) {
	before, err := historyOf(own)
	if err != nil {
		return t, err
	}
	best, ownBest := before, true
	gone := before.excised()
	for _, values := range others {
		o, err := historyOf(values)
		if err != nil {
			continue // as one that is not there
		}
		maps.Copy(gone, o.excised())
		if best.within(o) || !o.within(best) {
			best, ownBest = o, false
		}
	}
	after := maps.Clone(best.records)
	if !ownBest {
		if err := t.take(before, best, after); err != nil {
			return t, err
		}
	}
	if ownBest || !present {
		if err := t.cut(best, after, here, now); err != nil {
			return t, err
		}
	}
	if err := t.owe(before, best, gone, after); err != nil {
		return t, err
	}
	for _, name := range slices.Sorted(maps.Keys(before.records)) {
		if _, stays := after[name]; !stays {
			t.Values = append(t.Values, Value{Name: name})
		}
	}
	for _, name := range slices.Sorted(maps.Keys(after)) {
		if !bytes.Equal(after[name], before.records[name]) {
			t.Values = append(t.Values, Value{name, after[name]})
		}
	}
	return t, nil
}

// take counts what the copy gets, and gives each life the session that the copy knows it
// by: 0 where that is not in it.
func (t *Taken) take(before, best history, after map[string][]byte) error {
	for id, l := range best.lives {
		known, is := before.lives[id]
		if !is && l.State != lives.Avyakrta && l.State != lives.Conceived {
			t.Newer++
		}
		l.Session = known.Session
		v, err := lifeValue(&l)
		if err != nil {
			return err
		}
		after[v.Name] = v.Data
	}
	for id, l := range before.lives {
		if _, is := best.lives[id]; !is && l.State != lives.Avyakrta && l.State != lives.Conceived {
			t.Aside++
		}
	}
	return nil
}

// cut ends lives whose end nobody here knows: they were lived, or not distilled yet, when
// the copy was made, and their traces are not on this disk. Another distillation of one
// would be a second end of it.
func (t *Taken) cut(best history, after map[string][]byte, here func(n int64) bool, now lives.Stamp) error {
	for _, l := range best.lives {
		owed := l.State == lives.Withdrawn && l.Obligation.Status == lives.Owed
		if !l.State.Living() && !owed || here(l.Sequence) {
			continue
		}
		var err error
		if l.State.Living() {
			err = l.Withdraw(lives.ByCrash, now)
		}
		err = errors.Join(err, l.Decline("restored from a copy: how it went on is not known here"), l.Dissolve(true, now))
		if err != nil {
			return err
		}
		v, err := lifeValue(&l)
		if err != nil {
			return err
		}
		after[v.Name] = v.Data
		delete(after, kitName(l.Sequence))
		delete(after, draftName(l.Sequence))
		t.Cut++
	}
	return nil
}

// owe notes what the next start takes out: lives that were excised in the other course, by
// whatever is here of them, so that each has its tombstone here too, and what the file of the
// copy still holds of lives that are gone.
func (t *Taken) owe(before, best history, gone map[string]bool, after map[string][]byte) error {
	owed, out := false, []lineage.ID{}
	for name, data := range before.records {
		if _, stays := after[name]; stays {
			continue
		}
		if strings.HasPrefix(name, prefixMember) {
			owed = true
			if d, err := lineage.ParseKept(data); err == nil && gone[d.Life.String()] {
				t.Excised++
			}
		}
	}
	for id, l := range best.lives {
		_, drafted := before.records[draftName(l.Sequence)]
		owed = owed || drafted && gone[id.String()]
	}
	mine := best.excised()
	for text := range gone {
		if mine[text] {
			continue
		}
		id, err := lineage.IDOf(text)
		if err != nil {
			return unreadable(prefixTombstone+text, err)
		}
		out, owed = append(out, id), true
		if l, is := best.lives[id]; is && !l.State.Over() {
			t.Excised++
		}
	}
	for name, data := range best.records {
		if !strings.HasPrefix(name, prefixMember) {
			continue
		}
		d, err := kept(name, data)
		if err != nil {
			return err
		}
		if life := d.Life.String(); gone[life] && !mine[life] {
			t.Excised++
		}
	}
	if !owed {
		return nil
	}
	slices.SortFunc(out, lineage.ID.Compare)
	v, err := encode(nameAgain, out)
	after[nameAgain] = v.Data
	return err
}

// ToExcise tells whether something of excised lives came back with a copy of before, and
// which lives are to be excised for it.
func (p *Projections) ToExcise() (gone []lineage.ID, owed bool, err error) {
	data, err := p.o.Store.Value(nameAgain)
	if errors.Is(err, ErrNotFound) {
		return nil, false, nil
	}
	if err == nil {
		err = json.Unmarshal(data, &gone)
	}
	if err != nil {
		return nil, true, unreadable(nameAgain, err)
	}
	return gone, true, nil
}

// ExciseAgain takes it out: lives that are still there as Excise does, and the rest by
// writing the store anew, in which the chain does not hold it any more. more is as for
// Excise. Until it is done it is owed.
func (p *Projections) ExciseAgain(ctx context.Context, gone []lineage.ID, who string, more func(without *lineage.Lineage) ([]Value, error)) error {
	if len(gone) > 0 {
		if _, err := p.Excise(ctx, gone, false, who, more); err != nil {
			return err
		}
	}
	p.mu.Lock()
	l := p.lineage
	if l == nil {
		l = lineage.New(p.o.Root, lineage.Digest{})
	}
	p.mu.Unlock()
	values, err := more(l)
	if err != nil {
		return err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	err = p.o.Store.Rewrite(ctx, func(v Value) ([]byte, error) {
		if v.Name == nameAgain {
			return nil, nil
		}
		return v.Data, nil
	}, values...)
	if err != nil {
		return fmt.Errorf("write the store anew: %w", err)
	}
	p.o.Log.Info("what excised lives had left was taken out of a copy that was restored")
	return nil
}
