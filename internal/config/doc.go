// Package config is the person's settings: one TOML file, read and never
// written, in which every key has a default.
//
// [Load] reads a file and the JIVAD_* variables of the environment into a
// [Config] and tells all faults at once, as an [*Error] of [Fault]s. [Generate]
// writes the file that a new companion starts with: every key, explained, with
// its default, commented out. keys.go is the one table of all keys; a key that
// is not in it does not exist.
package config
