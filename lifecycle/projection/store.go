package projection

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/jivad/jivad/lifecycle/consent"
	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/lifecycle/lives"
	"github.com/jivad/jivad/soul/lineage"
)

// Value is a record kept under a name; nil data removes it.
type Value struct {
	Name string
	Data []byte
}

// Store keeps records.
type Store interface {
	// Value gives a record, or ErrNotFound.
	Value(name string) ([]byte, error)
	// Values calls f for those whose names begin so, in order of name.
	Values(prefix string, f func(name string, data []byte) error) error
	// Put writes records in one transaction; when it returns they are durable.
	Put(ctx context.Context, values ...Value) error
	// Rewrite puts records in the place of all that there are, and what goes is in no
	// byte of the store any more. f is given each of them and says what stays of it,
	// nil for nothing; more are put beside.
	Rewrite(ctx context.Context, f func(Value) ([]byte, error), more ...Value) error
}

// ErrNotFound: nothing is kept under that name. A Store returns one that is it.
var ErrNotFound = errors.New("not found")

// PrefixConsent begins the names of the records of consent.
const PrefixConsent = "consent/"

// PrefixMember begins those of the distillates of the lineage.
const PrefixMember = prefixMember

// The names of the others.
const (
	nameGenesis      = "lineage/genesis"
	prefixMember     = "lineage/member/"
	prefixBatch      = "lineage/batch/"
	prefixExcision   = "lineage/excision/"
	prefixTombstone  = "lineage/tombstone/"
	prefixLife       = "life/record/"
	prefixDraft      = "life/draft/"
	prefixKit        = "life/kit/"
	prefixAct        = "life/act/"
	nameSatisfaction = "satisfaction"
	nameCut          = "life/cut"
)

func lifeName(n int64) string  { return fmt.Sprintf(prefixLife+"%010d", n) }
func draftName(n int64) string { return fmt.Sprintf(prefixDraft+"%010d", n) }
func kitName(n int64) string   { return fmt.Sprintf(prefixKit+"%010d", n) }
func actName(life int64, n int) string {
	return fmt.Sprintf(prefixAct+"%010d/%08d", life, n)
}
func batchName(n int) string         { return fmt.Sprintf(prefixBatch+"%010d", n) }
func excisionName(n int) string      { return fmt.Sprintf(prefixExcision+"%010d", n) }
func consentName(version int) string { return fmt.Sprintf(PrefixConsent+"%010d", version) }

// genesis is what a lineage began with.
type genesis struct {
	Root     lineage.ID     `json:"root"`
	Base     lineage.Digest `json:"base"`
	Identity lineage.Digest `json:"identity"`
	Minted   lives.Stamp    `json:"minted"`
	// Model names the model whose digest Base is.
	Model string `json:"model"`
}

func encode(name string, v any) (Value, error) {
	data, err := json.Marshal(v)
	return Value{name, data}, err
}

func lifeValue(l *lives.Life) (Value, error) {
	data, err := l.Encode()
	return Value{lifeName(l.Sequence), data}, err
}

// load reads all that is kept.
func (p *Projections) load() error {
	data, err := p.o.Store.Value(nameGenesis)
	if err == nil {
		p.genesis = &genesis{}
		if err := json.Unmarshal(data, p.genesis); err != nil {
			return unreadable(nameGenesis, err)
		}
	} else if !errors.Is(err, ErrNotFound) {
		return err
	}
	if err := p.loadLives(); err != nil {
		return err
	}
	if err := p.loadConsent(); err != nil {
		return err
	}
	data, err = p.o.Store.Value(nameSatisfaction)
	if err == nil {
		if err := json.Unmarshal(data, &p.models); err != nil {
			return unreadable(nameSatisfaction, err)
		}
		err = p.models.Check()
	}
	if err != nil && !errors.Is(err, ErrNotFound) {
		return err
	}
	p.lineage, err = p.loadLineage()
	return err
}

func (p *Projections) loadLives() error {
	return p.o.Store.Values(prefixLife, func(name string, data []byte) error {
		l, err := lives.Decode(data)
		if err != nil {
			return unreadable(name, err)
		}
		p.last = max(p.last, l.Sequence)
		switch {
		case l.State == lives.Avyakrta:
			p.unborn = &l
		case !l.State.Over():
			p.open[l.Sequence] = &l
		}
		return nil
	})
}

func (p *Projections) loadConsent() error {
	var records []consent.Record
	err := p.o.Store.Values(PrefixConsent, func(name string, data []byte) error {
		r, err := consent.ParseRecord(data)
		if err != nil {
			return unreadable(name, err)
		}
		records = append(records, r)
		return nil
	})
	if err == nil {
		p.consents, err = consent.Fold(records)
	}
	return err
}

// loadLineage folds what is kept of the lineage anew, and sees that the versions are
// those that were written (S-3, S-4).
func (p *Projections) loadLineage() (*lineage.Lineage, error) {
	if p.genesis == nil {
		return nil, nil
	}
	l := lineage.New(p.genesis.Root, p.genesis.Identity)
	err := p.o.Store.Values(prefixBatch, func(name string, data []byte) error {
		var b lineage.Batch
		if err := json.Unmarshal(data, &b); err != nil {
			return unreadable(name, err)
		}
		var members []*lineage.Distillate
		for _, digest := range b.Members {
			data, err := p.o.Store.Value(prefixMember + digest.String())
			if err != nil {
				return fmt.Errorf("%s: a distillate of it: %w", name, err)
			}
			d, err := lineage.ParseKept(data) // the version below is one of its digest
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			members = append(members, d)
		}
		merged, err := l.Merge(members...)
		if err != nil {
			return err
		}
		if merged.Version != b.Version {
			return fmt.Errorf("%s: %w: it leads to %s, and %s is written", name, lineage.ErrChain, merged.Version, b.Version)
		}
		return nil
	})
	return l, err
}

// kept reads a distillate of the lineage by the digest that it is named by. It may be of an
// earlier form; see lineage.ParseKept.
func kept(name string, data []byte) (*lineage.Distillate, error) {
	d, err := lineage.ParseKept(data)
	if err != nil {
		return nil, unreadable(name, err)
	}
	digest, err := d.Digest()
	if err == nil && digest.String() != strings.TrimPrefix(name, prefixMember) {
		err = fmt.Errorf("%w: it is not what was kept", lineage.ErrChain)
	}
	if err != nil {
		return nil, unreadable(name, err)
	}
	return d, nil
}

func unreadable(name string, err error) error {
	return fmt.Errorf("record %s cannot be read: %w; jivad verify tells more, and jivad restore brings a backup", name, err)
}

// draft is a life, distilled but for its judgement: the rules that it leaves where it was
// judged well, and where not. They have no weight yet.
type draft struct {
	Worked []lineage.Disposition `json:"worked"`
	Failed []lineage.Disposition `json:"failed"`
	// Signals are what is known of how it went, by name.
	Signals map[string]int64 `json:"signals,omitempty"`
	Reports [2]distil.Report `json:"reports"`
}
