package reactivation

import "math"

// The exponential and the logarithm of package math differ in their last digit
// from one processor to the next: some have assembly, and on others the compiler
// fuses a product and a sum inside them. A fold that must give the same bits on
// a Pi and on a server cannot use them. These are the textbook series with every
// rounding spelled out; they are good to about two units in the last place.

// ln 2 in two parts: products of the first with whole numbers below 2^20 are exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// exp is e^x for -2^20 < x ≤ 0: with x = k·ln2 + r and |r| ≤ ln2/2 it is 2^k·e^r.
func exp(x float64) float64 {
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	return math.Ldexp(1+expm1Near(r), int(k))
}

// expm1 is e^x - 1 for -2^20 < x ≤ 0, without cancellation near 0.
func expm1(x float64) float64 {
	switch {
	case x == 0:
		return x // keeps the sign of zero
	case x > -math.Ln2/2:
		return expm1Near(x)
	}
	return exp(x) - 1
}

// expm1Near is r + r²/2! + r³/3! + … for |r| ≤ ln2/2, where the term after the
// last is below 2e-17 of the first.
func expm1Near(r float64) float64 {
	var sum float64
	for _, c := range [...]float64{
		1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
		1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
	} {
		sum = float64(sum*r) + c
	}
	return r + float64(float64(r*r)*sum)
}

// log is ln x for x > 0.
func log(x float64) float64 { return logOf(x, 0) }

// log1p is ln(1+x) for x > -1, without losing x to the 1.
func log1p(x float64) float64 {
	if x > -0.25 && x < 0.4 {
		return logNear(x)
	}
	u := 1 + x
	lost := x - (u - 1) // what rounding took from x
	if x >= 1 {
		lost = 1 - (u - x)
	}
	return logOf(u, lost/u)
}

// logOf is ln u + correction: u = 2^k·m with √½ ≤ m < √2.
func logOf(u, correction float64) float64 {
	m, k := math.Frexp(u)
	if m < math.Sqrt2/2 {
		m, k = 2*m, k-1
	}
	return float64(float64(k)*ln2High) + (logNear(m-1) + (float64(float64(k)*ln2Low) + correction))
}

// logNear is ln(1+f) for √½-1 ≤ f ≤ √2-1. With s = f/(2+f) it is
// 2·(s + s³/3 + s⁵/5 + …); 2s = f - s·f puts the exact f first. The term after
// the last is below 1e-17 of the first.
func logNear(f float64) float64 {
	s := f / (2 + f)
	z := s * s
	var sum float64
	for _, c := range [...]float64{
		2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3,
	} {
		sum = float64(sum*z) + c
	}
	return f - float64(s*(f-float64(z*sum)))
}
