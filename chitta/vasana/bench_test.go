package vasana

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/jivad/jivad/reactivation"
)

const benchDim = 512

func BenchmarkRebuild(b *testing.B) {
	for _, n := range []int{1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := life(n, benchDim, 20, 1)
			for b.Loop() {
				if err := NewGraph(DefaultParams()).Update(context.Background(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// One more row at the end of a store, as at the end of a session.
func BenchmarkOneMore(b *testing.B) {
	for _, n := range []int{200, 1_000, 10_000} {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			m := life(n+1, benchDim, 20, 1)
			g := updated(b, DefaultParams(), m)
			for b.Loop() {
				b.StopTimer()
				g.Truncate(n)
				b.StartTimer()
				if err := g.Update(context.Background(), m); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDetect(b *testing.B) {
	m := life(10_000, benchDim, 20, 1)
	g := updated(b, DefaultParams(), m)
	points := lived(b, m.Len(), 1)
	for name, alike := range map[string]bool{"mixed": false, "alike": true} {
		b.Run("10000/"+name, func(b *testing.B) {
			if alike {
				for i := range points {
					points[i].Guna = reactivation.Sattva()
				}
			}
			var previous []Vasana
			for b.Loop() {
				found, err := Detect(g, points, previous, 1)
				if err != nil {
					b.Fatal(err)
				}
				previous = found
			}
			b.ReportMetric(float64(len(previous)), "tendencies")
		})
	}
}

func BenchmarkStore(b *testing.B) {
	g := updated(b, DefaultParams(), life(5_000, 32, 20, 1))
	data, err := g.MarshalBinary()
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if err := NewGraph(DefaultParams()).UnmarshalBinary(data); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(len(data))/float64(g.Len()), "bytes/row")
}

func BenchmarkExtractTerms(b *testing.B) {
	text := strings.Repeat("The ponies pulled the sledges over the _barrier_, and Wilson's party camped at 3.30 on Monday. ", 20)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		ExtractTerms(text, 40)
	}
}
