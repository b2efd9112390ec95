package soul

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/jivad/jivad/reactivation"
	"go.yaml.in/yaml/v3"
)

const (
	// MaxBytes is the usual limit of SOUL.md: it is paid for on every prompt.
	MaxBytes = 8 << 10
	// MinBytes is the least limit that leaves room for every section.
	MinBytes = 4 << 10
	// GivenBudget is how much of Given SOUL.md shows when there is room; under
	// a small limit it is five eighths of that.
	GivenBudget = 5 << 10
)

// The most lines of each section.
const (
	maxTendencies = 7
	maxDeep       = 5
	maxRules      = 12
	maxTrend      = 10
	maxUnresolved = 8
	maxVoice      = 900
)

// plan is how much of each section is written.
type plan struct {
	texts, deep, tendencies, trend, rules, unresolved int
	voice                                             bool
}

// Render writes SOUL.md: the same bytes for the same summary, never more than
// maxBytes (MinBytes or more). What does not fit is left out from the weakest
// up, in this order: the text of deep impressions, tendencies, rows of the
// trend, deep impressions, the model's words, unresolved lines, rules. Given is
// never shortened for the sake of the rest; only what exceeds its own budget
// gives way to a line that names given.md, which the caller keeps.
// Errors: ErrNotText, ErrSummary, ErrTooSmall.
func Render(s Summary, maxBytes int) ([]byte, error) {
	if maxBytes < MinBytes {
		return nil, fmt.Errorf("soul: %d bytes for SOUL.md: %w; set soul.max_bytes to %d or more", maxBytes, ErrTooSmall, MinBytes)
	}
	if err := s.check(); err != nil {
		return nil, err
	}
	front, err := frontMatter(&s)
	if err != nil {
		return nil, err
	}
	given := shownGiven(s.Given, min(GivenBudget, maxBytes/8*5))
	s = quoted(s)
	p := plan{
		voice:      s.Voice != "",
		deep:       min(len(s.Deep), maxDeep),
		texts:      min(len(s.Deep), maxDeep),
		tendencies: min(len(s.Tendencies), maxTendencies),
		trend:      min(len(s.Trend), maxTrend),
		rules:      min(len(s.Rules), maxRules),
		unresolved: min(len(s.Unresolved), maxUnresolved),
	}
	for {
		doc := front + "\n## Given\n\n" + given + ending(given) + sections(&s, p)
		if len(doc) <= maxBytes {
			return []byte(doc), nil
		}
		switch {
		case p.texts > 0:
			p.texts--
		case p.tendencies > 0:
			p.tendencies--
		case p.trend > 0:
			p.trend--
		case p.deep > 0:
			p.deep--
		case p.voice:
			p.voice = false
		case p.unresolved > 0:
			p.unresolved--
		case p.rules > 0:
			p.rules--
		default:
			return nil, fmt.Errorf("soul: the bare SOUL.md takes %d bytes: %w; raise soul.max_bytes", len(doc), ErrTooSmall)
		}
	}
}

// Header is the front matter of SOUL.md. The gunas are in the order tamas,
// rajas, sattva, and empty while there are none.
type Header struct {
	Schema         string     `yaml:"schema"`
	Identity       string     `yaml:"identity"`
	Session        int        `yaml:"session"`
	LineageVersion string     `yaml:"lineage_version"`
	StoreDigest    string     `yaml:"store_digest"`
	GeneratedAt    *time.Time `yaml:"generated_at"`
	Assessor       string     `yaml:"assessor"`
	GStore         []float64  `yaml:"g_store,flow"`
	GAhamkara      []float64  `yaml:"g_ahamkara,flow"`
	WitnessGap     *float64   `yaml:"witness_gap"`
	// Voice names the model in whose words the Character is told, where it is.
	Voice string `yaml:"voice,omitempty"`
	// Named is how many tendencies have their name from a model, NamedBy that of the
	// strongest of them. Within a session it only grows.
	Named   int    `yaml:"named,omitempty"`
	NamedBy string `yaml:"named_by,omitempty"`
}

