package lineage

import (
	"crypto/sha256"
	"fmt"
	"maps"
	"slices"
)

// Batch is one merge: the distillates that were new then, by rising digest, and the
// version of the lineage that they led to.
type Batch struct {
	Members []Digest `json:"members"`
	Version Digest   `json:"version"`
	// Momentum is κ: Σ|w after − w before| over all keys, in millionths. Rewordings
	// counts the rules that were there before and got other words.
	Momentum   int64 `json:"momentum"`
	Rewordings int   `json:"rewordings"`
}

// Lineage is a chain of batches (S-3). Nothing in it is ever changed or taken out;
// [Lineage.Without] gives another chain. It is not safe for use by several goroutines
// where one of them merges.
type Lineage struct {
	root     ID
	identity Digest
	batches  []Batch
	tree     tree
	members  map[Digest]*Distillate
	// lives gives the digests of the distillates that name a life, rising, whoever signed
	// them. first is the lowest of what one device says of a life: that counts.
	lives map[ID][]Digest
	first map[lived]Digest
	sums  map[string]*sum
	words words
	// clean are sentences that Admit has looked through for details: lives say the same
	// things again, and the look takes longer than all the rest.
	clean map[string]bool
}

// lived is a life as it counts: of one device. What another device says of a life of that
// id is of a life of its own, and takes nothing from this one.
type lived struct {
	device Key
	life   ID
}

func livedBy(d *Distillate) lived { return lived{d.Device, d.Life} }

// New begins the lineage of a genesis root and an identity. Distillates of another
// identity are refused by it.
func New(root ID, identity Digest) *Lineage {
	return &Lineage{
		root: root, identity: identity, members: map[Digest]*Distillate{}, lives: map[ID][]Digest{},
		first: map[lived]Digest{}, sums: map[string]*sum{}, words: words{}, clean: map[string]bool{},
	}
}

// words keeps each text once: lives say the same things again.
type words map[string]string

func (w words) once(text string) string {
	if known, ok := w[text]; ok {
		return known
	}
	w[text] = text
	return text
}

// Version is SHA-256("jivad/lineage/1" ‖ genesis root ‖ tree hash).
func Version(root ID, tree Digest) Digest {
	return sha256.Sum256(slices.Concat([]byte("jivad/lineage/1"), root[:], tree[:]))
}

// Root is the genesis root, Identity the identity of all that is in the lineage.
func (l *Lineage) Root() ID         { return l.root }
func (l *Lineage) Identity() Digest { return l.identity }

// Head is the version of the lineage as it is now: a function of its set alone.
func (l *Lineage) Head() Digest { return Version(l.root, l.tree.root()) }

// Size counts the distillates, Batches the merges.
func (l *Lineage) Size() int    { return len(l.members) }
func (l *Lineage) Batches() int { return len(l.batches) }

// Batch gives a merge by its number from 0.
func (l *Lineage) Batch(n int) Batch { return l.batches[n] }

// Member gives a distillate, which must not be changed.
func (l *Lineage) Member(d Digest) (*Distillate, bool) {
	m, ok := l.members[d]
	return m, ok
}

// Members gives the digests of all distillates, rising.
func (l *Lineage) Members() []Digest { return slices.Clone(l.tree.digests) }

// OfLife gives the digests of all distillates that name a life, rising, whoever signed them.
// Of those of one device the first counts: more than one tells that the life was distilled
// twice (J-4), as after a restore. Those of several devices are of as many lives.
func (l *Lineage) OfLife(life ID) []Digest { return slices.Clone(l.lives[life]) }

// Counts tells which of the distillates of a member's device and life counts: the one of
// lowest digest. False where there is no such member.
func (l *Lineage) Counts(digest Digest) (Digest, bool) {
	d, ok := l.members[digest]
	if !ok {
		return Digest{}, false
	}
	return l.first[livedBy(d)], true
}

// Rules gives what the lineage says, in the order of the keys.
func (l *Lineage) Rules() []Rule { return rulesOf(l.sums) }

// Rule gives the rule of a key.
func (l *Lineage) Rule(key string) (Rule, bool) {
	s, ok := l.sums[key]
	if !ok {
		return Rule{}, false
	}
	return s.rule(), true
}

// Admit tells whether a distillate may enter: valid, signed, and of this identity
// (AD-1, AD-4). Errors: those of Check, ErrSignature, ErrIdentity. Not for several
// goroutines at a time.
func (l *Lineage) Admit(d *Distillate) error {
	if err := d.checkForm(); err != nil {
		return err
	}
	if err := d.checkDetails(l.clean); err != nil {
		return err
	}
	if d.Identity != l.identity {
		return fmt.Errorf("distillate %s: %w", d.ID, ErrIdentity)
	}
	return d.CheckSignature()
}

// Merge takes in the distillates that are not there yet, as one batch, and tells which
// that were; where there are none there is no batch (AD-3: merging is commutative,
// associative and idempotent in all but the batches). They must have been admitted and
// must not be changed afterwards. Error: ErrForm for more than four million.
func (l *Lineage) Merge(ds ...*Distillate) (Batch, error) {
	fresh := map[Digest]*Distillate{}
	for _, d := range ds {
		digest := d.known
		if digest == (Digest{}) {
			var err error
			if digest, err = d.Digest(); err != nil {
				return Batch{}, err
			}
		}
		if l.members[digest] == nil {
			fresh[digest] = d
		}
	}
	if len(fresh) == 0 {
		return Batch{}, nil
	}
	if len(l.members)+len(fresh) > maxMembers {
		return Batch{}, fmt.Errorf("%w: a lineage of more than %d distillates", ErrForm, maxMembers)
	}
	return l.take(fresh), nil
}

