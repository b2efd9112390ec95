package main

import (
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
	bolt "go.etcd.io/bbolt"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/internal/builtin"
	"github.com/jivad/jivad/lifecycle"
)

// foreignEmbedder is one that the program does not have.
type foreignEmbedder struct{}

func (foreignEmbedder) ID() string { return "other/1" }
func (foreignEmbedder) Dim() int   { return 64 }
func (foreignEmbedder) Embed(ctx context.Context, text string) ([]float32, error) {
	v := make([]float32, 64)
	v[0] = 1
	for _, w := range strings.Fields(text) {
		h := fnv.New32a()
		h.Write([]byte(w))
		v[h.Sum32()%64]++
	}
	var n float64
	for _, x := range v {
		n += float64(x) * float64(x)
	}
	for i := range v {
		v[i] /= float32(math.Sqrt(n))
	}
	return v, ctx.Err()
}

// stranger has the companion of a folder live through twelve days under an embedder
// that the program does not have, after many more where a number says how many; of
// the first entry no text is kept: stranger DIR [N].
func stranger(ts *testscript.TestScript, _ bool, args []string) {
	ctx, dir := context.Background(), ts.MkAbs(args[0])
	assessor, err := builtin.NewAssessor()
	ts.Check(err)
	c, err := lifecycle.Open(ctx, lifecycle.Options{Dir: dir, Embedder: foreignEmbedder{}, Assessor: assessor})
	ts.Check(err)
	var notes []lifecycle.Note
	if len(args) > 1 {
		many, err := strconv.Atoi(args[1])
		ts.Check(err)
		for i := range many {
			text := fmt.Sprintf("On day %d the road went on past farm %d, and we with it, until it was too dark to see the stones.", i, i*7)
			notes = append(notes, lifecycle.Note{Text: text, Date: fmt.Sprintf("2023-%02d-01", 1+i*12/many)})
		}
	}
	for day, text := range []string{
		"Walked along the river to the old bridge.", "The dentist, at last. It did not hurt.", "Rain all day; read by the window.",
		"A long call with mother.", "The river has risen over the path.", "Could not sleep, and counted breaths.",
		"Bread and soup with the neighbours.", "The bridge is closed.", "Toothache again.", "A letter from Anna.",
		"Swept the yard, slowly.", "The first frost.",
	} {
		notes = append(notes, lifecycle.Note{Text: text, Date: fmt.Sprintf("2024-11-%02d", day+1)})
	}
	_, err = c.Import(ctx, notes, nil)
	ts.Check(errors.Join(err, c.Close(ctx)))
	db, err := bolt.Open(filepath.Join(dir, chitta.FileName), 0o600, nil)
	ts.Check(err)
	err = db.Update(func(tx *bolt.Tx) error {
		texts := tx.Bucket([]byte("texts"))
		k, _ := texts.Cursor().First()
		return texts.Delete(k)
	})
	ts.Check(errors.Join(err, db.Close()))
}
