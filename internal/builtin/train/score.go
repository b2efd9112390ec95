package main

import (
	"math"
	"slices"
)

// pearson is the correlation of two series.
func pearson(a, b []float64) float64 {
	ma, mb := mean(a), mean(b)
	var ab, aa, bb float64
	for i := range a {
		ab += (a[i] - ma) * (b[i] - mb)
		aa += (a[i] - ma) * (a[i] - ma)
		bb += (b[i] - mb) * (b[i] - mb)
	}
	if aa == 0 || bb == 0 {
		return 0
	}
	return ab / math.Sqrt(aa*bb)
}

func mean(a []float64) float64 {
	var sum float64
	for _, v := range a {
		sum += v
	}
	return sum / float64(max(1, len(a)))
}

// deviation is the population standard deviation.
func deviation(a []float64) float64 {
	m := mean(a)
	var sum float64
	for _, v := range a {
		sum += (v - m) * (v - m)
	}
	return math.Sqrt(sum / float64(max(1, len(a))))
}

// absoluteError is the mean distance between two series.
func absoluteError(a, b []float64) float64 {
	var sum float64
	for i := range a {
		sum += math.Abs(a[i] - b[i])
	}
	return sum / float64(max(1, len(a)))
}

// f1 is the harmonic mean of precision and recall of score > threshold.
func f1(score []float64, truth []bool, threshold float64) float64 {
	var hit, miss, alarm float64
	for i, s := range score {
		switch {
		case s > threshold && truth[i]:
			hit++
		case s > threshold:
			alarm++
		case truth[i]:
			miss++
		}
	}
	if hit == 0 {
		return 0
	}
	return 2 * hit / (2*hit + miss + alarm)
}

// bestThreshold is the score at which F1 is greatest.
func bestThreshold(score []float64, truth []bool) float64 {
	order := make([]int, len(score))
	total := 0.0
	for i := range order {
		order[i] = i
		if truth[i] {
			total++
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] > score[b]:
			return -1
		case score[a] < score[b]:
			return 1
		}
		return a - b
	})
	best, at, hit := -1.0, 0.0, 0.0
	for n, i := range order {
		if truth[i] {
			hit++
		}
		if v := 2 * hit / (float64(n+1) + total); v > best && (n+1 == len(order) || score[order[n+1]] < score[i]) {
			best = v
			at = score[i]
			if n+1 < len(order) {
				at = (score[i] + score[order[n+1]]) / 2
			}
		}
	}
	return at
}

// areaUnderCurve is the chance that a true one scores above a false one.
func areaUnderCurve(score []float64, truth []bool) float64 {
	order := make([]int, len(score))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case score[a] < score[b]:
			return -1
		case score[a] > score[b]:
			return 1
		}
		return a - b
	})
	var ranks, trues float64
	for n, i := range order {
		if truth[i] {
			ranks += float64(n + 1)
			trues++
		}
	}
	falses := float64(len(score)) - trues
	if trues == 0 || falses == 0 {
		return 0.5
	}
	return (ranks - trues*(trues+1)/2) / (trues * falses)
}

// quantile of a sorted series, by linear interpolation.
func quantile(sorted []float64, p float64) float64 {
	at := p * float64(len(sorted)-1)
	i := int(at)
	if i+1 >= len(sorted) {
		return sorted[len(sorted)-1]
	}
	return sorted[i] + (at-float64(i))*(sorted[i+1]-sorted[i])
}
