//go:build !race

package ollama

// underRace is true in a build with the race detector.
const underRace = false
