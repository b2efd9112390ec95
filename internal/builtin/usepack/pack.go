package main

import (
	"encoding/binary"
	"fmt"
	"math"
)

// packer writes the file and keeps the first fault.
type packer struct {
	out     []byte
	tensors map[string]tensor
	err     error
}

// pack lays out: "USEL", the pieces, the piece vectors, the position signal, two layers, the last
// projection. Numbers are little-endian; a vector is a count and float32 values; a matrix is rows,
// columns, one float32 scale per row and int8 weights, its rows the outputs.
func pack(pieces []piece, tensors map[string]tensor) ([]byte, error) {
	p := &packer{out: []byte("USEL"), tensors: tensors}
	p.u32(len(pieces))
	for _, piece := range pieces {
		p.out = append(p.out, byte(len(piece.text)))
		p.f32(piece.score)
		p.out = append(p.out, piece.text...)
	}
	p.matrix("module/Embeddings_en", false)
	p.vector("module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/Layer_0/AddTimingSignal/TimingSignal/ExpandDims_1")
	for i := range 2 {
		p.layer(i)
	}
	p.matrix("module/Encoder_en/hidden_layers/tanh_layer_0/weights", true)
	p.vector("module/Encoder_en/hidden_layers/tanh_layer_0/bias")
	return p.out, p.err
}

func (p *packer) layer(i int) {
	tail := fmt.Sprintf("Layer_%d/TransformerLayer/", i)
	kernels := "module/Encoder_en/KonaTransformer/Encode/" + tail
	joined := "module_apply_default/Encoder_en/KonaTransformer/Encode/" + tail
	stack := "module_apply_default/Encoder_en/KonaTransformer/Encode/TransformerStack/" + tail
	const concat = "/ConcatPartitions/concat"

	p.vector(joined + "layer_prepostprocess/layer_norm/layer_norm_scale" + concat)
	p.vector(joined + "layer_prepostprocess/layer_norm/layer_norm_bias" + concat)
	p.matrix(kernels+"MultiheadAttention/qkv_transform_single/kernel/part_0", true)
	p.vector(joined + "MultiheadAttention/qkv_transform_single/bias" + concat)
	p.matrix(kernels+"MultiheadAttention/output_transform_single/kernel/part_0", true)
	p.vector(joined + "MultiheadAttention/output_transform_single/bias" + concat)
	p.vector(joined + "FFN/layer_prepostprocess/layer_norm/layer_norm_scale" + concat)
	p.vector(joined + "FFN/layer_prepostprocess/layer_norm/layer_norm_bias" + concat)
	p.matrix(stack+"FFN/conv1/Tensordot/Reshape_1", true)
	p.vector(joined + "FFN/conv1/bias" + concat)
	p.matrix(stack+"FFN/conv2/Tensordot/Reshape_1", true)
	p.vector(joined + "FFN/conv2/bias" + concat)
	if i == 0 {
		p.matrix(joined+"dense/kernel"+concat, true)
		p.vector(joined + "dense/bias" + concat)
	}
}

func (p *packer) u32(v int)     { p.out = binary.LittleEndian.AppendUint32(p.out, uint32(v)) }
func (p *packer) f32(v float32) { p.out = binary.LittleEndian.AppendUint32(p.out, math.Float32bits(v)) }

func (p *packer) get(name string) tensor {
	t, ok := p.tensors[name]
	if !ok && p.err == nil {
		p.err = fmt.Errorf("the model has no weight %q", name)
	}
	return t
}

func (p *packer) vector(name string) {
	t := p.get(name)
	p.u32(len(t.values))
	for _, v := range t.values {
		p.f32(v)
	}
}

// matrix writes a weight quantised to int8, one scale per row. TensorFlow keeps inputs as rows, so
// all but the piece vectors are transposed. Leading dimensions of 1 are dropped.
func (p *packer) matrix(name string, transpose bool) {
	t := p.get(name)
	shape := t.shape
	for len(shape) > 2 && shape[0] == 1 {
		shape = shape[1:]
	}
	if len(shape) != 2 {
		if p.err == nil {
			p.err = fmt.Errorf("weight %q has shape %v, want a matrix", name, t.shape)
		}
		return
	}
	rows, cols := shape[0], shape[1]
	at := func(r, c int) float32 { return t.values[r*cols+c] }
	if transpose {
		rows, cols = cols, rows
		at = func(r, c int) float32 { return t.values[c*rows+r] }
	}
	p.u32(rows)
	p.u32(cols)
	scales := make([]float32, rows)
	for r := range rows {
		var top float32
		for c := range cols {
			top = max(top, float32(math.Abs(float64(at(r, c)))))
		}
		scales[r] = top/127 + 1e-12 // a row of zeros must not divide by zero
		p.f32(scales[r])
	}
	for r := range rows {
		for c := range cols {
			p.out = append(p.out, byte(int8(math.RoundToEven(float64(at(r, c)/scales[r])))))
		}
	}
}
