package fold

import (
	"github.com/jivad/jivad/reactivation"
)

// ID names one event for ever: a UUIDv7 in its 16 raw bytes. The impression
// that an event created carries the event's ID.
type ID [16]byte

// Key is what makes two entries the same entry: the first 16 bytes of the
// SHA-256 over the entry's own date and its normalised text.
type Key [16]byte

// Kind tells the events of the log apart. The numbers are part of the file
// format and are never reused.
type Kind uint8

// The events of the log (spec: event log and fold).
const (
	KindSessionOpened   Kind = 1
	KindExperienced     Kind = 2
	KindSessionClosed   Kind = 3
	KindParamsChanged   Kind = 4
	KindEmbedderChanged Kind = 5
	KindReassessed      Kind = 6
	KindExcised         Kind = 7
	KindSuperseded      Kind = 8
	KindModelChanged    Kind = 9
)

// Judgement is what an assessor said of one experience, once.
type Judgement struct {
	// Assessor names who judged, e.g. "builtin/1"; 1 to 128 bytes.
	Assessor string
	// Intensity is the raw force of the experience, in [0,1].
	Intensity float64
	// Emotion is the emotional charge whatever its sign, in [0,1].
	Emotion float64
	// Novelty and Match are the assessor's own opinion, in [0,1], or nil where
	// it has none; then the embedded part stands alone.
	Novelty, Match *float64
	// Guna is the character of the experience: unit length, positive octant.
	Guna reactivation.Guna
	// Valence is unpleasant to pleasant, in [-1,1]. It is recorded for the
	// trend and takes no part in the dynamics.
	Valence float64
}

// Header is what every event carries beside its own content. Wall and
// ClockTrusted are information only: the fold never reads them.
type Header struct {
	// Sequence is the position in the log, from 1, rising; what was excised
	// leaves a gap.
	Sequence uint64
	// Wall is the time of recording, Unix milliseconds.
	Wall int64
	// ClockTrusted says whether the clock was synchronised and not behind the
	// last record.
	ClockTrusted bool
}

// SessionOpened begins session Number, or continues it when it is the session
// that was closed last and nothing has happened since.
type SessionOpened struct {
	// Number counts sessions from 1.
	Number uint32
	// Date is the local day that the session stands for, YYYY-MM-DD, or empty.
	Date string
}

// SessionClosed ends the open session.
type SessionClosed struct {
	Number uint32
	// Reason says what ended it: "end", "idle", "roll", "stop", "import", "recovery".
	Reason string
}

// Experienced is one experience: what was felt, where it came from and what
// the assessor said. The text itself lives beside the log, not in it.
type Experienced struct {
	ID  ID
	Key Key
	// Date is the entry's own local date, YYYY-MM-DD, or empty when unknown.
	Date string
	// Source tells where the text came from: a path relative to the diary
	// folder, "write", "api" or "import:NAME"; at most 512 bytes.
	Source string
	// Category is the consent category of the text, e.g. "behavioural".
	Category string
	// Embedder names the model that made Embedding.
	Embedder string
	// Embedding is a unit vector of the store's dimension.
	Embedding []float32
	Judgement Judgement
	// AlwaysCreate makes the event an impression whatever its novelty.
	AlwaysCreate bool
}

// Superseded replaces the content of an earlier experience that the person
// edited: from then on the fold sees the new content at the old place.
type Superseded struct {
	// Target is the sequence of the experience that is replaced.
	Target    uint64
	Key       Key
	Embedding []float32
	Embedder  string
	Judgement Judgement
}

// Reassessed replaces the judgement of an earlier experience.
type Reassessed struct {
	Target    uint64
	Judgement Judgement
}

// ParamsChanged puts other parameters in force from here on.
type ParamsChanged struct {
	Params Params
}

// EmbedderChanged puts an embedder in force. It is the first event of a store.
// In a store that holds impressions it gives them new vectors; depths and
// characters stay as the old ones made them.
type EmbedderChanged struct {
	Embedder string
	Dim      int
	// Stored is how many new vectors lie beside the log, and Digest the SHA-256
	// over them; both are zero for a change that needed none.
	Stored uint32
	Digest [32]byte
	// Rows are the new vectors, one row for each impression of the state that the
	// event is folded into. Whoever folds puts them here; they are no part of the
	// record.
	Rows *Matrix
}

// ModelChanged records which model judges from here on. It changes nothing in the
// state: each judgement names its assessor.
type ModelChanged struct {
	// Model is the name that it is asked for by, 1 to 128 bytes, Digest what it is
	// by the server's account, at most 128 bytes; empty where it tells none.
	Model, Digest string
}

// Excised records that events were removed: ids and digests only.
type Excised struct {
	IDs []ID
	// Keys are those of every wording of the removed entries: a diary file that
	// still has one brings it back no more.
	Keys []Key
	// Before and After are the state digests around the removal.
	Before, After [32]byte
}

// Event is one entry of the log: a header and exactly one body.
type Event struct {
	Header
	// Body is one of SessionOpened, SessionClosed, Experienced, Superseded,
	// Reassessed, ParamsChanged, EmbedderChanged, Excised, ModelChanged.
	Body Body
}

// Body is the content of an event.
type Body interface{ Kind() Kind }

// Kind implements Body.
func (SessionOpened) Kind() Kind { return KindSessionOpened }

// Kind implements Body.
func (SessionClosed) Kind() Kind { return KindSessionClosed }

// Kind implements Body.
func (Experienced) Kind() Kind { return KindExperienced }

// Kind implements Body.
func (Superseded) Kind() Kind { return KindSuperseded }

// Kind implements Body.
func (Reassessed) Kind() Kind { return KindReassessed }

// Kind implements Body.
func (ParamsChanged) Kind() Kind { return KindParamsChanged }

// Kind implements Body.
func (EmbedderChanged) Kind() Kind { return KindEmbedderChanged }

// Kind implements Body.
func (Excised) Kind() Kind { return KindExcised }

// Kind implements Body.
func (ModelChanged) Kind() Kind { return KindModelChanged }
