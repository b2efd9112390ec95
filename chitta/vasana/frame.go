package vasana

import (
	"math"
	"math/bits"
	"slices"
)

const (
	// firstFrame is the size up to which the frame is the whole store.
	firstFrame = 256
	// samplePairs is about how many pairs the percentile is taken from.
	samplePairs = 50_000
	// shortLength is the centred length below which a shortcut would lose
	// digits that the exact way keeps.
	shortLength = 0.05
)

// frameSize is how many of n rows define mean and threshold.
func frameSize(n int) int {
	if n <= firstFrame {
		return n
	}
	f := firstFrame
	for f+f/4 <= n { // f·5/4 rounded down, without overflow
		f += f / 4
	}
	return f
}

// meanOf is the mean of the first n rows, summed in row order. Rows without a
// place are left out.
func meanOf(rows Rows, n int) []float32 {
	sum := make([]float64, rows.Dim())
	count := 0
	for i := range n {
		row := rows.Row(i)
		if len(row) == 0 {
			continue
		}
		count++
		for k, x := range row {
			sum[k] += float64(x)
		}
	}
	mean := make([]float32, len(sum))
	for k := range sum {
		if count > 0 {
			mean[k] = float32(sum[k] / float64(count))
		}
	}
	return mean
}

// thresholdOf is the centred cosine from which two rows of this frame are near.
func thresholdOf(rows Rows, n int, mean, lengths []float32, p Params) float64 {
	if p.Semantic > 0 {
		return p.Semantic
	}
	sample := samplePercentile(sampleCosines(rows, n, mean, lengths), percentFor(n, p.Percentile))
	return min(max(sample, p.SemanticLow), p.SemanticHigh)
}

// nearEach is how many near rows a row has on average. The share of pairs that
// this asks for falls as the store grows: with a fixed share each row would have
// ever more neighbours, until the clusters run into one.
const nearEach = 1

// percentFor is the percentile for a frame of n rows: the one that is given, or
// by nearEach.
func percentFor(n int, percent float64) float64 {
	if percent > 0 {
		return percent
	}
	return max(100*(1-nearEach/float64(n)), 0)
}

// samplePercentile is the nearest-rank percentile; +Inf for an empty sample,
// which the clip then brings to the highest threshold.
func samplePercentile(sample []float32, percent float64) float64 {
	if len(sample) == 0 {
		return math.Inf(1)
	}
	slices.Sort(sample)
	rank := int(math.Ceil(percent / 100 * float64(len(sample))))
	return float64(sample[min(max(rank, 1), len(sample))-1])
}

// sampleCosines returns centred cosines of pairs among the first n rows: all
// of them where they are few, else about samplePairs, equally many for each
// row, with partners drawn by a generator that is seeded by n alone. Pairs with
// a row that has no direction are left out. Sampled cosines are good to 1e-4.
func sampleCosines(rows Rows, n int, mean, lengths []float32) []float32 {
	if n < 2 {
		return nil
	}
	width := rows.Dim()
	if uint64(n)*uint64(n-1)/2 <= samplePairs {
		centred, ok := centreAll(rows, n, mean)
		sample := make([]float32, 0, n*(n-1)/2)
		for i := range n {
			for j := 0; ok[i] && j < i; j++ {
				if ok[j] {
					sample = append(sample, dot(centred[i*width:(i+1)*width], centred[j*width:(j+1)*width]))
				}
			}
		}
		return sample
	}
	partners := max(samplePairs/n, 1)
	a, b := make([]float32, width), make([]float32, width)
	sample := make([]float32, 0, partners*n)
	random := generator(n)
	for i := range n {
		if centre(a, rows.Row(i), mean) == 0 {
			continue
		}
		shift := dot(a, mean)
		for range partners {
			j := random.below(n - 1)
			if j >= i {
				j++
			}
			switch length := lengths[j]; {
			case length == 0:
			case length < shortLength:
				centre(b, rows.Row(j), mean)
				sample = append(sample, dot(a, b))
			default: // a·(y − mean) = a·y − a·mean
				sample = append(sample, (dot(a, rows.Row(j))-shift)/length)
			}
		}
	}
	return sample
}

// centreAll centres the first n rows into one block and says which have a direction.
func centreAll(rows Rows, n int, mean []float32) ([]float32, []bool) {
	width := rows.Dim()
	centred, ok := make([]float32, n*width), make([]bool, n)
	for i := range n {
		ok[i] = centre(centred[i*width:(i+1)*width], rows.Row(i), mean) > 0
	}
	return centred, ok
}

// generator is a linear congruential generator (Knuth's MMIX constants): all
// that a sample of pairs needs, and the same on every machine for ever.
type lcg uint64

func generator(seed int) *lcg {
	g := lcg(seed)
	g.below(1)
	return &g
}

// below returns a number in [0,n).
func (g *lcg) below(n int) int {
	*g = *g*6364136223846793005 + 1442695040888963407
	high, _ := bits.Mul64(uint64(*g), uint64(n))
	return int(high)
}
