package lifecycle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/lifecycle/prompt"
	"github.com/jivad/jivad/soul"
)

// A session ends at once, with the built-in words in SOUL.md: a stop must not wait
// for a model. The end notes that the model is to say it in its own words, and when it
// has, and nothing in them goes beyond the summary, SOUL.md is written once more. The
// words are kept, so that the same store gives the same bytes.

const (
	// valueNarrate notes the session that the model is to narrate.
	valueNarrate = "model/narrate"
	// valueVoice are the words of the last session that it narrated.
	valueVoice = "model/voice"
	// mostNarrations is how often a model may go beyond the summary, before the
	// built-in words stay.
	mostNarrations = 3
)

// toNarrate is a session that the model is to narrate.
type toNarrate struct {
	Session int `json:"session"`
	Tries   int `json:"tries,omitempty"`
	// Next is when it is tried again, Unix seconds.
	Next int64 `json:"next,omitempty"`
}

// voice is what the model said of a session.
type voice struct {
	Session int `json:"session"`
	// Digest is of the state that it speaks of.
	Digest string `json:"digest"`
	Text   string `json:"text"`
	By     string `json:"by"`
}

// narrated adds to a summary what the model said of it, if it did.
func (c *Companion) narrated(s soul.Summary) soul.Summary {
	data, err := c.store.Value(valueVoice)
	if err != nil {
		return s
	}
	var v voice
	if unmarshal(valueVoice, data, &v) == nil && v.Session == s.Session && v.Digest == s.StoreDigest {
		s.Voice, s.VoiceBy = v.Text, v.By
	}
	return s
}

// narrate has the model say what the last session's SOUL.md says, where that is owed.
// An error is of the store.
func (c *Companion) narrate(ctx context.Context) error {
	data, err := c.store.Value(valueNarrate)
	if errors.Is(err, chitta.ErrNotFound) {
		return nil
	}
	var n toNarrate
	if err == nil {
		err = unmarshal(valueNarrate, data, &n)
	}
	if err != nil || c.opts.Model.State().Away != "" {
		return err
	}
	now, _ := c.opts.Now()
	if wait := n.Next - now.Unix(); wait > 0 && wait <= int64((firstPause<<mostNarrations).Seconds()) || c.atLeisure(ctx) != nil {
		return nil // a clock that was put back makes nothing wait for years
	}
	may := c.readNow()
	s, err := c.lastSummary()
	if errors.Is(err, errNotNow) { // the next end has it narrated
		return nil
	}
	if err != nil {
		return err
	}
	if n.Session != s.Session {
		return c.settleNarration(ctx, nil, nil)
	}
	asked := time.Now()
	text, err := c.tell(ctx, s, may)
	defer func() { c.rest(ctx, time.Since(asked)) }()
	switch {
	case errors.Is(err, errGaveWay), errors.Is(err, errTakenBack):
		c.reassessSoon()
		return nil
	case ctx.Err() != nil || elsewhere(err):
		return nil
	case err != nil:
		c.log.Info("the built-in words stay in SOUL.md", "session", s.Session, "why", err)
		if n.Tries++; n.Tries >= mostNarrations {
			c.counts.unnarrated.Add(1)
			return c.settleNarration(ctx, nil, nil)
		}
		n.Next = now.Add(firstPause << n.Tries).Unix()
		return c.settleNarration(ctx, nil, &n)
	}
	return c.settleNarration(ctx, &voice{Session: s.Session, Digest: s.StoreDigest, Text: text, By: c.modelID()}, nil)
}

// tell asks the model and holds its words against the summary.
// may tells whether they can still be sent.
func (c *Companion) tell(ctx context.Context, s soul.Summary, may func() bool) (string, error) {
	plainly := s
	plainly.Given, plainly.Voice, plainly.VoiceBy = "", "", ""           // what the person wrote is theirs to say
	plainly.Rules, plainly.Unresolved, plainly.Unsettled = nil, nil, nil // and rules and claims are told in their own words alone
	doc, err := soul.Render(plainly, c.opts.SoulBytes)
	if err != nil {
		return "", err
	}
	var text string
	err = c.leisurely(ctx, may, func(asking context.Context) (err error) {
		text, err = c.opts.Model.Narrate(asking, prompt.WithoutFrontMatter(string(doc)))
		return err
	})
	if err == nil {
		err = soul.CheckVoice(s, text)
	}
	return text, c.ended(ctx, err)
}

// settleNarration writes what came of a narration, and SOUL.md with it, unless a
// session began or ended meanwhile.
func (c *Companion) settleNarration(ctx context.Context, v *voice, again *toNarrate) error {
	return c.do(context.WithoutCancel(ctx), backlog, func(ctx context.Context) error {
		values := []chitta.Value{{Name: valueNarrate}}
		if again != nil {
			data, err := json.Marshal(again)
			if err != nil {
				return err
			}
			values[0].Data = data
		}
		if v == nil {
			_, err := c.store.Append(ctx, chitta.Batch{Values: values})
			return err
		}
		s, err := c.lastSummary()
		if errors.Is(err, errNotNow) || err == nil && (s.Session != v.Session || s.StoreDigest != v.Digest) {
			return nil // it speaks of what was; the next end has it narrated
		}
		if err != nil {
			return err
		}
		last, err := c.lastWritten()
		if err != nil {
			return err
		}
		s.Voice, s.VoiceBy = v.Text, v.By
		doc, err := soul.Render(s, c.opts.SoulBytes)
		if err != nil {
			return err
		}
		data, err := json.Marshal(v)
		if err != nil {
			return err
		}
		values = append(values, chitta.Value{Name: valueVoice, Data: data}, chitta.Value{Name: valueCurrent, Data: doc})
		if _, err := c.store.Append(ctx, chitta.Batch{Values: values}); err != nil {
			return err
		}
		c.writeAgain(doc, last)
		return nil
	})
}

// writeAgain puts another SOUL.md of the same session in the place of the one that was
// written last. One that somebody edited is left: the next end sees to that.
func (c *Companion) writeAgain(doc, last []byte) {
	file, err := c.files.Current()
	if err == nil && len(file) > 0 && soul.EditedElsewhere(file, last) {
		return
	}
	if err == nil {
		err = c.files.Write(doc)
	}
	if err != nil {
		c.problem(fmt.Sprintf("SOUL.md was not written: %v", err))
	}
}
