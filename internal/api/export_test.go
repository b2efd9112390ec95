package api

import (
	"bytes"
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

// parts are the files of an export as the fake sends them: one is empty, one in
// two pieces with every byte, one begins again.
var parts = []lifecycle.ExportPart{
	{File: "README.txt", New: true},
	{File: "a.jsonl", New: true, Data: everyByte()}, {File: "a.jsonl", Data: bytes.Repeat([]byte{0xff, '\n'}, 100_000)},
	{File: "README.txt", New: true, Data: []byte("again")},
}

func everyByte() []byte {
	b := make([]byte, 256)
	for i := range b {
		b[i] = byte(i)
	}
	return b
}

var exported = lifecycle.ExportReport{Entries: 3, Impressions: 2, Texts: 3, Sessions: 1, StateDigest: "00ff", Seconds: 1}

func (f *fake) Export(ctx context.Context, progress func(lifecycle.Progress), put func(lifecycle.ExportPart) error) (lifecycle.ExportReport, error) {
	for i, p := range parts {
		if err := put(p); err != nil {
			return lifecycle.ExportReport{}, err
		}
		progress(lifecycle.Progress{Done: i + 1, Total: len(parts)})
	}
	return exported, f.work(ctx)
}

func TestAnExportComesThroughWhole(t *testing.T) {
	_, client := serve(t, &fake{})
	var got []lifecycle.ExportPart
	last := lifecycle.Progress{}
	report, err := client.Export(t.Context(), func(p lifecycle.Progress) { last = p }, func(p lifecycle.ExportPart) error {
		got = append(got, p)
		return nil
	})
	if err != nil || report != exported || last.Done != len(parts) {
		t.Errorf("%+v, %v, %+v", report, err, last)
	}
	if !reflect.DeepEqual(got, parts) {
		t.Errorf("%d parts of %d came, or others", len(got), len(parts))
	}
}

func TestAnExportThatFailsSaysWhy(t *testing.T) {
	_, client := serve(t, &fake{err: lifecycle.ErrStopping})
	none := func(lifecycle.ExportPart) error { return nil }
	if _, err := client.Export(t.Context(), nil, none); !errors.Is(err, lifecycle.ErrStopping) {
		t.Errorf("refused: %v", err)
	}
	_, client = serve(t, &fake{})
	full := errors.New("disk full")
	if _, err := client.Export(t.Context(), nil, func(lifecycle.ExportPart) error { return full }); !errors.Is(err, full) {
		t.Errorf("cannot be written: %v", err)
	}
	slow := &fake{hold: make(chan struct{}), ended: make(chan error, 1)}
	_, client = serve(t, slow)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-slow.hold; cancel() }()
	if _, err := client.Export(ctx, nil, none); !errors.Is(err, context.Canceled) {
		t.Errorf("given up: %v", err)
	}
	if err := <-slow.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the companion goes on: %v", err)
	}
}

// A daemon that goes away in the middle is told, and so is an answer that is none.
func TestAnExportThatIsCutIsNone(t *testing.T) {
	for _, body := range []string{"", `{"part":{"file":"a.md","new":true}}` + "\n", "{\"progress\":{}}\n", "nonsense\n", "{\"part\":"} {
		var report lifecycle.ExportReport
		err := follower{part: func(lifecycle.ExportPart) error { return nil }, cut: errExportCut}.follow(strings.NewReader(body), &report)
		if err == nil {
			t.Errorf("%q is taken for an export", body)
		}
	}
}
