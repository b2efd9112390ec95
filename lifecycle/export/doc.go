// Package export is the whole memory of a companion as a folder of open formats:
// texts as Markdown, experiences, sessions and parameters as JSON. An [Encoder]
// writes the files through a function, so that they may go over a socket, a
// [Writer] makes a folder of them, all at once, and [Open] reads one, from which
// a store is rebuilt that has the same state, bit for bit.
//
// Numbers are the shortest decimals that read back to the same bits, vectors are
// base64 of little-endian float32 values. Every line of a .jsonl file ends with
// a checksum of the line, and manifest.json has one of every file.
package export
