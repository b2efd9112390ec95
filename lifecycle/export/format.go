package export

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/reactivation"
)

// Format and Version are how a manifest says what it is of.
const (
	Format = "jivad export"
	// Version 2 added the vectors of changes of embedder, what is kept of each text,
	// how strong tendencies have been, and those that are found no more; version 3 what
	// stands beside a text, and what a model said of tendencies and of the last session;
	// version 4 what the person said of consent, and what a text was found to be of.
	Version = 4
)

// The files of an export. Texts are in diary.md, or in one diary-YYYY.md for
// every year where there are many.
const (
	FileManifest    = "manifest.json"
	FileReadme      = "README.txt"
	FileImpressions = "impressions.jsonl"
	FileSessions    = "sessions.jsonl"
	FileParameters  = "parameters.json"
	FileTendencies  = "tendencies.json"
	FileForgotten   = "forgotten.jsonl"
	FileSoul        = "SOUL.md"
	FileGiven       = "given.md"
	FileConsent     = "consent.jsonl"
)

// Manifest says what an export holds.
type Manifest struct {
	Format  string `json:"format"`
	Version int    `json:"version"`
	// Program is the version of the program that wrote it.
	Program  string    `json:"program"`
	Exported time.Time `json:"exported"`
	Store    Store     `json:"store"`
	Embedder Embedder  `json:"embedder"`
	Counts   Counts    `json:"counts"`
	// StateDigest is the SHA-256 of the state that all of it amounts to, in hexadecimal.
	StateDigest string `json:"state_digest"`
	// Arithmetic names the machines that the state went through.
	Arithmetic []string `json:"arithmetic"`
	// Altered counts the texts that differ in the diary from what was written:
	// by a backslash before what would be read as the heading of another entry.
	Altered int `json:"altered_in_diary"`
	// LeftOut says in words what of the companion is not in the export.
	LeftOut []string            `json:"left_out,omitempty"`
	Files   map[string]FileInfo `json:"files"`
}

// Store is the companion that was exported.
type Store struct {
	ID      string    `json:"id"`
	Created time.Time `json:"created"`
}

// Embedder is the model in force, and the length of its vectors.
type Embedder struct {
	ID  string `json:"id"`
	Dim int    `json:"dim"`
}

// Counts say how much there is.
type Counts struct {
	// Records is the greatest order: all lines and changes that have one.
	Records     uint64 `json:"records"`
	Experiences int    `json:"experiences"`
	Impressions int    `json:"impressions"`
	// Texts counts the experiences whose text is kept.
	Texts    int `json:"texts"`
	Sessions int `json:"sessions"`
}

// FileInfo is the size and the SHA-256 of a file; Lines is 0 but for .jsonl.
type FileInfo struct {
	Bytes  int64  `json:"bytes"`
	Lines  int    `json:"lines,omitempty"`
	SHA256 string `json:"sha256"`
}

// Recorded is when something was recorded, which the mathematics never reads:
// Unix milliseconds, and whether the clock could be trusted.
type Recorded struct {
	Unix    int64 `json:"recorded_unix_ms"`
	Trusted bool  `json:"clock_trusted"`
}

// Experience is a line of impressions.jsonl: what was experienced, as its last
// edit left it, and what it is today.
type Experience struct {
	// Order is the place among everything that has one, from 1.
	Order uint64 `json:"order"`
	ID    string `json:"id"`
	Key   string `json:"key"`
	// Date is nil where it is unknown.
	Date         *string   `json:"date"`
	Label        string    `json:"label,omitempty"`
	Source       string    `json:"source"`
	Category     string    `json:"category"`
	Session      uint32    `json:"session"`
	Judgement    Judgement `json:"judgement"`
	AlwaysCreate bool      `json:"always_create"`
	Recorded
	// Today is nil for one that left no impression of its own; ActedOn are then
	// the ids of those that it acted on.
	Today   *Today   `json:"today"`
	ActedOn []string `json:"acted_on,omitempty"`
	// Kept is one of [KeptFull], [KeptGist], [KeptNone] and [KeptBuried]; of version
	// 1 it is empty.
	Kept string `json:"kept,omitempty"`
	// Text is nil where none is kept.
	Text *string `json:"text"`
	Beside
	Embedder  string `json:"embedder"`
	Embedding string `json:"embedding"`
}

