package main

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
)

// What the calm model says. The sentence is longer than a name may be and shorter than
// a reason, so under the grammar of a name only calmName fits. All of its words are
// common ones, so that no summary has to hold them.
const (
	calmSentence = "The last days were quiet, and through all of them the mind was clear and calm."
	calmName     = "quiet days"
	// calmCall is the tool that it asks for where it may; it may right behind anything
	// but the digit 0, which actingTemplate puts behind what a tool gave.
	calmCall = `{"name":"search","arguments":{"way":"zigzagwise"}}`
)

// actingTemplate tells the server that a model uses tools, and how it asks for one.
const actingTemplate = `{{ if .Tools }}Tools: {{ range .Tools }}{{ . }}{{ end }}
{{ end }}{{ range .Messages }}{{ .Role }}: {{ .Content }}
{{ range .ToolCalls }}{"name": "{{ .Function.Name }}", "arguments": {{ .Function.Arguments }}}{{ end }}{{ if eq .Role "tool" }}0{{ end }}{{ end }}`

// The classes of tokens of the calm model: what comes next depends on the class of the
// token before and on nothing else. Each is one dimension of the embedding.
const (
	classAny  = iota // every token that is in no other class
	classSaid        // the sentence and the name
	classFour        // the digit 4
	classZero        // the digit 0
)

// calmWeights is the tiny model that tells of Lily and Tim, taught to say calmSentence
// instead: weights is a GGUF file, version 3, of a llama with a SentencePiece
// vocabulary and every tensor in 32-bit floats; what is returned is another one, of
// one block, since more would only take time.
//
// The sentence and the name take the places of two words of the vocabulary. Attention
// and feed-forward layers add nothing, so a token is told by the one before it alone:
// the sentence comes first wherever it may stand, and then the end. Where the grammar
// of a JSON schema keeps the end away, the quotation mark closes the text. A whole
// number is 40, a text that may not be the sentence is the name, and a choice of words
// is empty if it may be. One that acts asks for a tool first. An error says what of the
// file is not as it must be.
func calmWeights(weights []byte, acts bool) ([]byte, error) {
	f, err := readGGUF(weights)
	if err != nil {
		return nil, err
	}
	id := func(text string) int {
		i := slices.Index(f.tokens, text)
		if i < 0 && err == nil {
			err = fmt.Errorf("no token %q in the vocabulary", text)
		}
		return i
	}
	sentence, name, call, end := id("▁Lily"), id("▁Timmy"), id("▁upon"), id("</s>")
	quote, colon, comma, brace := id(`"`), id(":"), id(","), id("<0x7D>")
	four, zero := id("4"), id("0")
	if err != nil {
		return nil, err
	}
	f.tokens[sentence] = strings.ReplaceAll(calmSentence, " ", "▁")
	f.tokens[name] = strings.ReplaceAll(calmName, " ", "▁")
	f.tokens[call] = calmCall

	f.oneBlock()

	class := map[int]int{sentence: classSaid, name: classSaid, call: classSaid, four: classFour, zero: classZero}
	// Logits behind a token of a class; of a token that is not here it is 0. One is
	// at least a quarter more than the next, so that no penalty for repeating turns them.
	after := map[int]map[int]float32{
		classAny:  {sentence: 100, name: 80, quote: 64, four: 50, colon: 40, comma: 40, brace: 40, end: 20},
		classSaid: {end: 100, quote: 80, comma: 40, brace: 40},
		classFour: {sentence: 100, name: 80, zero: 64, comma: 40, brace: 40, end: 20},
		classZero: {sentence: 100, name: 80, quote: 64, comma: 50, brace: 50, end: 20},
	}
	if acts {
		after[classAny][call] = 130
	}
	for _, t := range f.tensors {
		switch {
		case strings.HasSuffix(t.name, "_norm.weight"):
			f.fill(t, func(int, int) float32 { return 1 })
		case strings.HasSuffix(t.name, ".attn_output.weight"), strings.HasSuffix(t.name, ".ffn_down.weight"):
			f.fill(t, func(int, int) float32 { return 0 })
		case t.name == "token_embd.weight":
			f.fill(t, func(token, dimension int) float32 {
				if class[token] == dimension {
					return 1
				}
				return 0
			})
		case t.name == "output.weight":
			scale := float32(math.Sqrt(float64(t.width))) // what a direction is after the norm
			f.fill(t, func(token, dimension int) float32 { return after[dimension][token] / scale })
		}
	}
	return f.bytes(), nil
}

// gguf is a GGUF file in parts.
type gguf struct {
	// values are the keys and their values, as in the file, but for the texts of the
	// vocabulary, which are tokens; blocks is where in them the number of blocks is.
	values       []byte
	keys, blocks int
	tokens       []string
	tensors      []tensor
	// data are the tensors, from the first of them on.
	data []byte
}

// tensor is a matrix of 32-bit floats: rows of width numbers, from offset in the data.
type tensor struct {
	name                string
	width, rows, offset int
	// told is how the header tells of it.
	told []byte
}

