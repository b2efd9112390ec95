package tools

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a text can be refused for as JSON. None of them holds anything of the text.
var (
	errNotJSON   = errors.New("it is not one value of JSON in UTF-8")
	errTooLarge  = errors.New("it is too large")
	errTooDeep   = errors.New("it is nested too deeply")
	errDuplicate = errors.New("a name stands twice in one object")
	errNumber    = errors.New("a number in it cannot be kept exactly enough")
	errZero      = errors.New("a text in it holds the character zero")
)

// bounds of a text of JSON: its bytes, how deep values lie in one another (a number
// alone has depth 1), how many values there are.
type bounds struct{ bytes, depth, values int }

var (
	argumentBounds = bounds{bytes: 64 << 10, depth: 12, values: 4096}
	schemaBounds   = bounds{bytes: 64 << 10, depth: 32, values: 4096}
)

// strictJSON reads one value: what two readers could understand differently is refused.
// Numbers become float64 (finite; whole ones at most 2^53-1 in size where they are
// written as such), the rest is as encoding/json has it.
func strictJSON(data []byte, most bounds) (any, error) {
	if len(data) > most.bytes {
		return nil, fmt.Errorf("%w: at most %d bytes", errTooLarge, most.bytes)
	}
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, errNotJSON
	}
	in := json.NewDecoder(bytes.NewReader(data))
	in.UseNumber()
	left := most.values
	return nextValue(in, most.depth, &left)
}

func nextValue(in *json.Decoder, depth int, left *int) (any, error) {
	if depth == 0 {
		return nil, errTooDeep
	}
	if *left--; *left < 0 {
		return nil, fmt.Errorf("%w: too many values", errTooLarge)
	}
	token, err := in.Token()
	if err != nil {
		return nil, errNotJSON
	}
	switch token := token.(type) {
	case json.Delim:
		if token == '[' {
			return nextArray(in, depth, left)
		}
		return nextObject(in, depth, left)
	case json.Number:
		return exactNumber(token.String())
	case string:
		return plainText(token)
	}
	return token, nil // true, false, null
}

func nextArray(in *json.Decoder, depth int, left *int) (any, error) {
	list := []any{}
	for in.More() {
		v, err := nextValue(in, depth-1, left)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	_, err := in.Token()
	return list, err
}

func nextObject(in *json.Decoder, depth int, left *int) (any, error) {
	object := map[string]any{}
	for in.More() {
		token, err := in.Token()
		if err != nil {
			return nil, errNotJSON
		}
		name, err := plainText(token.(string))
		if err != nil {
			return nil, err
		}
		if _, twice := object[name]; twice {
			return nil, errDuplicate
		}
		if object[name], err = nextValue(in, depth-1, left); err != nil {
			return nil, err
		}
	}
	_, err := in.Token()
	return object, err
}

func plainText(s string) (string, error) {
	if strings.ContainsRune(s, 0) {
		return "", errZero
	}
	return s, nil
}

const (
	maxInteger   = 1<<53 - 1 // the greatest whole number that JSON keeps exactly everywhere
	numberLength = 40
)

// exactNumber reads a number of JSON. A great exponent is refused before anything
// computes with it.
func exactNumber(text string) (float64, error) {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || len(text) > numberLength || math.IsInf(f, 0) || math.IsNaN(f) {
		return 0, errNumber
	}
	if whole := !strings.ContainsAny(text, ".eE"); whole && math.Abs(f) > maxInteger {
		return 0, errNumber
	}
	if digits, _, _ := strings.Cut(strings.ToLower(text), "e"); f == 0 && strings.ContainsAny(digits, "123456789") {
		return 0, errNumber // it vanished
	}
	if f == 0 {
		return 0, nil // -0 is 0
	}
	return f, nil
}

// scalarText is how a text, a number or a truth value stands in a template; false for
// anything else.
func scalarText(v any) (string, bool) {
	switch v := v.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case float64:
		if v == math.Trunc(v) && math.Abs(v) <= maxInteger {
			return strconv.FormatInt(int64(v), 10), true
		}
		return strconv.FormatFloat(v, 'g', -1, 64), true
	}
	return "", false
}
