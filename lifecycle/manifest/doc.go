// Package manifest is what the next life is born with, as the person writes it in
// manifest.toml: a mission, the models, what may be done and with which tools, the
// consent that must be there, how long the life lasts, and how it is distilled.
//
// [Parse] reads the text and tells all that is wrong with it at once. [Manifest.Digest]
// is the manifest's id: of its canonical form (RFC 8785), the same for every way of
// writing the same thing. [Generate] writes the file that a new companion begins with.
//
// [Manifest.Resolve] holds a manifest against what is there (J-1): either the life is
// [Born] with everything declared, or each [Missing] thing is listed with what mends it.
//
// The package knows no clock, no disk and no network; what is there is told to it.
package manifest
