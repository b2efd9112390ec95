package main

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"

	"github.com/jivad/jivad/internal/builtin"
)

// rated is a sentence of EmoBank: readers' and writers' mean ratings, 1 to 5.
type rated struct {
	text string
	vad  [3]float64
}

func readEmoBank(folder string) ([]rated, error) {
	name := filepath.Join(folder, "emobank_traindev.csv")
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var out []rated
	for _, row := range rows[1:] {
		r := rated{text: row[5]}
		for k := range 3 {
			if r.vad[k], err = strconv.ParseFloat(row[2+k], 64); err != nil {
				return nil, fmt.Errorf("%s: %w", name, err)
			}
		}
		if strings.Trim(r.text, " .\"'") != "" {
			out = append(out, r)
		}
	}
	return out, nil
}

// labelled is a subtitle line of XED with the emotions that it was given.
type labelled struct {
	text     string
	emotions [builtin.Emotions]bool
}

var xedLine = regexp.MustCompile(`^([^\t]*\pL[^\t]*)\t([1-8](?:, [1-8])*)\r?$`)

// readXED leaves out the lines that are no sentence with its emotions: the
// projected files hold some broken quotations with alignment tables in them.
func readXED(folder, language string) (lines []labelled, left int, err error) {
	raw, err := os.ReadFile(filepath.Join(folder, "xed_"+language+".tsv"))
	if err != nil {
		return nil, 0, err
	}
	for line := range strings.SplitSeq(strings.TrimRight(string(raw), "\n"), "\n") {
		m := xedLine.FindStringSubmatch(line)
		if m == nil {
			left++
			continue
		}
		l := labelled{text: m[1]}
		for mark := range strings.SplitSeq(m[2], ", ") {
			l.emotions[mark[0]-'1'] = true
		}
		lines = append(lines, l)
	}
	return lines, left, nil
}

// readDiary gives the texts of one diary in file order.
func readDiary(name string) ([]string, error) {
	raw, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	var out []string
	for line := range strings.SplitSeq(strings.TrimSpace(string(raw)), "\n") {
		var entry struct {
			Text string `json:"text"`
		}
		if err := json.Unmarshal([]byte(line), &entry); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out = append(out, entry.Text)
	}
	return out, nil
}
