package lifecycle

import (
	"context"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/gate"
)

// Embedder turns text into a unit vector of a fixed dimension.
type Embedder interface {
	// ID names model and version; it is recorded with every event.
	ID() string
	// Dim is the length of every vector.
	Dim() int
	// Embed returns a fresh unit vector. Text without anything to embed is an error.
	Embed(ctx context.Context, text string) ([]float32, error)
}

// Scaled is an Embedder whose similarities were measured: it declares the
// parameters of the gate that suit their spread. For another embedder they are
// those of the specification.
type Scaled interface {
	Scale() gate.Scale
}

func scaleOf(e Embedder) gate.Scale {
	if s, ok := e.(Scaled); ok {
		return s.Scale()
	}
	p := gate.Default()
	return gate.Scale{Temperature: p.Temperature, KBase: p.KBase, MinSimilarity: p.MinSimilarity, NoiseFloor: p.NoiseFloor}
}

// Assessor judges an experience once.
type Assessor interface {
	ID() string
	Assess(ctx context.Context, e Experience) (fold.Judgement, error)
}

// Experience is what an assessor sees.
type Experience struct {
	Text      string
	Embedding []float32
	// Date is the entry's own local date, YYYY-MM-DD or empty.
	Date string
	// Soul is SOUL.md as it stands, Session what was said before in the same
	// session, the last at the end: for a model that reads them. Both may be empty.
	Soul    string
	Session []string
}

// Note is one thing to remember, before it was judged.
type Note struct {
	Text string `json:"text"`
	// Date is the entry's own local date, YYYY-MM-DD; empty means unknown on
	// import and today when written live.
	Date     string `json:"date,omitempty"`
	Label    string `json:"label,omitempty"`
	Category string `json:"category,omitempty"`
	// Source is a relative path or a word such as "write", "api", "chat" or "chat:door".
	Source string `json:"source,omitempty"`
}

// Receipt tells what became of a note. It is given only when the note is durable.
type Receipt struct {
	// Event is the id, a UUIDv7 in its usual written form.
	Event string `json:"event"`
	// Session is the number of its session, from 1; 0 for a duplicate or an edit.
	Session int `json:"session"`
	// Duplicate is true when the same text of the same day was already there.
	Duplicate bool `json:"duplicate"`
	// Created is true when the note became an impression of its own.
	Created bool `json:"created"`
	// Reactivate, Soft and Suppressed count the impressions that it woke, brushed
	// and held down.
	Reactivate int `json:"reactivated"`
	Soft       int `json:"soft"`
	Suppressed int `json:"suppressed"`
	// Weight (the force W), Focus, Theta (the effective threshold, a cosine),
	// Novelty and Match are in [0,1].
	Weight   float64 `json:"weight"`
	Focus    float64 `json:"focus"`
	Theta    float64 `json:"theta"`
	Novelty  float64 `json:"novelty"`
	Match    float64 `json:"match"`
	Shares   Shares  `json:"shares"`
	Assessor string  `json:"assessor"`
	// Unjudged is true where the model is still to judge it, and Assessor did so in its
	// place.
	Unjudged bool `json:"unjudged,omitempty"`
	// Withheld is the kind of data for which leave is lacking, so that no text of the note
	// is kept: its impression only. Allow is what to say so that one is.
	Withheld string `json:"no_text_without_consent_for,omitempty"`
	Allow    string `json:"to_allow,omitempty"`
}

// Shares are the squares of a character vector, each in [0,1]: they sum to 1.
type Shares struct {
	Tamas  float64 `json:"tamas"`
	Rajas  float64 `json:"rajas"`
	Sattva float64 `json:"sattva"`
}

// Progress is how far a long work has come.
type Progress struct {
	Done    int           `json:"done"`
	Total   int           `json:"total"`
	Stage   string        `json:"stage,omitempty"`
	Elapsed time.Duration `json:"elapsed_ns"`
	// PerMinute is the rate of the work, where it is told.
	PerMinute float64 `json:"per_minute,omitempty"`
}

// ImportReport tells what an import did.
type ImportReport struct {
	// Entries were given; of those that have text, New became events, Edited
	// replaced what was imported from the same file before, and Duplicates were
	// remembered already.
	Entries    int `json:"entries"`
	New        int `json:"new"`
	Edited     int `json:"edited"`
	Duplicates int `json:"duplicates"`
	// Forgotten entries were taken out before, and are not taken in again.
	Forgotten int `json:"forgotten,omitempty"`
	// Withheld counts, by kind of data, entries of which no text is kept for want of leave.
	Withheld map[string]int `json:"no_text_without_consent_for,omitempty"`
	// Sessions counts the days of the new entries.
	Sessions int      `json:"sessions"`
	Warnings []string `json:"warnings,omitempty"`
	Seconds  float64  `json:"seconds"`
	// PerMinute is the rate of the new ones.
	PerMinute float64 `json:"entries_per_minute,omitempty"`
}

