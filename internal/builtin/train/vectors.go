package main

import (
	"bufio"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"github.com/jivad/jivad/internal/builtin"
)

// vectorCache remembers the sentence encoder's half of the vector of every
// text that was read before, because reading all the labelled text takes
// minutes and changing the heads takes seconds. The file is a plain run of
// records and may be deleted at any time.
type vectorCache struct {
	file string
	seen map[[16]byte][]float32
}

func cacheKey(text string) (k [16]byte) {
	sum := sha256.Sum256([]byte(text))
	copy(k[:], sum[:])
	return k
}

func openCache(file string) (*vectorCache, error) {
	c := &vectorCache{file: file, seen: map[[16]byte][]float32{}}
	if file == "" {
		return c, nil
	}
	f, err := os.Open(file)
	if errors.Is(err, os.ErrNotExist) {
		return c, nil
	}
	if err != nil {
		return nil, err
	}
	defer f.Close()
	r := bufio.NewReaderSize(f, 1<<20)
	for {
		var key [16]byte
		if _, err := io.ReadFull(r, key[:]); err == io.EOF {
			return c, nil
		}
		v := make([]float32, builtin.Dim)
		if err := binary.Read(r, binary.LittleEndian, v); err != nil {
			return nil, fmt.Errorf("%s is cut short; delete it and start again: %w", file, err)
		}
		c.seen[key] = v
	}
}

// fill embeds the texts that the cache does not hold yet, on all cores, and
// appends them to the file. What it computes does not depend on the order.
func (c *vectorCache) fill(ctx context.Context, e *builtin.Embedder, texts []string) error {
	var missing []string
	queued := map[[16]byte]bool{}
	for _, t := range texts {
		k := cacheKey(t)
		if c.seen[k] == nil && !queued[k] {
			queued[k] = true
			missing = append(missing, t)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	made := make([][]float32, len(missing))
	fails := make([]error, len(missing))
	next := make(chan int)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for i := range next {
				p, err := e.Parts(ctx, missing[i])
				made[i], fails[i] = p.USE, err
			}
		})
	}
	for i := range missing {
		next <- i
		if i%2000 == 1999 {
			fmt.Fprintf(os.Stderr, "embedded %d of %d\n", i+1, len(missing))
		}
	}
	close(next)
	wg.Wait()
	for i, t := range missing {
		if fails[i] != nil && !errors.Is(fails[i], builtin.ErrNothingToEmbed) {
			return fails[i]
		}
		if made[i] == nil { // the encoder was not asked
			made[i] = make([]float32, builtin.Dim)
		}
		c.seen[cacheKey(t)] = made[i]
	}
	if c.file == "" {
		return nil
	}
	f, err := os.OpenFile(c.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	w := bufio.NewWriterSize(f, 1<<20)
	for i, t := range missing {
		k := cacheKey(t)
		w.Write(k[:])
		binary.Write(w, binary.LittleEndian, made[i])
	}
	return errors.Join(w.Flush(), f.Close())
}