// take is the merge of what is fresh.
func (l *Lineage) take(fresh map[Digest]*Distillate) Batch {
	order := slices.SortedFunc(maps.Keys(fresh), Digest.Compare)
	before := l.touched(fresh)
	displaced := false
	for _, digest := range order {
		d := l.kept(fresh[digest])
		l.members[digest] = d
		at, _ := slices.BinarySearchFunc(l.lives[d.Life], digest, Digest.Compare)
		l.lives[d.Life] = slices.Insert(l.lives[d.Life], at, digest)
		first, known := l.first[livedBy(d)]
		switch {
		case !known:
			l.first[livedBy(d)] = digest
			l.count(digest, d)
		case digest.Compare(first) < 0: // the one that counted does no more
			l.first[livedBy(d)] = digest
			displaced = true
		}
	}
	if displaced {
		l.recount()
	}
	l.tree.insert(order)
	b := Batch{Members: order, Version: l.Head()}
	b.Momentum, b.Rewordings = l.moved(before)
	l.batches = append(l.batches, b)
	return b
}

// kept is a distillate with each of its texts held once.
func (l *Lineage) kept(d *Distillate) *Distillate {
	out := *d
	out.Dispositions = slices.Clone(d.Dispositions)
	for i := range out.Dispositions {
		p := &out.Dispositions[i]
		p.Key, p.Guidance = l.words.once(p.Key), l.words.once(p.Guidance)
	}
	out.Schema, out.Polarity = l.words.once(out.Schema), l.words.once(out.Polarity)
	out.Satisfaction.Source, out.Satisfaction.Model = l.words.once(out.Satisfaction.Source), l.words.once(out.Satisfaction.Model)
	return &out
}

func (l *Lineage) count(digest Digest, d *Distillate) {
	for _, x := range contributions(digest, d) {
		key := x.disposition().Key
		if l.sums[key] == nil {
			l.sums[key] = &sum{}
		}
		l.sums[key].add(x)
	}
}

// recount adds up anew.
func (l *Lineage) recount() {
	l.sums = map[string]*sum{}
	for _, digest := range l.first {
		l.count(digest, l.members[digest])
	}
}

// touched gives the rules that a merge can change, as they are before it: those that
// the fresh ones speak of, and those of the distillate that counted for the same life.
func (l *Lineage) touched(fresh map[Digest]*Distillate) map[string]Rule {
	out := map[string]Rule{}
	note := func(d *Distillate) {
		for i := range d.Dispositions {
			key := d.Dispositions[i].Key
			if _, done := out[key]; !done {
				out[key], _ = l.Rule(key)
			}
		}
	}
	for _, d := range fresh {
		note(d)
		if counted, known := l.first[livedBy(d)]; known {
			note(l.members[counted])
		}
	}
	return out
}

// moved tells how far weights went from what they were, and how many rules that were
// there got other words. A rule that is not there weighs 0.
func (l *Lineage) moved(before map[string]Rule) (momentum int64, rewordings int) {
	for key, was := range before {
		is, _ := l.Rule(key)
		momentum += max(is.Weight-was.Weight, was.Weight-is.Weight)
		if was.Support > 0 && is.Support > 0 && was.Guidance != is.Guidance {
			rewordings++
		}
	}
	return momentum, rewordings
}

// Without gives the lineage that there would be had lives never been distilled (S-5):
// the same chain without the distillates that name them, whoever signed those, and without
// the batches that held nothing else. Lives that left nothing here are no error.
func (l *Lineage) Without(lives ...ID) *Lineage {
	gone := map[Digest]bool{}
	for _, life := range lives {
		for _, digest := range l.lives[life] {
			gone[digest] = true
		}
	}
	out := New(l.root, l.identity)
	for _, b := range l.batches {
		left := map[Digest]*Distillate{}
		for _, digest := range b.Members {
			if !gone[digest] {
				left[digest] = l.members[digest]
			}
		}
		if len(left) > 0 {
			out.take(left)
		}
	}
	return out
}

// At gives the lineage as it was when it had a version: that of an empty one, or of one of
// its batches. False where its chain never had that.
func (l *Lineage) At(version Digest) (*Lineage, bool) {
	out := New(l.root, l.identity)
	for i := 0; version != out.Head(); i++ {
		if i == len(l.batches) {
			return nil, false
		}
		members := map[Digest]*Distillate{}
		for _, digest := range l.batches[i].Members {
			members[digest] = l.members[digest]
		}
		out.take(members)
	}
	return out, true
}

// Converged tells whether the last n batches moved less than threshold each, in
// millionths; false where there are fewer.
func (l *Lineage) Converged(n int, threshold int64) bool {
	if n < 1 || len(l.batches) < n {
		return false
	}
	for _, b := range l.batches[len(l.batches)-n:] {
		if b.Momentum >= threshold {
			return false
		}
	}
	return true
}