// SessionReport is one session as people ask for it.
type SessionReport struct {
	Number      int       `json:"session"`
	Date        string    `json:"date,omitempty"`
	Opened      time.Time `json:"opened,omitzero"`
	Closed      time.Time `json:"closed,omitzero"`
	Open        bool      `json:"open"`
	Events      int       `json:"events"`
	New         int       `json:"new"`
	Reactivated int       `json:"reactivated"`
	Soft        int       `json:"soft"`
	Suppressed  int       `json:"suppressed"`
	WitnessGap  *float64  `json:"witness_gap"`
	Reason      string    `json:"reason,omitempty"`
	// Lives are the numbers of the lives that were lived in it, the oldest first. Where a
	// life ended alone, that had no session, Number is 0.
	Lives []int64 `json:"lives,omitempty"`
}

// Status is what the daemon says of itself.
type Status struct {
	Version  string  `json:"version"`
	PID      int     `json:"pid"`
	DataDir  string  `json:"data_dir"`
	Socket   string  `json:"socket,omitempty"`
	Diary    string  `json:"diary,omitempty"`
	Uptime   float64 `json:"uptime_seconds"`
	Embedder string  `json:"embedder"`
	Assessor string  `json:"assessor"`
	Dim      int     `json:"dim"`
	// Events counts the records of the log, Entries the experiences among them.
	// LastRecord is the number of the last record: greater once some were taken out.
	Events      uint64 `json:"events"`
	LastRecord  uint64 `json:"last_record"`
	Entries     int    `json:"entries"`
	Impressions int    `json:"impressions"`
	// Buried are the entries whose texts were deleted because they faded.
	Buried int `json:"buried"`
	// Retention is what the person set of how much of a text is kept.
	Retention   Retention      `json:"retention,omitempty"`
	Tendencies  int            `json:"tendencies"`
	Queue       int            `json:"queue"`
	Session     *SessionReport `json:"session,omitempty"`
	LastSession *SessionReport `json:"last_session,omitempty"`
	StoreBytes  int64          `json:"store_bytes"`
	StateDigest string         `json:"state_digest"`
	Index       string         `json:"index"`
	Backups     BackupStatus   `json:"backups"`
	Problems    []string       `json:"problems,omitempty"`
	// Withheld counts, by kind of data, entries that came since the start and of which no
	// text is kept for want of leave.
	Withheld map[string]int `json:"no_text_without_consent_for,omitempty"`
	// Unplaced impressions have no vector since the embedder changed.
	Unplaced int `json:"unplaced,omitempty"`
	// Model is the language model behind the built-in ones, nil where there is none.
	Model *ModelStatus `json:"model,omitempty"`
	// EmbedderState is how an embedder of a server is, nil for the built-in one; Waiting
	// counts the entries of the diary that wait for it.
	EmbedderState *ModelState `json:"embedder_state,omitempty"`
	Waiting       int         `json:"waiting_for_embedder,omitempty"`
	// Door is where clients of Ollama find the companion, nil where nothing listens.
	Door *DoorStatus `json:"door,omitempty"`
	// Life is the one that is lived now, nil where none is; Lineage what lives have left.
	Life    *Life           `json:"life,omitempty"`
	Lineage *LineageSummary `json:"lineage,omitempty"`
}

// DoorStatus is a door that is open: its address, and how many impressions it weaves
// into a conversation.
type DoorStatus struct {
	Address string `json:"address"`
	Recall  int    `json:"recall"`
}

// ModelStatus is how the model is, and what it did since the start.
type ModelStatus struct {
	ModelState
	// Fallbacks counts entries that the built-in assessor judged in its place, Owed
	// those that it is still to judge, Reassessed those that it has judged since,
	// GivenUp those that it had no answer for.
	Fallbacks  int64 `json:"fallbacks"`
	Owed       int64 `json:"owed"`
	Reassessed int64 `json:"reassessed"`
	GivenUp    int64 `json:"given_up"`
	// Reflections counts talks that the built-in reflection answered in its place,
	// Unnamed answers of no use where it was to name a tendency, Unnarrated sessions
	// whose built-in words stay because it had none of use.
	Reflections int64 `json:"reflections"`
	Unnamed     int64 `json:"unnamed"`
	Unnarrated  int64 `json:"unnarrated"`
}