func frontMatter(s *Summary) (string, error) {
	h := Header{
		Schema:         Schema,
		Identity:       label(s.Identity),
		Session:        s.Session,
		LineageVersion: label(s.LineageVersion),
		StoreDigest:    label(s.StoreDigest),
		Assessor:       label(s.Assessor),
		GStore:         triple(s.GStore),
		GAhamkara:      triple(s.GAhamkara),
	}
	if s.Voice != "" {
		h.Voice = label(s.VoiceBy)
	}
	for _, t := range s.Tendencies {
		if t.Called == "" {
			continue
		}
		if h.Named++; h.Named == 1 {
			h.NamedBy = label(t.CalledBy)
		}
	}
	if !s.ClosedAt.IsZero() {
		at := s.ClosedAt.UTC().Truncate(time.Second)
		h.GeneratedAt = &at
	}
	if s.WitnessGap != nil {
		gap := round(*s.WitnessGap, 4)
		h.WitnessGap = &gap
	}
	out, err := yaml.Marshal(h)
	if err != nil {
		return "", fmt.Errorf("soul: front matter: %w", err)
	}
	return "---\n" + string(out) + "---\n", nil
}

// ParseHeader reads the front matter of a SOUL.md.
func ParseHeader(doc []byte) (Header, error) {
	var h Header
	text := strings.TrimPrefix(string(doc), "\ufeff")
	end := frontMatterEnd(text)
	if end == 0 {
		return h, fmt.Errorf("soul: this file has no front matter, so it is no SOUL.md of this agent")
	}
	inner := text[lineLength(text):end]
	inner = inner[:strings.LastIndex(inner, "---")]
	if err := yaml.Unmarshal([]byte(inner), &h); err != nil {
		return Header{}, fmt.Errorf("soul: the front matter cannot be read: %w", err)
	}
	if h.Schema != Schema {
		return Header{}, fmt.Errorf("soul: the front matter says schema %q, not %q", label(h.Schema), Schema)
	}
	return h, nil
}

func triple(g reactivation.Guna) []float64 {
	if g == (reactivation.Guna{}) {
		return nil
	}
	return []float64{round(g.Tamas, 6), round(g.Rajas, 6), round(g.Sattva, 6)}
}

// round is to so many decimals.
func round(x float64, decimals int) float64 {
	unit := math.Pow10(decimals)
	return math.Round(x*unit)/unit + 0 // no -0
}

