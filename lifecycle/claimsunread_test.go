package lifecycle_test

import (
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/gate/evidence"
	"github.com/jivad/jivad/lifecycle"
	"github.com/jivad/jivad/lifecycle/claims"
)

// harmClaim puts f's bytes in the place of the first record of claims; sealed seals them.
func harmClaim(t testing.TB, dir string, sealed bool, f func(data []byte) []byte) (name string) {
	t.Helper()
	db, err := bolt.Open(filepath.Join(dir, chitta.FileName), 0o600, nil)
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(func(tx *bolt.Tx) error {
		b := tx.Bucket([]byte("values"))
		k, v := b.Cursor().Seek([]byte(claims.Prefix))
		name, k = string(k), slices.Clone(k)
		seal, data := slices.Clone(v[:4]), f(slices.Clone(v[4:]))
		if sealed {
			sum := crc32.Checksum(slices.Concat([]byte("values\x00"), k, data), crc32.MakeTable(crc32.Castagnoli))
			seal = binary.LittleEndian.AppendUint32(nil, sum)
		}
		return b.Put(k, append(seal, data...))
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	return name
}

// One record of a claim that cannot be read: no claim is believed and acts of consequence are
// refused, with its name and what to do, in status, doctor and verify too. All else goes on,
// and a backup of before brings the claims back.
func TestARecordOfAClaimThatCannotBeRead(t *testing.T) {
	for name, damage := range map[string]struct {
		sealed bool
		f      func([]byte) []byte
		says   string
		anew   bool
	}{
		"its checksum":                 {false, func(data []byte) []byte { data[len(data)/2] ^= 1; return data }, "checksum does not match", false},
		"its checksum, and begun anew": {false, func(data []byte) []byte { data[len(data)/2] ^= 1; return data }, "checksum does not match", true},
		"its form, and begun anew":     {true, func([]byte) []byte { return []byte(`{"form":"jivad/claim-event/2"}`) }, "this program knows", true},
		"its form":                     {true, func([]byte) []byte { return []byte(`{"form":"jivad/claim-event/2"}`) }, "this program knows", false},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.policy(t, leaks+"[[act]]\ntool = \"close_valve\"\nrests_on = [\"the road is shut\"]\n")
			c := imported(t, w, notes(6))
			verified(t, c, "the road", "The road is shut.")
			b, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), nil)
			if err != nil {
				t.Fatal(err)
			}
			claimed(t, c, "The ford is deep", "") // known to the store that is damaged alone
			w.end(t, c)
			record := harmClaim(t, w.dir, damage.sealed, damage.f)
			m := &speaking{pieces: []string{"Yes."}}
			w.opts.Model = m
			c, err = lifecycle.Open(t.Context(), w.opts)
			if err != nil {
				t.Fatalf("nothing is left: %v", err)
			}
			defer func() { _ = c.Close(context.Background()) }()
			told := func(where, text string) {
				t.Helper()
				if !strings.Contains(text, strings.TrimLeft(strings.TrimPrefix(record, claims.Prefix), "0")) || !strings.Contains(text, damage.says) || !strings.Contains(text, "restore ") || !strings.Contains(text, "claims forget all --yes") {
					t.Errorf("%s: %s", where, text)
				}
			}
			for _, consequence := range []string{"medium", "high"} {
				d, err := c.GateAct(t.Context(), "close_valve", consequence, nil)
				if !errors.Is(err, claims.ErrUnread) || d.Verdict == evidence.Allow {
					t.Fatalf("%s: %+v, %v", consequence, d, err)
				}
				told("gate", err.Error())
			}
			if d, err := c.GateAct(t.Context(), "look", "low", nil); err != nil || d.Verdict != evidence.Allow {
				t.Errorf("%+v, %v", d, err)
			}
			_, listErr := c.Claims(t.Context(), lifecycle.ClaimQuery{})
			_, addErr := c.AddClaim(t.Context(), lifecycle.ClaimDraft{Text: "x", Subject: "y"})
			_, oneErr := c.Claim(t.Context(), "c234567")
			_, forgetErr := c.ForgetClaims(t.Context(), []string{"c234567"})
			for _, err := range []error{listErr, addErr, oneErr, forgetErr} {
				if !errors.Is(err, claims.ErrUnread) {
					t.Fatal(err)
				}
				told("a verb", err.Error())
			}
			told("status", problems(t, c))
			if strings.Count(problems(t, c), "claim is believed") != 1 {
				t.Errorf("%s", problems(t, c))
			}
			checks, err := c.Doctor(t.Context())
			v, err2 := c.Verify(t.Context(), true, nil)
			if err := errors.Join(err, err2); err != nil || v.OK {
				t.Fatal(err, v.OK)
			}
			for _, list := range [][]lifecycle.Check{checks, v.Checks} {
				if i := slices.IndexFunc(list, func(k lifecycle.Check) bool { return k.Name == "claims" }); i < 0 || list[i].OK {
					t.Errorf("%+v", list)
				} else {
					told("doctor or verify", list[i].Detail+list[i].Hint)
				}
			}

			// All else goes on.
			w.write(t, c, "A day with a shut road.")
			if err := c.Sensed(t.Context(), "plant/pump3/leak", []byte("wet")); err != nil {
				t.Error(err)
			}
			if _, err := c.Talk(t.Context(), lifecycle.TalkRequest{Said: "What of the road?", Forget: true}, func(string) error { return nil }); err != nil {
				t.Error(err)
			}
			if strings.Contains(m.heard[0].Content, "VERIFIED, ") {
				t.Errorf("it is believed:\n%s", m.heard[0].Content)
			}
			if _, err := c.Recall(t.Context(), lifecycle.RecallQuery{Text: "road", Limit: 3}); err != nil {
				t.Error(err)
			}
			if _, err := c.EndSession(t.Context()); err != nil {
				t.Error(err)
			}
			if soulOf(t, w) == "" {
				t.Error("no SOUL.md")
			}
			if damage.sealed {
				if _, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), nil); err != nil {
					t.Error(err)
				}
			}
			if err := c.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
			if damage.anew {
				if c, err = lifecycle.Open(t.Context(), w.opts); err != nil {
					t.Fatal(err)
				}
				if gone, err := c.ForgetClaims(t.Context(), []string{lifecycle.AllClaims}); err != nil || gone.Left != 0 {
					t.Fatal(gone, err)
				}
				claimed(t, c, "The ford is passable", "")
				if _, err := c.Backup(t.Context(), filepath.Join(t.TempDir(), "b.db"), nil); err != nil {
					t.Error(err)
				}
				if err := c.Close(t.Context()); err != nil {
					t.Fatal(err)
				}
				w.policy(t, leaks)
				c = w.live(t)
				if p := problems(t, c); p != "" {
					t.Error(p)
				}
				if got := listed(t, c); !slices.Equal(got, []string{"REPORTED 0 The ford is passable"}) {
					t.Errorf("%q", got)
				}
				return
			}
			if _, err := lifecycle.Restore(t.Context(), lifecycle.RestoreOptions{Dir: w.dir, File: b.Path}, nil); err != nil {
				t.Fatal(err)
			}
			c = w.live(t)
			if got := listed(t, c); !slices.Equal(got, []string{"VERIFIED 2 The road is shut."}) {
				t.Errorf("%q", got)
			}
		})
	}
}
