package api

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

func ask(h http.Handler, path string) (int, string) {
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	body, _ := io.ReadAll(w.Result().Body)
	return w.Code, string(body)
}

func TestMetrics(t *testing.T) {
	more := func(context.Context) ([]Family, error) {
		return []Family{
			{Name: "jivad_x_total", Kind: "counter", Help: "a\nb\\", Samples: []Sample{
				{Labels: []string{"endpoint", "chat", "outcome", "a\"b\\c\nd\xff"}, Value: 3}, {Value: 1e21},
			}},
		}, errors.New("half of it is missing")
	}
	for name, h := range map[string]http.Handler{"socket": NewHandler(&fake{}, more), "probes": NewProbes(&fake{}, more)} {
		code, text := ask(h, "/metrics")
		if code != http.StatusOK {
			t.Fatalf("%s: status %d", name, code)
		}
		for _, want := range []string{
			"# TYPE jivad_impressions gauge\njivad_impressions 2\n",
			"jivad_records 1.099511627776e+12\n",
			"jivad_problems 1\n",
			"jivad_witness_gap 0.25\n",
			"jivad_session_open 1\n",
			`jivad_info{version="v1",embedder="",assessor="",index=""} 1` + "\n",
			`# HELP jivad_x_total a\nb\\` + "\n# TYPE jivad_x_total counter\n",
			`jivad_x_total{endpoint="chat",outcome="a\"b\\c\nd�"} 3` + "\n",
			"jivad_x_total 1e+21\n",
			"jivad_scrape_errors 1\n",
		} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not in\n%s", name, want, text)
			}
		}
		if _, err := parsed(text); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestReadiness(t *testing.T) {
	f := &fake{}
	h := NewProbes(f)
	for _, tc := range []struct {
		err  error
		want int
	}{{nil, 200}, {lifecycle.ErrNotFound, 200}, {lifecycle.ErrClosed, 503}, {lifecycle.ErrDamaged, 503}} {
		f.err = tc.err
		if code, _ := ask(h, "/readyz"); code != tc.want {
			t.Errorf("readyz with %v: %d, want %d", tc.err, code, tc.want)
		}
		if code, _ := ask(h, "/healthz"); code != 200 {
			t.Errorf("healthz with %v: %d, want 200", tc.err, code)
		}
		if code, text := ask(h, "/metrics"); code != 200 || (tc.err == nil) != strings.Contains(text, "jivad_scrape_errors 0\n") {
			t.Errorf("metrics with %v: %d\n%s", tc.err, code, text)
		}
	}
}
