// Package reactivation is the mathematics of one impression (samskara): how
// deep it is, how hard an event strikes it, and how its character (guna) turns.
//
// Everything here is a pure function of float64 values: no clock, no input or
// output, no state between calls. The way through is short:
//
//	Force.Weight      how hard an event strikes (W)
//	Params.Depth      how deep an impression is now (D), from R and its age
//	Params.Collide    a strike above the threshold: snap-back, or suppression, and drift
//	Params.Soften     a strike in the noise band: a little more R, nothing else
//	Params.Drift      how the character turns on its own
//
// Ages are counted in sessions since the last activation, depths and weights
// lie in [0,1), [0,1], and a Guna is a unit vector of the positive octant.
//
// A value that is not a finite number, or lies outside its range, is refused
// with an error that names the field and the value; nothing that is not a
// number ever comes out. Test with errors.Is against ErrNotFinite, ErrRange,
// ErrGuna and ErrParams, or use errors.As with *ValueError.
//
// The results have the same bits on every processor: a product that may be added
// to something is written float64(a*b), so that nothing fuses the two roundings
// into one, and exponentials and logarithms are the package's own. (Guna.Angle
// alone is not of this kind: it is a measure, not part of the dynamics.)
package reactivation