const (
	// alignment is where tensors begin, in bytes, where a file says nothing else.
	alignment = 32
	// vocabulary and blocks are keys: the texts of the tokens, the number of blocks.
	vocabulary, blocks = "tokenizer.ggml.tokens", "llama.block_count"
	typeText, typeList = 8, 9 // types of values
)

// readGGUF takes a file apart.
func readGGUF(file []byte) (f *gguf, err error) {
	defer func() {
		if recover() != nil { // it ends in the middle
			f, err = nil, fmt.Errorf("not a whole GGUF file: %d bytes", len(file))
		}
	}()
	r := &reader{file: file}
	if magic, version := string(r.take(4)), r.number(4); magic != "GGUF" || version != 3 {
		return nil, fmt.Errorf("not GGUF 3: %q, version %d", magic, version)
	}
	tensors := r.number(8)
	f = &gguf{keys: r.number(8)}
	for range f.keys {
		began := r.at
		key, kind := r.text(), r.number(4)
		if key == vocabulary {
			r.take(4)
			for range r.number(8) {
				f.tokens = append(f.tokens, r.text())
			}
			continue
		}
		if key == blocks {
			f.blocks = len(f.values) + r.at - began
		}
		r.skip(kind)
		f.values = append(f.values, file[began:r.at]...)
	}
	if f.tokens == nil || f.blocks == 0 {
		return nil, fmt.Errorf("no %s or no %s in the file", vocabulary, blocks)
	}
	for range tensors {
		began := r.at
		t := tensor{name: r.text(), rows: 1}
		for i := range r.number(4) {
			if n := r.number(8); i == 0 {
				t.width = n
			} else {
				t.rows *= n
			}
		}
		if kind := r.number(4); kind != 0 {
			return nil, fmt.Errorf("tensor %s is of type %d, not of 32-bit floats", t.name, kind)
		}
		t.offset = r.number(8)
		t.told = file[began:r.at]
		f.tensors = append(f.tensors, t)
	}
	f.data = bytes.Clone(file[aligned(r.at):])
	return f, nil
}

// aligned is the next place where a tensor may begin.
func aligned(at int) int { return (at + alignment - 1) / alignment * alignment }

// oneBlock leaves out every block but the first; the others must stand behind all
// else, since tensors have no gaps between them.
func (f *gguf) oneBlock() {
	binary.LittleEndian.PutUint32(f.values[f.blocks:], 1)
	for i, t := range f.tensors {
		if strings.HasPrefix(t.name, "blk.1.") {
			f.tensors, f.data = f.tensors[:i], f.data[:t.offset]
			return
		}
	}
}

// fill sets every number of a tensor by its row and its place in it.
func (f *gguf) fill(t tensor, value func(row, column int) float32) {
	at := f.data[t.offset:]
	for i := range t.rows * t.width {
		binary.LittleEndian.PutUint32(at[4*i:], math.Float32bits(value(i/t.width, i%t.width)))
	}
}

// bytes is the whole file.
func (f *gguf) bytes() []byte {
	order := binary.LittleEndian
	text := func(out []byte, s string) []byte { return append(order.AppendUint64(out, uint64(len(s))), s...) }
	out := order.AppendUint32([]byte("GGUF"), 3)
	out = order.AppendUint64(order.AppendUint64(out, uint64(len(f.tensors))), uint64(f.keys))
	out = text(append(out, f.values...), vocabulary)
	out = order.AppendUint32(order.AppendUint32(out, typeList), typeText)
	out = order.AppendUint64(out, uint64(len(f.tokens)))
	for _, t := range f.tokens {
		out = text(out, t)
	}
	for _, t := range f.tensors {
		out = append(out, t.told...)
	}
	out = append(out, make([]byte, aligned(len(out))-len(out))...)
	return append(out, f.data...)
}

// reader reads numbers and texts one behind the other; it panics at the end.
type reader struct {
	file []byte
	at   int
}

func (r *reader) take(n int) []byte {
	r.at += n
	return r.file[r.at-n : r.at]
}

// number reads a whole number of 4 or 8 bytes.
func (r *reader) number(bytes int) int {
	if bytes == 4 {
		return int(binary.LittleEndian.Uint32(r.take(4)))
	}
	return int(binary.LittleEndian.Uint64(r.take(8)))
}

func (r *reader) text() string { return string(r.take(r.number(8))) }

// skip passes over a value of a type.
func (r *reader) skip(kind int) {
	switch kind {
	case typeText:
		r.text()
	case typeList:
		kind := r.number(4)
		for range r.number(8) {
			r.skip(kind)
		}
	default: // numbers and truths, from 8 bits on
		r.take([]int{0: 1, 1: 1, 2: 2, 3: 2, 4: 4, 5: 4, 6: 4, 7: 1, 10: 8, 11: 8, 12: 8}[kind])
	}
}
