package main

import (
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
)

// tensor is one weight of the TensorFlow.js model, row-major.
type tensor struct {
	shape  []int
	values []float32
}

// readTensors reads every float32 weight of model.json; weights of other types are skipped over.
func readTensors(dist string) (map[string]tensor, error) {
	data, err := os.ReadFile(filepath.Join(dist, "model.json"))
	if err != nil {
		return nil, err
	}
	var model struct {
		WeightsManifest []struct {
			Paths   []string
			Weights []struct {
				Name  string
				Shape []int
				Dtype string
			}
		}
	}
	if err := json.Unmarshal(data, &model); err != nil {
		return nil, fmt.Errorf("model.json: %w", err)
	}
	tensors := map[string]tensor{}
	for _, group := range model.WeightsManifest {
		var b []byte
		for _, path := range group.Paths {
			shard, err := os.ReadFile(filepath.Join(dist, filepath.Base(path)))
			if err != nil {
				return nil, err
			}
			b = append(b, shard...)
		}
		for _, w := range group.Weights {
			n := 1
			for _, d := range w.Shape {
				n *= d
			}
			if w.Dtype != "float32" && w.Dtype != "int32" {
				return nil, fmt.Errorf("%s: values are %s, want float32 or int32", w.Name, w.Dtype)
			}
			if n < 0 || 4*n > len(b) {
				return nil, fmt.Errorf("%s: the shards end before its %d values", w.Name, n)
			}
			if w.Dtype == "float32" {
				values := make([]float32, n)
				for i := range values {
					values[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
				}
				tensors[w.Name] = tensor{w.Shape, values}
			}
			b = b[4*n:]
		}
	}
	return tensors, nil
}

type piece struct {
	text  string
	score float32 // natural logarithm of its probability
}

// readPieces reads vocab.json, a list of [text, score]; control pieces have no score.
func readPieces(dist string) ([]piece, error) {
	data, err := os.ReadFile(filepath.Join(dist, "vocab.json"))
	if err != nil {
		return nil, err
	}
	var rows [][2]any
	if err := json.Unmarshal(data, &rows); err != nil {
		return nil, fmt.Errorf("vocab.json: %w", err)
	}
	pieces := make([]piece, len(rows))
	for i, row := range rows {
		text, ok := row[0].(string)
		if !ok || len(text) > math.MaxUint8 {
			return nil, fmt.Errorf("vocab.json: entry %d is not a text of at most 255 bytes", i)
		}
		score, _ := row[1].(float64)
		pieces[i] = piece{text, float32(score)}
	}
	return pieces, nil
}
