//go:build !race

package main

// underRace is true in a build with the race detector.
const underRace = false