// RecallQuery asks for entries by meaning and by words.
type RecallQuery struct {
	Text string `json:"text"`
	// Limit is the number of answers, 1 to 100; 0 means 10.
	Limit int `json:"limit,omitempty"`
	// From and To bound the entry's own date, YYYY[-MM[-DD]], inclusive.
	From string `json:"from,omitempty"`
	To   string `json:"to,omitempty"`
	// Reminded asks for what the companion itself is reminded of: influence ×
	// cosine, with variety, instead of words and meaning.
	Reminded bool `json:"reminded,omitempty"`
}

// Impression is one samskara as people ask for it.
type Impression struct {
	ID     string `json:"id"`
	Date   string `json:"date,omitempty"`
	Source string `json:"source,omitempty"`
	// Text is what consent lets the store keep; empty once it is buried.
	Text string `json:"text,omitempty"`
	// Kept says how much of what was written Text is.
	Kept Keep `json:"kept"`
	// Summary is what a model said of it, Reason why it judged it so; Answer is what
	// was answered to it in a conversation, By who did.
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"reason,omitempty"`
	Answer  string `json:"answer,omitempty"`
	By      string `json:"by,omitempty"`
	// BuryAt is the session at whose end it will be buried if nothing lifts it
	// before, 0 where that is not in sight.
	BuryAt  int    `json:"bury_at,omitempty"`
	Excerpt string `json:"excerpt,omitempty"`
	// Session made it, LastSession woke it last, Age sessions ago.
	Session     int `json:"session"`
	LastSession int `json:"last_session"`
	Age         int `json:"age_sessions"`
	// Depth is how deep it is now, Peak how deep it ever was, both in [0,1).
	Depth       float64 `json:"depth"`
	Peak        float64 `json:"peak"`
	Activations int     `json:"activations"`
	// Shares are the character as it is now.
	Shares Shares `json:"shares"`
	// Valence, in [-1,1], and Intensity and Emotion, in [0,1], are what the
	// assessor said.
	Valence   float64 `json:"valence"`
	Intensity float64 `json:"intensity"`
	Emotion   float64 `json:"emotion"`
	Assessor  string  `json:"assessor,omitempty"`
	Category  string  `json:"category,omitempty"`
	Tendency  string  `json:"tendency,omitempty"`
	// Unplaced is true where the embedder changed and there was no text to embed:
	// the impression is like nothing, and only fades.
	Unplaced bool `json:"unplaced,omitempty"`
	// Linked are the impressions that the event acted on when it made none of its own.
	Linked []string `json:"linked,omitempty"`
}

// Recalled is one answer to a query.
type Recalled struct {
	Rank int `json:"rank"`
	// Score orders the answers; Similarity is the cosine, Lexical the share of
	// the query's words that the entry holds, in [0,1]; Phrase says that the
	// entry holds the query letter for letter.
	Score      float64 `json:"score"`
	Similarity float64 `json:"similarity"`
	Lexical    float64 `json:"lexical"`
	Phrase     bool    `json:"phrase"`
	// Close says that it is more than the nearest of what is there: it holds the
	// query or its rarer words, or resembles it as much as two entries of the
	// store usually resemble each other.
	Close      bool       `json:"close"`
	Impression Impression `json:"impression"`
}

// Tendency is one vasana as people ask for it.
type Tendency struct {
	ID string `json:"id"`
	// Name is from its entries' words, or, where NamedBy says which, from a model.
	Name    string `json:"name"`
	NamedBy string `json:"named_by,omitempty"`
	// Members are the ids of its impressions.
	Members []string `json:"members"`
	Shares  Shares   `json:"shares"`
	// Coherence is the least resonance of two members, in [0,1]; Hardness their
	// mean, at least 1; Influence the sum of their depths.
	Coherence    float64 `json:"coherence"`
	Hardness     float64 `json:"hardness"`
	Influence    float64 `json:"influence"`
	FirstSession int     `json:"first_session"`
	LastSession  int     `json:"last_session"`
	// Trend is "rising", "steady", "fading" or "new".
	Trend string `json:"trend"`
}

// SoulDocument is SOUL.md at one session.
type SoulDocument struct {
	Session int    `json:"session"`
	Path    string `json:"path"`
	// Text and Digest are empty in a list.
	Text   string `json:"text,omitempty"`
	Digest string `json:"digest,omitempty"`
}

// Check is one line of verify or doctor.
type Check struct {
	Name   string `json:"name"`
	OK     bool   `json:"ok"`
	Detail string `json:"detail"`
	// Hint says what to do when it is not OK.
	Hint string `json:"hint,omitempty"`
}

// VerifyReport is what verify found.
type VerifyReport struct {
	OK          bool    `json:"ok"`
	Checks      []Check `json:"checks"`
	StateDigest string  `json:"state_digest"`
	Events      uint64  `json:"events"`
	// From is the sequence that the fold started from; 0 is genesis.
	From    uint64  `json:"from"`
	Seconds float64 `json:"seconds"`
}