// Beside is what is kept beside a text, all of it empty where there is none, and
// before version 3.
type Beside struct {
	// Summary is what a model said of it, Reason why it judged it so.
	Summary string `json:"summary,omitempty"`
	Reason  string `json:"reason,omitempty"`
	// Answer is what was answered to it in a conversation, AnsweredBy who did.
	Answer     string `json:"answer,omitempty"`
	AnsweredBy string `json:"answered_by,omitempty"`
	// OwnShare is the share of its words that the companion had said before, in [0,1].
	OwnShare float64 `json:"own_share,omitempty"`
	// Found is a category of consent that it was found to be of beside its own; empty
	// for none, and before version 4.
	Found string `json:"found_category,omitempty"`
}

// check says what cannot stand beside a text.
func (b Beside) check() error {
	if !(b.OwnShare >= 0 && b.OwnShare <= 1) {
		return fmt.Errorf("%w: own_share is not in [0,1]", ErrLine)
	}
	return nil
}

// What is kept of a text: all of it, its gist, nothing, or nothing any more.
const (
	KeptFull   = "full"
	KeptGist   = "gist"
	KeptNone   = "none"
	KeptBuried = "buried"
)

// checkKept sees that what is kept and the text agree.
func (l Experience) checkKept() error {
	has := l.Text != nil
	if !has && l.Beside != (Beside{}) {
		return fmt.Errorf("%w: something stands beside a text that is not there", ErrLine)
	}
	switch l.Kept {
	case "":
		return nil
	case KeptFull, KeptGist:
		if has {
			return nil
		}
	case KeptNone, KeptBuried:
		if !has && l.Label == "" {
			return nil
		}
	}
	return fmt.Errorf("%w: what is said to be kept of the text is not what is there", ErrLine)
}

// Judgement is what the assessor said. Novelty and Match are nil where it had no
// opinion.
type Judgement struct {
	Assessor  string   `json:"assessor"`
	Intensity float64  `json:"intensity"`
	Novelty   *float64 `json:"novelty"`
	Emotion   float64  `json:"emotion"`
	Match     *float64 `json:"match"`
	Guna      Guna     `json:"guna"`
	Valence   float64  `json:"valence"`
}

// Guna is a character: a vector of length 1.
type Guna struct {
	Tamas  float64 `json:"tamas"`
	Rajas  float64 `json:"rajas"`
	Sattva float64 `json:"sattva"`
}

// Today is what an impression is at the moment of the export.
type Today struct {
	Depth         float64 `json:"depth"`
	Peak          float64 `json:"peak"`
	Reinforcement float64 `json:"reinforcement"`
	Activations   uint32  `json:"activations"`
	LastSession   uint32  `json:"last_session"`
	Guna          Guna    `json:"guna"`
	BuryAt        uint32  `json:"bury_at,omitempty"`
	Buried        bool    `json:"buried"`
	Unplaced      bool    `json:"unplaced"`
}

// Session is a line of sessions.jsonl.
type Session struct {
	Session uint32 `json:"session"`
	Date    string `json:"date,omitempty"`
	// Bounds are when it was opened and closed; a day may come in more parts.
	Bounds []Bound `json:"bounds"`
	// Trend is its line of the trend, null before it was withdrawn.
	Trend json.RawMessage `json:"trend"`
}

// Bound is the opening or the end of a session.
type Bound struct {
	Order uint64 `json:"order"`
	// What is [Opened] or [Closed].
	What   string `json:"what"`
	Reason string `json:"reason,omitempty"`
	Recorded
}

// The two kinds of bounds.
const (
	Opened = "opened"
	Closed = "closed"
)

// Settings is parameters.json: everything that the mathematics was told.
type Settings struct {
	InForce json.RawMessage `json:"in_force"`
	// Changes put parameters in force, from their place in the order on.
	Changes []ParamsChange `json:"changes"`
	// Models say which model judged, from their place in the order on.
	Models []ModelChange `json:"models,omitempty"`
	// Embedders are those that were put in force.
	Embedders []EmbedderChange `json:"embedders"`
}

// ParamsChange is one change of the parameters.
type ParamsChange struct {
	Order uint64 `json:"order"`
	Recorded
	Parameters json.RawMessage `json:"parameters"`
}

// ModelChange says which model judges from its place in the order on.
type ModelChange struct {
	Order uint64 `json:"order"`
	Recorded
	Model  string `json:"model"`
	Digest string `json:"digest,omitempty"`
}

