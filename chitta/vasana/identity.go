package vasana

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"slices"
)

// sameTendency is the least overlap (Jaccard: shared members over all members)
// at which a cluster goes on being an earlier tendency.
const sameTendency = 0.3

// identify gives every cluster its ID: greedily, by the best overlap first,
// the ID of one earlier tendency; else a new one.
func identify(found, previous []Vasana, session int) error {
	total := 0
	for f := range found {
		total += len(found[f].Keys)
	}
	cluster := make(map[[16]byte]int32, total)
	for f := range found {
		for _, key := range found[f].Keys {
			if _, twice := cluster[key]; twice {
				return &Error{Op: "detect tendencies", What: "impression " + hex.EncodeToString(key[:]) + " is there twice", Err: ErrPoint}
			}
			cluster[key] = int32(f)
		}
	}
	type match struct {
		shared, all   int
		before, found int
	}
	var matches []match
	shared := map[int32]int{}
	for p, before := range previous {
		clear(shared)
		for _, key := range before.Keys {
			if f, ok := cluster[key]; ok {
				shared[f]++
			}
		}
		for f, s := range shared { // sorted below: the map's order leaves no trace
			all := len(before.Keys) + len(found[f].Keys) - s
			if float64(s) >= sameTendency*float64(all) {
				matches = append(matches, match{s, all, p, int(f)})
			}
		}
	}
	slices.SortFunc(matches, func(a, b match) int {
		return cmp.Or(
			cmp.Compare(uint64(b.shared)*uint64(a.all), uint64(a.shared)*uint64(b.all)), // greater overlap first
			cmp.Compare(previous[a.before].ID, previous[b.before].ID),
			slices.CompareFunc(found[a.found].Keys, found[b.found].Keys, compareKeys),
		)
	})
	taken := map[string]bool{}
	for _, m := range matches {
		if id := previous[m.before].ID; found[m.found].ID == "" && !taken[id] {
			found[m.found].ID = id
			taken[id] = true
		}
	}
	for _, before := range previous {
		taken[before.ID] = true // an ID is never given to another tendency
	}
	return christen(found, taken, session)
}

// christen makes the missing IDs: a hash over the session and the members, in
// the order of their IDs, cut to six digits or to as many as make it unique.
func christen(found []Vasana, taken map[string]bool, session int) error {
	type fresh struct {
		v    *Vasana
		hash string
	}
	var list []fresh
	for f := range found {
		if found[f].ID != "" {
			continue
		}
		keys := slices.SortedFunc(slices.Values(found[f].Keys), compareKeys)
		sum := sha256.New()
		var number [8]byte
		binary.BigEndian.PutUint64(number[:], uint64(session))
		sum.Write(number[:])
		for _, key := range keys {
			sum.Write(key[:])
		}
		list = append(list, fresh{&found[f], hex.EncodeToString(sum.Sum(nil))})
	}
	slices.SortFunc(list, func(a, b fresh) int { return cmp.Compare(a.hash, b.hash) })
	for _, l := range list {
		digits := 6
		for digits < len(l.hash) && taken["v-"+l.hash[:digits]] {
			digits++
		}
		l.v.ID = "v-" + l.hash[:digits]
		if taken[l.v.ID] {
			return &Error{Op: "detect tendencies", What: fmt.Sprintf("id %s is taken", l.v.ID), Hint: "hand in the session's own number", Err: ErrPoint}
		}
		taken[l.v.ID] = true
	}
	return nil
}

func compareKeys(a, b [16]byte) int { return bytes.Compare(a[:], b[:]) }
