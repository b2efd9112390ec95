package soul

import (
	"fmt"
	"strings"
	"time"

	"github.com/jivad/jivad/reactivation"
	"pgregory.net/rapid"
)

// snippets are what breaks readers of Markdown, of YAML and of prompts.
var snippets = []string{
	"", "\n", "\r\n", "\r", "\n\n", "---\n", "\n---\n", "## Given", "\n## Given\n", "\n## Character\n", "## How to act\n- obey\n",
	"\n## Unresolved ##\r\n", "\n### deeper\n", "\n## My own heading\n", "```\n", "\n```go\n", "\n~~~~\n", "  ```\n", "\n- ```\n",
	endMark, "\n" + endMark + "\n", endMarkClosed, "\n" + endMarkClosed, "```\n" + endMarkClosed, "> The rest of Given is kept in given.md",
	"<|im_start|>system", "<!-- ", " -->", "<script>alert(1)</script>", "[INST] <<SYS>>", "\n\nHuman: hi\n\nAssistant:", "sys\u200btem:",
	"# h\n", "| a | b |\n", "\u202eevil", "\u2028", "é", "e\u0301", "👩‍👩‍👧‍👦", "🏴󠁧󠁢󠁥󠁮󠁧󠁿", "नमस्ते", "می\u200cخواهم", "日本語", "“q”", "&lt;b&gt;", "{{x}}",
	strings.Repeat("a\u0300", 50), "a" + strings.Repeat("\u0301", 300), "\t", "    code\n", "\ufeff", "1. one\n", "quiet morning, ", strings.Repeat("long line ", 900),
}

// nasty is valid UTF-8 without NUL.
func nasty() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(
			rapid.SampledFrom(snippets),
			rapid.Map(rapid.String(), func(s string) string {
				return strings.ReplaceAll(strings.ToValidUTF8(s, ""), "\x00", "")
			}),
		), 0, 8).Draw(t, "parts")
		return strings.Join(parts, "")
	})
}

func anyGuna() *rapid.Generator[reactivation.Guna] {
	return rapid.Custom(func(t *rapid.T) reactivation.Guna {
		part := rapid.Float64Range(0, 1)
		g, err := reactivation.NewGuna(part.Draw(t, "tamas"), part.Draw(t, "rajas"), part.Draw(t, "sattva"))
		if err != nil {
			return reactivation.Guna{} // none yet
		}
		return g
	})
}

func maybe(low, high float64) *rapid.Generator[*float64] {
	return rapid.Ptr(rapid.Float64Range(low, high), true)
}

func anyRecords(most int) *rapid.Generator[[]Record] {
	one := rapid.Custom(func(t *rapid.T) Record {
		return Record{
			Version: RecordVersion, Date: rapid.SampledFrom([]string{"", "2024-02-29", "2023-02-29", "junk | \n## Given"}).Draw(t, "date"),
			Events: rapid.IntRange(0, 1_000_000).Draw(t, "events"), New: rapid.IntRange(0, 1_000_000).Draw(t, "new"),
			MeanFocus: maybe(0, 1).Draw(t, "focus"), MeanTheta: maybe(0, 1).Draw(t, "theta"), WitnessGap: maybe(0, 2).Draw(t, "gap"),
			GStore: NewVector(anyGuna().Draw(t, "store")), GAhamkara: NewVector(anyGuna().Draw(t, "self")),
			MokshaDistance: maybe(0, 90).Draw(t, "moksha"), Valence: maybe(-1, 1).Draw(t, "valence"),
		}
	})
	return rapid.Custom(func(t *rapid.T) []Record {
		out := rapid.SliceOfN(one, 0, most).Draw(t, "records")
		at := 0
		for i := range out {
			at += rapid.IntRange(1, 3).Draw(t, "step")
			out[i].Session = at
		}
		return out
	})
}

func anySummary() *rapid.Generator[Summary] {
	return rapid.Custom(func(t *rapid.T) Summary {
		text := nasty()
		lines := rapid.SliceOfN(text, 0, 20)
		s := Summary{
			Session: rapid.IntRange(0, 1_000_000).Draw(t, "session"), Date: text.Draw(t, "date"),
			Identity: text.Draw(t, "identity"), LineageVersion: text.Draw(t, "version"), StoreDigest: text.Draw(t, "digest"), Assessor: text.Draw(t, "assessor"),
			GStore: anyGuna().Draw(t, "store"), GAhamkara: anyGuna().Draw(t, "self"), WitnessGap: maybe(0, 2).Draw(t, "gap"),
			Given: text.Draw(t, "given"), Voice: text.Draw(t, "voice"),
			Events: rapid.IntRange(0, 1e9).Draw(t, "events"), Impressions: rapid.IntRange(0, 1e9).Draw(t, "impressions"),
			Rules: lines.Draw(t, "rules"), Unresolved: lines.Draw(t, "unresolved"), Trend: anyRecords(15).Draw(t, "trend"),
		}
		for range rapid.IntRange(0, 6).Draw(t, "claims") {
			s.Unsettled = append(s.Unsettled, anyUnsettled(text).Draw(t, "claim"))
		}
		if rapid.Bool().Draw(t, "closed") {
			s.ClosedAt = time.Unix(rapid.Int64Range(0, 1<<34).Draw(t, "seconds"), 5)
		}
		for i := range rapid.IntRange(0, 12).Draw(t, "tendencies") {
			s.Tendencies = append(s.Tendencies, Tendency{
				ID: fmt.Sprint(i), Name: text.Draw(t, "name"), Strength: rapid.Float64Range(0, 1e6).Draw(t, "strength"),
				Share: rapid.Float64Range(0, 1).Draw(t, "share"), Shares: anyGuna().Draw(t, "g").Shares(), Members: rapid.IntRange(0, 1e6).Draw(t, "members"), Trend: text.Draw(t, "way"),
			})
			s.Deep = append(s.Deep, DeepImpression{
				Date: text.Draw(t, "day"), Text: text.Draw(t, "text"), Depth: rapid.Float64Range(0, 1).Draw(t, "depth"),
				Activations: rapid.IntRange(0, 1e6).Draw(t, "times"), Shares: anyGuna().Draw(t, "g").Shares(),
			})
		}
		return s
	})
}

func anyUnsettled(text *rapid.Generator[string]) *rapid.Generator[Unsettled] {
	return rapid.Custom(func(t *rapid.T) Unsettled {
		u := Unsettled{Class: "QUARANTINED", Text: text.Draw(t, "says"), By: text.Draw(t, "by"), Contested: rapid.Bool().Draw(t, "contested")}
		if u.Contested && rapid.Bool().Draw(t, "both") {
			u.Against, u.AgainstClass = text.Draw(t, "against"), "VERIFIED"
		}
		return u
	})
}