// EmbedderChange puts an embedder in force.
type EmbedderChange struct {
	Order uint64 `json:"order"`
	Recorded
	Embedder
	// Vectors names the file of the vectors that came with it, [VectorsFile]; it is
	// empty where nothing was there yet that needed one.
	Vectors string `json:"vectors,omitempty"`
}

// VectorsFile is the file of what a change of embedder at a place in the order
// brought.
func VectorsFile(order uint64) string { return fmt.Sprintf("vectors-%d.jsonl", order) }

// NewVector is a line of such a file: the vector that an experience has from the
// change on, as its last edit left it. Experiences without one have no place.
type NewVector struct {
	// Order and ID are those of the experience.
	Order     uint64 `json:"order"`
	ID        string `json:"id"`
	Embedding string `json:"embedding"`
}

// Removal is a line of forgotten.jsonl: what was forgotten, by ids and digests
// only, so that a diary file that still has it brings nothing back.
type Removal struct {
	Order uint64 `json:"order"`
	Recorded
	IDs    []string `json:"ids"`
	Keys   []string `json:"keys"`
	Before string   `json:"state_before"`
	After  string   `json:"state_after"`
}

// Tendency is one vasana as a session left it.
type Tendency struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	// Members are the ids of its impressions.
	Members      []string `json:"members"`
	Guna         Guna     `json:"guna"`
	Coherence    float64  `json:"coherence"`
	Hardness     float64  `json:"hardness"`
	Influence    float64  `json:"influence"`
	FirstSession int      `json:"first_session"`
	LastSession  int      `json:"last_session"`
	// Peak is how strong it has been.
	Peak Peak `json:"peak"`
}

// Peak is how strong a tendency has been at the end of any session: the greatest
// influence, and the greatest depth of a member.
type Peak struct {
	Influence float64 `json:"influence"`
	Depth     float64 `json:"depth"`
}

// Check says what no peak can be.
func (p Peak) Check() error {
	if !(p.Influence >= 0 && p.Depth >= 0 && p.Depth <= 1) {
		return fmt.Errorf("%w: how strong a tendency has been cannot be", ErrLine)
	}
	return nil
}

// Vanished is a tendency that was found once and is no more.
type Vanished struct {
	ID string `json:"id"`
	// Members are the ids of the impressions that it had.
	Members []string `json:"members"`
	Peak    Peak     `json:"peak"`
	// FirstSession made its first member, FoundIn is the last that found it.
	FirstSession int `json:"first_session"`
	FoundIn      int `json:"found_in"`
}

// Heritage is what one session handed to the next: its tendencies, and the
// vector of the identity that it wrote.
type Heritage struct {
	Session    int        `json:"session"`
	Tendencies []Tendency `json:"tendencies"`
	Identity   string     `json:"identity_vector"`
}

// Called is what a model calls a tendency.
type Called struct {
	// ID is that of the tendency, Name what it is called, at most 60 letters, By the
	// model, at most 128 bytes.
	ID   string `json:"id"`
	Name string `json:"name"`
	By   string `json:"by"`
	// Members are the ids of the impressions that it had then, the strongest of Count,
	// Sources those of the entries that the name was made from.
	Members []string `json:"members"`
	Count   int      `json:"count"`
	Sources []string `json:"sources"`
}

// Voice is what a model said of a session.
type Voice struct {
	Session int `json:"session"`
	// Digest is of the state that it speaks of.
	Digest string `json:"state_digest"`
	Text   string `json:"text"`
	By     string `json:"by"`
}

// Heritages is tendencies.json: the heritage of the last sessions, the tendencies
// that are found no more, by id, and what a model said of tendencies, by id, and of
// the last session.
type Heritages struct {
	Sessions []Heritage `json:"sessions"`
	Vanished []Vanished `json:"vanished"`
	Called   []Called   `json:"called,omitempty"`
	Voice    *Voice     `json:"voice,omitempty"`
}

// NewRecorded takes the time of recording off an event.
func NewRecorded(h fold.Header) Recorded { return Recorded{h.Wall, h.ClockTrusted} }

func (r Recorded) header(order uint64) fold.Header {
	return fold.Header{Sequence: order, Wall: r.Unix, ClockTrusted: r.Trusted}
}

// Vector is a character as it is computed with.
func (g Guna) Vector() reactivation.Guna { return reactivation.Guna(g) }

