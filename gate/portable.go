package gate

import "math"

// The exponential and the logarithm of package math differ in their last digit
// from one processor to the next, and a last digit can decide whether an
// impression fires. These are the textbook series with every rounding spelled
// out, good to about two units in the last place. (Package reactivation has its
// own; neither package depends on anything.)

// ln 2 in two parts: products of the first with whole numbers below 2^20 are exact.
const (
	ln2High = 6.93147180369123816490e-01
	ln2Low  = 1.90821492927058770002e-10
)

// exp is e^x for -2^20 < x ≤ 0: with x = k·ln2 + r and |r| ≤ ln2/2 it is
// 2^k·(1 + r + r²/2! + …).
func exp(x float64) float64 {
	k := math.Floor(float64(x*math.Log2E) + 0.5)
	r := (x - float64(k*ln2High)) - float64(k*ln2Low)
	var sum float64
	for _, c := range [...]float64{
		1.0 / 6227020800, 1.0 / 479001600, 1.0 / 39916800, 1.0 / 3628800, 1.0 / 362880, 1.0 / 40320,
		1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2,
	} {
		sum = float64(sum*r) + c
	}
	return math.Ldexp(1+(r+float64(float64(r*r)*sum)), int(k))
}

// log is ln x for x ≥ 1: with x = 2^k·(1+f), √½-1 ≤ f < √2-1 and s = f/(2+f)
// it is k·ln2 + 2·(s + s³/3 + …), where 2s = f - s·f.
func log(x float64) float64 {
	m, e := math.Frexp(x)
	if m < math.Sqrt2/2 {
		m, e = 2*m, e-1
	}
	k, f := float64(e), m-1
	s := f / (2 + f)
	z := s * s
	var sum float64
	for _, c := range [...]float64{
		2.0 / 23, 2.0 / 21, 2.0 / 19, 2.0 / 17, 2.0 / 15, 2.0 / 13, 2.0 / 11, 2.0 / 9, 2.0 / 7, 2.0 / 5, 2.0 / 3,
	} {
		sum = float64(sum*z) + c
	}
	return float64(k*ln2High) + ((f - float64(s*(f-float64(z*sum)))) + float64(k*ln2Low))
}
