package lifecycle

// GhostReport lists what was strong once and is hardly there any more.
type GhostReport struct {
	// Floor is the depth below which an impression is hardly brought to mind.
	Floor float64 `json:"floor"`
	// Tendencies are those that once had a member above the floor and have none
	// now, the one that was strongest first.
	Tendencies []GhostTendency `json:"tendencies"`
	// Impressions were once at least Strong deep and lie below the floor now, the
	// one that was deepest first; of their texts an excerpt is given.
	Strong      float64      `json:"strong"`
	Impressions []Impression `json:"impressions"`
}

// GhostTendency is a tendency of the past.
type GhostTendency struct {
	ID string `json:"id"`
	// Name is made of the words of those members whose text is kept.
	Name string `json:"name"`
	// Members are the ids of its impressions when it was found last.
	Members []string `json:"members"`
	// Peak is its greatest influence at the end of a session, Influence the one
	// now; Deepest is the depth now of its deepest member.
	Peak      float64 `json:"peak"`
	Influence float64 `json:"influence"`
	Deepest   float64 `json:"deepest"`
	// FirstSession made its first member, LastSession is the last that touched
	// one, FoundIn the last at whose end it was found.
	FirstSession int `json:"first_session"`
	LastSession  int `json:"last_session"`
	FoundIn      int `json:"found_in"`
}

// GhostQuery asks what would differ today had something never been.
type GhostQuery struct {
	// Of is an entry or a tendency, by its id or a part of it of at least four
	// letters, a session by its number without zeros before it, or a part of the
	// name of a tendency.
	Of string `json:"of"`
	// Baseline is the number of random removals to compare with, 0 to 1000.
	Baseline int `json:"baseline"`
}

// Counterfactual tells what would differ today had some entries never been.
type Counterfactual struct {
	// Kind is "entry", "session" or "tendency"; ID and Name say which.
	Kind string `json:"kind"`
	ID   string `json:"id"`
	Name string `json:"name,omitempty"`
	// Entries are those that would not be there, as they are now, with excerpts.
	Entries []Impression `json:"entries"`
	// Sessions are those that nothing would be left of; they would not have been,
	// and those after them would count one less.
	Sessions []int `json:"sessions,omitempty"`
	// Impressions counts those that are left, Changed those of them whose depth
	// differs by 0.0005 or more; Depths lists the greatest differences.
	Impressions int           `json:"impressions"`
	Changed     int           `json:"changed"`
	Depths      []GhostChange `json:"depths"`
	// Events counts the entries that are left; Woken says how often the gate let
	// through what would not be there.
	Events int `json:"events"`
	Woken  int `json:"woken"`
	// Soul is what SOUL.md would say instead; nil where it was not compared.
	Soul *GhostSoul `json:"soul,omitempty"`
	// Measures are the figures that are compared with chance, the headline first.
	Measures []GhostMeasure `json:"measures"`
	// Baseline says what they were compared with; nil where nothing was.
	Baseline *GhostBaseline `json:"baseline,omitempty"`
	// Curves follow the most changed impressions through the sessions.
	Curves []GhostCurve `json:"curves,omitempty"`
	// Notes say what was not compared, and why.
	Notes   []string `json:"notes,omitempty"`
	Seconds float64  `json:"seconds"`
}

// GhostChange is an impression that would be deeper or less deep, or that would
// be there or not; depths are in [0,1).
type GhostChange struct {
	ID      string  `json:"id"`
	Date    string  `json:"date,omitempty"`
	Excerpt string  `json:"excerpt,omitempty"`
	With    float64 `json:"with"`
	Without float64 `json:"without"`
	// Only is "with" or "without" where the other side has no such impression.
	Only string `json:"only,omitempty"`
}

// GhostSoul is what SOUL.md would say instead, if it were written now.
type GhostSoul struct {
	// Cosine is of the vectors of the two identities, in [-1,1].
	Cosine float64 `json:"cosine"`
	// Lines counts those of SOUL.md below its front matter; Said are the ones that
	// would not be there, Instead those that would.
	Lines   int      `json:"lines"`
	Said    []string `json:"said"`
	Instead []string `json:"instead"`
}

// The measures that are compared with chance.
const (
	// MeasureDepths is the sum of |Δdepth| over what is left.
	MeasureDepths = "sum_abs_delta_depth"
	// MeasureEvents counts the entries at which the gate would have let others through.
	MeasureEvents = "events_differently"
	// MeasureAngle is between the two characters of the store, each the mean of all
	// impressions weighted by influence, in degrees.
	MeasureAngle = "g_store_degrees"
	// MeasureSoul is 1 − cosine of the vectors of the identities.
	MeasureSoul = "soul_distance"
	// MeasureLines is the number of lines of SOUL.md that differ.
	MeasureLines = "soul_lines"
)

// GhostMeasure is one figure, and what it is by chance.
type GhostMeasure struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	// Chance is nil where it was not compared.
	Chance *Chance `json:"chance,omitempty"`
}

// GhostBaseline says what was removed at random.
type GhostBaseline struct {
	// Removals is their number, Entries how many each removes. No two are the same.
	Removals int `json:"removals"`
	Entries  int `json:"entries"`
	// All says that they are all there are of that size, fewer than were asked for
	// or just as many.
	All bool `json:"all"`
	// Sessions is how many sessions nothing is left of, on average.
	Sessions float64 `json:"sessions"`
}

// GhostCurve is one impression's depth at the end of each session as it was and
// as it would have been; nil where it is not there.
type GhostCurve struct {
	ID      string     `json:"id"`
	Date    string     `json:"date,omitempty"`
	Excerpt string     `json:"excerpt,omitempty"`
	Session []int      `json:"session"`
	With    []*float64 `json:"with"`
	Without []*float64 `json:"without"`
}
