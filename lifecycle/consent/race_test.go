//go:build race

package consent_test

// thin is how many times fewer cases are tried under the race detector.
const thin = 50
