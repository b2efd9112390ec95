package lifecycle

import (
	"context"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/consent"
)

// RestoreOptions say which store is put back from which file.
type RestoreOptions struct {
	// Dir is the data folder, Backups the folder of automatic backups; empty means
	// backups in Dir.
	Dir, Backups string
	// Soul is where SOUL.md is; empty means SOUL.md in Dir.
	Soul string
	// File is put in place; empty means the newest backup that is whole.
	File string
	// Another allows a file of another companion.
	Another bool
	// WithForgotten has what was forgotten since come back too, and texts for which
	// consent was withdrawn since: those rest, as what was said holds all the same.
	WithForgotten bool
	// Command gives the command that puts a file in place, for messages.
	Command func(file string) string
}

// RestoreReport tells what a restore did.
type RestoreReport struct {
	// Store is the file that is in place now, From the one that was copied.
	Store string `json:"store"`
	From  string `json:"from"`
	// Mended says that the file's first pages had to be found again.
	Mended bool `json:"mended,omitempty"`
	// Records is the number of the last record, Written its time.
	Records uint64     `json:"records"`
	Written *time.Time `json:"written,omitempty"`
	Texts   int        `json:"texts"`
	// Impressions were counted by folding the log; 0 where that is left to verify.
	Impressions int `json:"impressions,omitempty"`
	// Replaced is where the store of before is now, with so many records; 0 where
	// it could not be read, and then Damage says why.
	Replaced        string `json:"replaced,omitempty"`
	ReplacedRecords uint64 `json:"replaced_records,omitempty"`
	Damage          string `json:"damage,omitempty"`
	// ToForget counts the entries of the file that were forgotten in the store of
	// before: the next start takes them out again. ForgottenUnknown says that the
	// store of before could not tell which those are.
	ToForget         int  `json:"to_forget,omitempty"`
	ForgottenUnknown bool `json:"forgotten_unknown,omitempty"`
	// ConsentRecords counts what the person said of consent since the file was made: it
	// holds. Withdrawn are the kinds of data whose texts were destroyed for it, ToWithdraw
	// the texts of the file that the next start therefore destroys again.
	ConsentRecords int                `json:"consent_records,omitempty"`
	Withdrawn      []consent.Category `json:"withdrawn,omitempty"`
	ToWithdraw     int                `json:"to_withdraw,omitempty"`
	// Lives counts those that were lived since the file was made, which are known on;
	// Excised distillates of the file are of lives that were excised since: the next start
	// takes them out again. LivesLeft are lives that only the file knows, of another
	// course: they are left in it. LivesCut were lived, or not distilled yet, when the
	// file was made, and their end is not known here: nothing more comes of them.
	Lives     int `json:"lives,omitempty"`
	Excised   int `json:"excised,omitempty"`
	LivesLeft int `json:"lives_left,omitempty"`
	LivesCut  int `json:"lives_cut,omitempty"`

	owes bool
}

// Owes tells whether the next start has something to take away again.
func (r RestoreReport) Owes() bool { return r.ToForget+r.ToWithdraw+r.Excised > 0 || r.owes }

// foldsWithin bounds how long a restore folds the log that it puts in place.
const foldsWithin = 5 * time.Second

// Restore puts a backup in the place of a companion's store, which no process may
// have open. SOUL.md follows at the next start. See [chitta.Restore].
func Restore(ctx context.Context, o RestoreOptions, progress func(Progress)) (RestoreReport, error) {
	began := time.Now()
	var out RestoreReport
	taken := &carrying{dir: o.Dir, back: o.WithForgotten, now: began, out: &out}
	r, err := chitta.Restore(ctx, chitta.RestoreOptions{
		Options: chitta.Options{Dir: o.Dir, Backups: o.Backups, RestoreCommand: o.Command, Identity: Places{Dir: o.Dir, Soul: o.Soul}.traces().ID},
		File:    o.File, Another: o.Another, WithForgotten: o.WithForgotten, FoldWithin: foldsWithin, Carry: taken.carry,
		Progress: func(stage string, done, total uint64) {
			if progress != nil {
				progress(Progress{Done: int(done), Total: int(total), Stage: stage, Elapsed: time.Since(began)})
			}
		},
	})
	if err != nil {
		return RestoreReport{}, err
	}
	out.Store, out.From, out.Mended, out.Records, out.Texts, out.Impressions = r.Path, r.From, r.Mended, r.Last, r.Texts, r.Folded
	out.Replaced, out.ReplacedRecords = r.Replaced, r.ReplacedLast
	out.ToForget, out.ForgottenUnknown = r.ToForget, r.ForgottenUnknown
	if !r.Written.IsZero() {
		out.Written = &r.Written
	}
	if r.Damage != nil {
		out.Damage = r.Damage.Error()
	}
	return out, nil
}