// NewExperience is the line of an experience, without what it is today.
func NewExperience(order uint64, session uint32, h fold.Header, x fold.Experienced) Experience {
	j := x.Judgement
	out := Experience{
		Order: order, ID: ID(x.ID), Key: hex.EncodeToString(x.Key[:]), Source: x.Source, Category: x.Category, Session: session,
		Judgement:    Judgement{j.Assessor, j.Intensity, j.Novelty, j.Emotion, j.Match, Guna(j.Guna), j.Valence},
		AlwaysCreate: x.AlwaysCreate, Recorded: NewRecorded(h), Embedder: x.Embedder, Embedding: Floats(x.Embedding),
	}
	if x.Date != "" {
		out.Date = &x.Date
	}
	return out
}

// event is the experience of a line.
func (l Experience) event() (fold.Event, error) {
	j := l.Judgement
	x := fold.Experienced{
		Source: l.Source, Category: l.Category, Embedder: l.Embedder, AlwaysCreate: l.AlwaysCreate,
		Judgement: fold.Judgement{
			Assessor: j.Assessor, Intensity: j.Intensity, Emotion: j.Emotion, Novelty: j.Novelty, Match: j.Match,
			Guna: j.Guna.Vector(), Valence: j.Valence,
		},
	}
	if l.Date != nil {
		x.Date = *l.Date
	}
	var faults [3]error
	x.ID, faults[0] = ParseID(l.ID)
	x.Key, faults[1] = parseKey(l.Key)
	x.Embedding, faults[2] = ParseFloats(l.Embedding)
	return fold.Event{Header: l.header(l.Order), Body: x}, errors.Join(faults[:]...)
}

// NewRemoval is the line of what was forgotten.
func NewRemoval(order uint64, h fold.Header, x fold.Excised) Removal {
	out := Removal{Order: order, Recorded: NewRecorded(h), IDs: []string{}, Keys: []string{}, Before: hex.EncodeToString(x.Before[:]), After: hex.EncodeToString(x.After[:])}
	for _, id := range x.IDs {
		out.IDs = append(out.IDs, ID(id))
	}
	for _, k := range x.Keys {
		out.Keys = append(out.Keys, hex.EncodeToString(k[:]))
	}
	return out
}

func (l Removal) event() (fold.Event, error) {
	x := fold.Excised{IDs: make([]fold.ID, len(l.IDs)), Keys: make([]fold.Key, len(l.Keys))}
	var faults []error
	note := func(err error) { faults = append(faults, err) }
	var err error
	for i, s := range l.IDs {
		x.IDs[i], err = ParseID(s)
		note(err)
	}
	for i, s := range l.Keys {
		x.Keys[i], err = parseKey(s)
		note(err)
	}
	note(parseHex("state_before", l.Before, x.Before[:]))
	note(parseHex("state_after", l.After, x.After[:]))
	return fold.Event{Header: l.header(l.Order), Body: x}, errors.Join(faults...)
}

// ID is an event's id in the usual form of a UUID.
func ID(id fold.ID) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}

// ParseID reads what [ID] writes.
func ParseID(s string) (id fold.ID, err error) {
	raw := strings.ReplaceAll(s, "-", "")
	if err := parseHex("id", raw, id[:]); err != nil || ID(id) != s {
		return id, fmt.Errorf("%w: an id is not a UUID in small letters", ErrLine)
	}
	return id, nil
}

func parseKey(s string) (k fold.Key, err error) {
	err = parseHex("key", s, k[:])
	return k, err
}

// parseHex reads exactly as many bytes as fit, in small letters.
func parseHex(name, s string, to []byte) error {
	raw, err := hex.DecodeString(s)
	if err != nil || len(raw) != len(to) || hex.EncodeToString(raw) != s {
		return fmt.Errorf("%w: %s is not %d bytes in hexadecimal", ErrLine, name, len(to))
	}
	copy(to, raw)
	return nil
}

// Floats writes a vector: base64 of little-endian float32 values.
func Floats(v []float32) string {
	b := make([]byte, 0, 4*len(v))
	for _, x := range v {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return base64.StdEncoding.EncodeToString(b)
}

// ParseFloats reads what [Floats] writes.
func ParseFloats(s string) ([]float32, error) {
	b, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(b)%4 != 0 {
		return nil, fmt.Errorf("%w: a vector is not base64 of float32 values", ErrLine)
	}
	v := make([]float32, len(b)/4)
	for i := range v {
		v[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
	}
	return v, nil
}
