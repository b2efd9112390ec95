package ollama

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/ollama/ollama/api"
)

// flaw is why one answer cannot be used, in words of ours: nothing of the answer, and
// nothing that was asked, is in it.
type flaw struct {
	wrong string
	// answer is what was answered, for the model to see again; empty where that is
	// of no use.
	answer string
	// long says that what was asked was longer than the model reads.
	long bool
}

func (f *flaw) Error() string { return f.wrong }

// absence is why a server or a model cannot be asked at all.
type absence struct {
	why   string
	scope scope
	// loads says that only loading the model can show that it is over.
	loads bool
	// gaveWay says that it may be the fault of what was asked.
	gaveWay bool
}

func (a *absence) Error() string { return a.why }

// stop ends an item with an error of the caller's own, or with none.
type stop struct {
	err error
	// answered says that the model had done its part.
	answered bool
	// bad says that it had not, by a fault of its own.
	bad bool
}

func (s *stop) Error() string { return "ended by who asked" }

type kind int

const (
	good kind = iota
	stopped
	gone
	late
	unusable
)

// verdict is how one request went.
type verdict struct {
	kind     kind
	err      error
	answered bool
	bad      bool
	gone     *absence
	flaw     *flaw
}

// Why a server or a model cannot be asked, where there is a way to mend it; see mends.
const (
	noAddress  = "the address of the server cannot be understood; see model.server in the config"
	noListener = "nothing answers there; ollama serve starts it"
	noModel    = "the server has not the model; ollama pull gets it"
	noRoom     = "the server has no memory for the model now; a smaller model, or a smaller model.context, may help"
	tooBusy    = "the server has too much to do"
	cannot     = "the model cannot do this; choose another in the config"
	passesOn   = "the server passes what it is asked on to another; choose a model of its own in the config"
	silent     = "it takes what it is asked and does not answer"
)

// judged says how a request went. caller is the context of who asked, within the
// item's with its deadline.
func judged(caller, within context.Context, x *exchange, err error) verdict {
	var st *stop
	var fl *flaw
	var ab *absence
	switch {
	case errors.As(err, &st):
		return verdict{kind: stopped, err: st.err, answered: st.answered, bad: st.bad}
	case caller.Err() != nil && err != nil:
		return verdict{kind: stopped, err: caller.Err()}
	case err == nil:
		return verdict{kind: good}
	case within.Err() != nil:
		return verdict{kind: late}
	case errors.As(err, &ab):
		return verdict{kind: gone, gone: ab}
	case x.status >= http.StatusBadRequest:
		return byStatus(x.status, messageOf(err))
	case errors.Is(err, errRedirect):
		return away("it sends to another address, which is not followed; see model.server in the config", ofServer)
	case errors.Is(x.err, errTooMuch):
		return bad("it is longer than an answer may be")
	case x.err != nil:
		return bad("the connection broke off in the middle of it")
	case errors.As(err, &fl):
		return verdict{kind: unusable, flaw: fl}
	case x.status == 0:
		return byConnection(err)
	case outOfMemory(messageOf(err)):
		return noMemory()
	}
	return bad("the server told of a fault in the middle of it, or sent what is no answer")
}

func away(why string, sc scope) verdict {
	return verdict{kind: gone, gone: &absence{why: why, scope: sc}}
}

func bad(wrong string) verdict { return verdict{kind: unusable, flaw: &flaw{wrong: wrong}} }

func noMemory() verdict {
	return verdict{kind: gone, gone: &absence{
		why:   noRoom,
		scope: ofModel, loads: true, gaveWay: true,
	}}
}

// byStatus reads a status of 400 and more. The server's own words are only looked
// at, never passed on: they may hold a piece of what was asked.
func byStatus(status int, message string) verdict {
	has := func(words ...string) bool {
		for _, w := range words {
			if strings.Contains(message, w) {
				return true
			}
		}
		return false
	}
	switch {
	case outOfMemory(message):
		return noMemory()
	case status == http.StatusNotFound && has("model"):
		return away(noModel, ofModel)
	case status == http.StatusNotFound:
		return away("no Ollama server answers there; see model.server in the config", ofServer)
	case status == http.StatusUnauthorized, status == http.StatusForbidden, status == http.StatusProxyAuthRequired:
		return away("the server lets nobody in without a key; one that needs none is wanted", ofServer)
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		return verdict{kind: gone, gone: &absence{why: tooBusy, scope: ofModel, loads: true}}
	case status == http.StatusBadGateway, status == http.StatusGatewayTimeout:
		return away("what stands before the server does not reach it", ofServer)
	case status == http.StatusBadRequest && has("does not support"):
		return away(cannot, ofModel)
	case has("exceeds", "context length", "too long"):
		return verdict{kind: unusable, flaw: &flaw{wrong: "what was asked is longer than the model reads; a greater model.context may help", long: true}}
	}
	return bad("the server had a fault")
}

func outOfMemory(message string) bool {
	for _, w := range []string{
		"out of memory", "system memory", "insufficient memory", "unable to allocate", "failed to allocate", "cudamalloc",
		"cannot allocate memory", "runner process has terminated", "signal: killed",
	} {
		if strings.Contains(message, w) {
			return true
		}
	}
	return false
}

// messageOf is what the server said of a fault, in small letters.
func messageOf(err error) string {
	if err == nil {
		return ""
	}
	var status api.StatusError
	if errors.As(err, &status) {
		return strings.ToLower(status.ErrorMessage)
	}
	return strings.ToLower(err.Error())
}

// byConnection reads what went wrong before there was a response.
func byConnection(err error) verdict {
	var op *net.OpError
	var dns *net.DNSError
	var cert *tls.CertificateVerificationError
	var record tls.RecordHeaderError
	var unknown x509.UnknownAuthorityError
	switch {
	case errors.As(err, &dns):
		return away("its name is not known; see model.server in the config", ofServer)
	case errors.As(err, &op) && op.Op == "dial":
		return away(noListener, ofServer)
	case errors.As(err, &cert), errors.As(err, &record), errors.As(err, &unknown):
		return away("no secure connection can be made; see model.server in the config", ofServer)
	}
	var u *url.Error
	if errors.As(err, &u) && strings.Contains(u.Err.Error(), "malformed HTTP") {
		return away("no Ollama server answers there; see model.server in the config", ofServer)
	}
	return bad("the connection broke off before an answer")
}
