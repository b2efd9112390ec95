package projection

import (
	"context"
	"strings"

	"github.com/jivad/jivad/lifecycle/manifest"
	"github.com/jivad/jivad/lifecycle/tools"
)

// MindOf names a model as lives name who thinks in them: with its digest, as far as its
// server tells one.
func MindOf(name, digest string) string {
	digest = strings.TrimPrefix(strings.ToLower(strings.TrimSpace(digest)), "sha256:")
	if digest == "" {
		return name
	}
	return name + "@" + digest
}

// ActBy is Act for a model: what it asks for is refused where another one thinks in the life
// (J-1). mind is as of MindOf, empty where it is not known which model asks.
func (p *Projections) ActBy(ctx context.Context, mind string, call tools.Call) (Acted, error) {
	return p.act(ctx, &mind, call)
}

// ThoughtBy tells whether it is this model that thinks in the life that is lived.
func (p *Projections) ThoughtBy(mind string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.living != nil && sameMind(p.living.life.Mind, mind)
}

// Estranged tells whether the model that is there is another one than thinks in the life
// that is lived, so that the life is to end. there gives it, for the manifest that the life
// was born from. Of a life of the built-in model that is told only where the other one is to
// answer, and a life that is born now would have it. A life that was born by a bare name
// learns the digest of that model once it is told: it is the same one.
func (p *Projections) Estranged(there func(manifest.Manifest) manifest.Chat, toAnswer bool) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	l := p.living
	if l == nil {
		return false
	}
	chat := there(l.m)
	if chat.Name == "" || chat.Away != "" {
		return false // one that is away for a while may come back as it was
	}
	if l.life.Mind == Builtin {
		born, ok := l.m.Mind(chat)
		return toAnswer && ok && !born.Builtin
	}
	mind := MindOf(chat.Name, chat.Digest)
	if !sameMind(l.life.Mind, mind) {
		return true
	}
	if digestIn(l.life.Mind) == "" {
		l.life.Mind = mind // written with the next record
	}
	return false
}

// sameMind tells whether a name of who thinks in a life, and that of a model, are of one
// model. One that has no digest is known by its name alone.
func sameMind(life, model string) bool {
	if model == "" || life == Builtin {
		return false
	}
	a, b := digestIn(life), digestIn(model)
	if a != "" && b != "" {
		return life == model
	}
	return strings.TrimSuffix(life, "@"+a) == strings.TrimSuffix(model, "@"+b)
}

// digestIn is the digest that a name of MindOf ends with; empty where there is none.
func digestIn(mind string) string {
	digest := mind[strings.LastIndexByte(mind, '@')+1:]
	if digest == mind || strings.Trim(digest, "0123456789abcdef") != "" {
		return ""
	}
	return digest
}
