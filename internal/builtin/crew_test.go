package builtin

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

// Whoever helps, and however many, the bits of a vector are the same.
func TestHelpersChangeNoBit(t *testing.T) {
	m := newModel(t)
	for _, n := range []int{1, 2, 3, 7, 24, 61, useTokens} {
		for _, simd := range []bool{m.simd, false} {
			m := *m
			m.simd = simd
			s := newUSEScratch()
			m.vocab.tokenize(normalize(hundredWords+" "+hundredWords), &s.lattice, &s.toks)
			ids := s.toks.ids[:n]
			want := make([]float32, useDim)
			m.encode(ids, s, want)
			for _, most := range []int32{1, 2, 3, 5} {
				got := make([]float32, useDim)
				s.crew = &crew{most: most}
				s.crew.begin()
				m.encode(ids, s, got)
				s.crew.leave()
				if !slices.Equal(got, want) {
					t.Errorf("%d tokens, SIMD %v, %d processors: another vector", n, simd, most)
				}
				if busy := s.crew.busy.Load(); busy != 0 {
					t.Errorf("%d are still busy", busy)
				}
				if helpers := int32(len(s.spare)); n >= 24 && helpers < most-1 {
					t.Errorf("%d tokens, %d processors: %d helpers", n, most, helpers)
				}
			}
		}
	}
}

// Every part is done once, where as many as there are texts want help.
func TestEveryPartIsDoneOnce(t *testing.T) {
	c := &crew{most: 4}
	var texts sync.WaitGroup
	for range 3 {
		texts.Go(func() {
			s := newUSEScratch()
			s.crew = c
			c.begin()
			defer c.leave()
			for range 50 {
				var done [64]int // of its own part only, so nobody else writes it
				s.share(len(done), worthHelp, func(part int, unpacked []float32) {
					done[part]++
					unpacked[0], unpacked[stepWeights-1] = float32(part), float32(part)
					if unpacked[0] != float32(part) || unpacked[stepWeights-1] != float32(part) {
						t.Error("somebody else writes the same memory")
					}
				})
				for part, n := range done {
					if n != 1 {
						t.Fatalf("part %d was done %d times", part, n)
					}
				}
			}
		})
	}
	texts.Wait()
	if busy := c.busy.Load(); busy != 0 {
		t.Errorf("%d are still busy", busy)
	}
}

// Many texts at once give the vectors that each gives alone.
func TestTextsAtOnce(t *testing.T) {
	e, err := NewEmbedder(Options{})
	if err != nil {
		t.Fatal(err)
	}
	texts := strings.Split(hundredWords, ". ")
	want := make([][]float32, len(texts))
	for i, text := range texts {
		if want[i], err = e.Embed(context.Background(), text); err != nil {
			t.Fatal(err)
		}
	}
	var wait sync.WaitGroup
	for i, text := range texts {
		wait.Go(func() {
			got, err := e.Embed(context.Background(), text)
			if err != nil || !slices.Equal(got, want[i]) {
				t.Errorf("%q: another vector, %v", text, err)
			}
		})
	}
	wait.Wait()
	if _, err := e.Embed(context.Background(), " "); err == nil || e.crew.busy.Load() != 0 {
		t.Errorf("%v, %d busy", err, e.crew.busy.Load())
	}
}

// What was said in a conversation is a few dozen tokens.
func BenchmarkEmbedSaid(b *testing.B) {
	for _, processors := range []int32{1, 2} {
		b.Run(fmt.Sprintf("processors=%d", processors), func(b *testing.B) {
			e, err := NewEmbedder(Options{})
			if err != nil {
				b.Fatal(err)
			}
			e.crew.most = processors
			b.ReportAllocs()
			for b.Loop() {
				if _, err := e.Embed(b.Context(), "What did I say of the river, of the long walk home and of entry number 37?"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
