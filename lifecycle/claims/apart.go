package claims

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// NameForgotten is the record of what was forgotten; see [Forgotten].
const NameForgotten = "claim/forgotten"

// Forgotten are the ids of claims that were forgotten: where an older copy of the store is
// put in its place they are taken out again. It holds nothing else of them. Last is the
// highest number that an event had then.
type Forgotten struct {
	IDs  map[string]bool
	Last uint64
}

type keptForgotten struct {
	IDs  []string `json:"ids"`
	Last uint64   `json:"last"`
}

// ReadForgotten reads that record; no data is nothing.
func ReadForgotten(data []byte) (Forgotten, error) {
	f, kept := Forgotten{IDs: map[string]bool{}}, keptForgotten{}
	if len(data) > 0 {
		if err := json.Unmarshal(data, &kept); err != nil {
			return f, fmt.Errorf("%w: record %s: %w", ErrEvent, NameForgotten, err)
		}
	}
	for _, id := range kept.IDs {
		f.IDs[id] = true
	}
	f.Last = kept.Last
	return f, nil
}

// Add takes in another one.
func (f *Forgotten) Add(other Forgotten) {
	for id := range other.IDs {
		f.IDs[id] = true
	}
	f.Last = max(f.Last, other.Last)
}

// Encode writes it.
func (f Forgotten) Encode() ([]byte, error) {
	return json.Marshal(keptForgotten{slices.Sorted(maps.Keys(f.IDs)), f.Last})
}

// Exclusively does something with the store in which no claim may change, and folds anew
// what is kept after that. f must not ask the book.
func (b *Book) Exclusively(ctx context.Context, f func() error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := f(); err != nil {
		return err
	}
	return b.reload(context.WithoutCancel(ctx))
}

// Freeze has the book write nothing by itself: of a store that is only looked at.
func (b *Book) Freeze() { b.frozen.Store(true) }

// Apart is the book as it would be without what goes, and what that is. It keeps nothing.
func (b *Book) Apart(ctx context.Context, g Goes) (*Book, Leaving, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.unread != nil {
		return nil, Leaving{}, b.unread
	}
	var all []Value
	err := b.store.Values(Prefix, func(name string, data []byte) error {
		all = append(all, Value{name, slices.Clone(data)})
		return nil
	})
	if err != nil {
		return nil, Leaving{}, err
	}
	left, gone, err := Without(all, g)
	if err != nil {
		return nil, Leaving{}, err
	}
	apart := &Book{store: fixed(left), now: b.now, policy: b.policy, latest: b.latest}
	apart.Freeze()
	if apart.state, err = fold(ctx, apart.store, nil); err != nil {
		return nil, Leaving{}, err
	}
	out := Leaving{Gone: gone, IDs: map[string]bool{}, Last: max(b.state.Last, b.floor)}
	for id, k := range b.state.claims {
		if apart.state.claims[id] == nil {
			out.IDs[id] = true
			continue
		}
		out.Changed = out.Changed || k.Events != apart.state.claims[id].Events
	}
	for _, v := range all {
		e, err := decode(0, v.Data)
		if err != nil {
			return nil, Leaving{}, err
		}
		if (out.IDs[e.Claim] || out.IDs[e.Other]) && unsettles(e) {
			out.Shown = true
			out.Session = firstOf(out.Session, e.Session)
		}
		if out.IDs[e.Claim] && e.Kind == Asserted {
			out.Asserted = firstOf(out.Asserted, e.Session)
		}
	}
	if out.Shown && out.Session == 0 {
		out.Session = max(1, out.Asserted)
	}
	return apart, out, nil
}

// unsettles tells whether a claim may stand in SOUL.md from an event on: it came into
// quarantine, or is contested, by that; or, of one that follows from others, whenever one of
// those falls.
func unsettles(e Event) bool {
	switch e.Kind {
	case Doubted, Contested, Withdrawn:
		return true
	case Asserted:
		return e.Asserted != nil && len(e.Asserted.Previous) > 0
	}
	return false
}

// Leaving is what goes.
type Leaving struct {
	Gone
	// IDs are the claims that go; Changed tells that others lose something.
	IDs     map[string]bool
	Changed bool
	// Shown tells that SOUL.md may have spoken of one, since Session; Asserted is the
	// session of the first of them.
	Shown             bool
	Session, Asserted int
	// Last is the highest number that an event had.
	Last uint64
}

// Forgotten is what is to be kept of that.
func (l Leaving) Forgotten() Forgotten { return Forgotten{l.IDs, l.Last} }

// Nothing tells that nothing goes.
func (l Leaving) Nothing() bool { return len(l.IDs) == 0 && l.Events == 0 }

// Since is the first session whose SOUL.md may have spoken of one of them, or the one given
// where that is earlier; 0 for none.
func (l Leaving) Since(session int) int {
	if !l.Shown {
		return session
	}
	return firstOf(session, l.Session)
}

func firstOf(a, b int) int {
	if a == 0 || b > 0 && b < a {
		return b
	}
	return a
}

// Mentions counts the records among those given that are of one of the claims.
func Mentions(values func(prefix string, f func(name string, data []byte) error) error, ids map[string]bool) (n int, err error) {
	err = values(Prefix, func(_ string, data []byte) error {
		e, err := decode(0, data)
		if err == nil && (ids[e.Claim] || ids[e.Other]) {
			n++
		}
		return err
	})
	return n, err
}

// fixed are records that nobody adds to.
type fixed []Value

func (f fixed) Values(prefix string, each func(string, []byte) error) error {
	for _, v := range f {
		if strings.HasPrefix(v.Name, prefix) {
			if err := each(v.Name, v.Data); err != nil {
				return err
			}
		}
	}
	return nil
}

func (fixed) Put(context.Context, ...Value) error { return ErrFixed }
