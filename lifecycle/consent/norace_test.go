//go:build !race

package consent_test

const thin = 1
