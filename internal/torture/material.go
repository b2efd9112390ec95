package main

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/jivad/jivad/internal/sample"
	"github.com/jivad/jivad/lifecycle"
)

// material is what rounds import, write and forget.
type material struct {
	// from names where the texts come from.
	from string
	// file is a diary as JSON lines, without one without the entries to forget.
	file, without string
	// history are its entries; doomed are the places of those that are forgotten:
	// one that shares its day and one that is alone on it.
	history []lifecycle.Note
	doomed  []int
	// live are texts to be written one by one.
	live []string
	// more are days for a watched folder.
	more []lifecycle.Note
	// edited is a new wording of the history's last entry.
	edited string
}

const (
	historyEntries = 14
	liveEntries    = 8
	moreEntries    = 5
	longestEntry   = 150
	entriesNeeded  = historyEntries + liveEntries + moreEntries + 1
)

// days of the history, counted from its first: some have two entries.
var days = [historyEntries]int{0, 1, 1, 3, 4, 6, 6, 7, 9, 10, 13, 13, 14, 15}

// gather picks texts and writes the files: of real diaries where they are beside
// the checkout, else of the sample.
func gather(folder string, seed uint64) (material, error) {
	var m material
	texts, from, err := diaryTexts(seed)
	if err != nil {
		return m, err
	}
	m.from = from
	if len(texts) < entriesNeeded {
		return m, fmt.Errorf("%s has %d entries that can be used, %d are needed", from, len(texts), entriesNeeded)
	}
	first := time.Date(2024, 2, 20, 0, 0, 0, 0, time.UTC)
	for i, day := range days {
		m.history = append(m.history, lifecycle.Note{Date: first.AddDate(0, 0, day).Format(time.DateOnly), Text: texts[i]})
	}
	m.doomed = []int{5, 8}
	texts = texts[historyEntries:]
	m.live, texts = texts[:liveEntries], texts[liveEntries:]
	for i := range moreEntries {
		m.more = append(m.more, lifecycle.Note{Date: first.AddDate(0, 1, i/2).Format(time.DateOnly), Text: texts[i]})
	}
	m.edited = texts[moreEntries]
	m.file, m.without = filepath.Join(folder, "diary.jsonl"), filepath.Join(folder, "without.jsonl")
	if err := writeNotes(m.file, m.history); err != nil {
		return m, err
	}
	var left []lifecycle.Note
	for i, n := range m.history {
		if !slices.Contains(m.doomed, i) {
			left = append(left, n)
		}
	}
	return m, writeNotes(m.without, left)
}

func writeNotes(path string, notes []lifecycle.Note) error {
	var b strings.Builder
	e := json.NewEncoder(&b)
	for _, n := range notes {
		if err := e.Encode(n); err != nil {
			return err
		}
	}
	return os.WriteFile(path, []byte(b.String()), 0o644) //nolint:gosec // texts of the repository or beside it
}

// diaryTexts are distinct short texts, in an order that the seed gives.
func diaryTexts(seed uint64) (texts []string, from string, err error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	folder := os.Getenv("JIVAD_SHARED")
	if folder == "" {
		folder = filepath.Join("..", "shared")
		if _, err := os.Stat(folder); err != nil {
			folder = filepath.Join("..", "..", folder) // a test runs in its package
		}
	}
	files, err := filepath.Glob(filepath.Join(folder, "data", "diaries", "*.jsonl"))
	if err != nil {
		return nil, "", err
	}
	if len(files) == 0 {
		texts, err := sampleTexts()
		rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
		return texts, "the sample diary", err
	}
	rng.Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, "", err
		}
		texts = nil
		for line := range strings.Lines(string(data)) {
			var n lifecycle.Note
			if json.Unmarshal([]byte(line), &n) == nil {
				texts = add(texts, n.Text)
			}
		}
		if len(texts) >= entriesNeeded {
			rng.Shuffle(len(texts), func(i, j int) { texts[i], texts[j] = texts[j], texts[i] })
			return texts, filepath.Base(file), nil
		}
	}
	return nil, "", fmt.Errorf("no diary in %s has %d entries that can be used", folder, entriesNeeded)
}

func sampleTexts() ([]string, error) {
	var texts []string
	err := fs.WalkDir(sample.Files(), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(sample.Files(), name)
		if err != nil {
			return err
		}
		body := string(data)
		if head, rest, ok := strings.Cut(body, "\n---\n"); ok && strings.HasPrefix(head, "---\n") {
			body = rest
		}
		for paragraph := range strings.SplitSeq(body, "\n\n") {
			texts = add(texts, paragraph)
		}
		return nil
	})
	return texts, err
}

// add takes the beginning of a text, where it is long enough to be told from
// others, and none of them begins alike.
func add(texts []string, text string) []string {
	const shortest, alike = 40, 12
	text = strings.Join(strings.Fields(text), " ")
	letters := []rune(text)
	if len(letters) < shortest || strings.ContainsAny(text, "#*`|") {
		return texts
	}
	text = strings.TrimSpace(string(letters[:min(len(letters), longestEntry)]))
	for _, other := range texts {
		if strings.HasPrefix(text, string([]rune(other)[:alike])) {
			return texts
		}
	}
	return append(texts, text)
}
