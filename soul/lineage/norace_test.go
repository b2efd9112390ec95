//go:build !race

package lineage_test

const thin = 1