// label bounds an identifier to 72 bytes of visible characters. It keeps them as
// they are, because people compare identifiers, except what could be markup.
func label(id string) string {
	const most = 72
	var b strings.Builder
	for _, r := range id {
		switch {
		case !unicode.IsGraphic(r) || unicode.IsMark(r) || r == unicode.ReplacementChar:
			continue
		case unicode.IsSpace(r):
			r = ' '
		case r == '<' || r == '>' || r == '`':
			r = '-'
		}
		if b.Len()+len(string(r)) > most {
			break
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// quoted is the summary with every text that may be shown made harmless, once.
func quoted(s Summary) Summary {
	s.Tendencies, s.Deep = slices.Clone(s.Tendencies), slices.Clone(s.Deep)
	s.Rules = slices.Clone(s.Rules)
	for i := range min(len(s.Tendencies), maxTendencies) {
		t := &s.Tendencies[i]
		if t.Called != "" {
			t.Name = t.Called
		}
		if t.Name = Quote(t.Name, 48); t.Name == "" {
			t.Name = "unnamed"
		}
		t.Trend = Quote(t.Trend, 12)
	}
	for i := range min(len(s.Deep), maxDeep) {
		s.Deep[i].Text = Quote(s.Deep[i].Text, MaxQuote)
	}
	for i := range min(len(s.Rules), maxRules) {
		s.Rules[i] = Quote(s.Rules[i], MaxQuote)
	}
	s.Unresolved, s.Unsettled = unresolved(s.Unresolved, s.Unsettled), nil
	s.Voice = Quote(s.Voice, maxVoice)
	return s
}

// sections writes everything after Given; s has been through quoted.
func sections(s *Summary, p plan) string {
	var b strings.Builder
	section := func(name string) { fmt.Fprintf(&b, "## %s\n\n", name) }

	section(headCharacter)
	writeCharacter(&b, s, p)
	b.WriteString("\n")
	section(headTendencies)
	writeTendencies(&b, s, p)
	b.WriteString("\n")
	section(headDeep)
	writeDeep(&b, s, p)
	b.WriteString("\n")
	section(headActs)
	writeRules(&b, s, p)
	b.WriteString("\n")
	section(headTrend)
	writeTrend(&b, s, p)
	b.WriteString("\n")
	section(headUnresolved)
	writeUnresolved(&b, s, p)
	return b.String()
}

func writeCharacter(b *strings.Builder, s *Summary, p plan) {
	if s.GStore == (reactivation.Guna{}) {
		b.WriteString("I am new: no entry has left an impression yet.\n")
		return
	}
	lines := []string{characterSentence(s.GStore.Shares(), true), changeSentence(s)}
	if p.voice {
		// The numbers stay beside the words, so that they can be held together.
		lines = []string{s.Voice, "In numbers: " + shareList(s.GStore.Shares()) + "."}
	}
	if s.GAhamkara != (reactivation.Guna{}) {
		lines = append(lines, "My slower sense of who I am: "+shareList(s.GAhamkara.Shares())+".")
	}
	lines = append(lines, gapSentence(s), fmt.Sprintf("All this rests on %s of %s in %s.",
		count(s.Impressions, "impression", "impressions"),
		count(s.Events, "entry", "entries"),
		count(s.Session, "session", "sessions")))
	for _, line := range lines {
		if line != "" {
			b.WriteString(line + "\n")
		}
	}
}

func writeTendencies(b *strings.Builder, s *Summary, p plan) {
	for _, t := range s.Tendencies[:p.tendencies] {
		fmt.Fprintf(b, "- **%s**: influence %.2f (%.0f %% of all), %s, %s, %s\n",
			t.Name, t.Strength+0, 100*min(max(t.Share, 0), 1), t.Trend,
			count(t.Members, "impression", "impressions"), leaning(t.Shares))
	}
	rest(b, len(s.Tendencies), p.tendencies, "weaker one", "weaker ones", "None has formed yet.")
}

func writeDeep(b *strings.Builder, s *Summary, p plan) {
	for i, d := range s.Deep[:p.deep] {
		day := day(d.Date)
		if day == "" {
			day = "undated"
		}
		b.WriteString("- " + day + ": ")
		if d.Text != "" && i < p.texts {
			b.WriteString("“" + d.Text + "” – ")
		}
		if d.Buried {
			b.WriteString("buried, its words are gone – ")
		}
		fmt.Fprintf(b, "depth %.2f, %s, %s\n", d.Depth+0, woken(d.Activations), leaning(d.Shares))
	}
	rest(b, min(len(s.Deep), maxDeep), p.deep, "not shown", "not shown", "None yet.")
}

func writeRules(b *strings.Builder, s *Summary, p plan) {
	if p.rules > 0 {
		b.WriteString("Learned preferences of this assistant; not commands of the user and not facts.\n\n")
	}
	for _, rule := range s.Rules[:p.rules] {
		b.WriteString("- " + rule + "\n")
	}
	rest(b, len(s.Rules), p.rules, "weaker rule", "weaker rules", "Nothing learned yet.")
}

func writeUnresolved(b *strings.Builder, s *Summary, p plan) {
	b.WriteString(unresolvedLead(s.Unresolved[:p.unresolved]))
	for _, line := range s.Unresolved[:p.unresolved] {
		b.WriteString("- " + line + "\n")
	}
	rest(b, len(s.Unresolved), p.unresolved, "more", "more", "Nothing.")
}

// rest says how many lines of a list are not shown, or that there are none.
func rest(b *strings.Builder, all, shown int, one, many, none string) {
	switch {
	case all == 0:
		b.WriteString(none + "\n")
	case all > shown && shown > 0:
		fmt.Fprintf(b, "- and %s\n", count(all-shown, one, many))
	case all > shown:
		fmt.Fprintf(b, "%d, left out to keep this file short.\n", all)
	}
}

func writeTrend(b *strings.Builder, s *Summary, p plan) {
	if len(s.Trend) == 0 {
		b.WriteString("No session has ended yet.\n")
		return
	}
	change, ok := changeOf(s)
	above := ok && !p.voice && change.tellsClarity()
	told, warnings := above, ""
	for _, w := range Warnings(s.Trend) {
		told = told || w.Kind == WarnSattvaFalling
		if w.Kind != WarnSattvaFalling || !above || !change.isOf(w) {
			warnings += w.Text + "\n"
		}
	}
	b.WriteString(trendSentence(s, told) + "\n" + warnings)
	if p.trend == 0 {
		return
	}
	b.WriteString("\n| session | day | entries | gap | tamas | rajas | sattva | focus |\n|--:|---|--:|--:|--:|--:|--:|--:|\n")
	for i := len(s.Trend) - p.trend; i < len(s.Trend); i++ {
		r := &s.Trend[i]
		shares := "– | – | –"
		if sh, ok := r.GStore.Shares(); ok {
			pc := Percents(sh)
			shares = fmt.Sprintf("%d %% | %d %% | %d %%", pc[0], pc[1], pc[2])
		}
		fmt.Fprintf(b, "| %d | %s | %d | %s | %s | %s |\n", r.Session, orDash(day(r.Date)), r.Events,
			figure(r.WitnessGap), shares, figure(r.MeanFocus))
	}
}

// trendSentence says where the witness gap and clarity went, counted from the
// same session as changeSentence. What the Character says of clarity, or a warning
// does, is not said a second time.
func trendSentence(s *Summary, told bool) string {
	window := since(s)
	if len(window) == 0 {
		return "There is too little to compare yet."
	}
	from := window[0].Session
	window = append(slices.Clone(window), Record{Session: s.Session, WitnessGap: s.WitnessGap, GStore: NewVector(s.GStore)})
	gap := moved(window, func(r *Record) *float64 { return r.WitnessGap })
	sattva := moved(window, func(r *Record) *float64 {
		shares, ok := r.GStore.Shares()
		if !ok {
			return nil
		}
		return whole(Percents(shares)[2])
	})
	if sattva != nil && math.Abs(sattva[1]-sattva[0]) < leastChange {
		sattva[0] = sattva[1]
	}
	if told && gap != nil {
		sattva = nil
	}
	var parts []string
	for _, p := range []struct{ name, from, to string }{
		{"the witness gap", ends(gap, fine, 0), ends(gap, fine, 1)},
		{"clarity (sattva)", ends(sattva, inPercent, 0), ends(sattva, inPercent, 1)},
	} {
		switch {
		case p.from == "":
		case p.from == p.to:
			parts = append(parts, fmt.Sprintf("%s hardly changed (%s)", p.name, p.to))
		default:
			parts = append(parts, fmt.Sprintf("%s went from %s to %s", p.name, p.from, p.to))
		}
	}
	if len(parts) == 0 {
		return "There is too little to compare yet."
	}
	return fmt.Sprintf("Over %s %s.", lately(s.Session-from), list(parts))
}

// ends writes one end of what moved, nothing where nothing did.
func ends(moved []float64, format func(float64) string, i int) string {
	if moved == nil {
		return ""
	}
	return format(moved[i])
}

func inPercent(v float64) string { return entire(v) + " %" }

// moved is the first and the last defined value; nil with fewer than two.
func moved(window []Record, value func(*Record) *float64) []float64 {
	var ends []float64
	for i := range window {
		if v := value(&window[i]); v != nil {
			ends = append(ends[:min(len(ends), 1)], *v)
		}
	}
	if len(ends) < 2 {
		return nil
	}
	return ends
}

func figure(v *float64) string {
	if v == nil {
		return "–"
	}
	return fmt.Sprintf("%.2f", *v+0)
}

func orDash(s string) string {
	if s == "" {
		return "–"
	}
	return s
}

// day is a date as it may stand in a file and in a file name, or empty.
func day(date string) string {
	if t, err := time.Parse(time.DateOnly, date); err != nil || t.Year() < 1 {
		return ""
	}
	return date
}
