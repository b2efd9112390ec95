package evidence

import (
	"encoding/json"
	"os"
	"strings"
	"testing"
)

type rootVectors struct {
	Same []struct {
		Key   string
		Forms []string
	}
	Apart [][]string
}

func vectors(t testing.TB) (v rootVectors) {
	t.Helper()
	data, err := os.ReadFile("testdata/roots.json")
	if err == nil {
		err = json.Unmarshal(data, &v)
	}
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// The published forms of one thing come to one key, those of others to others.
func TestRoots(t *testing.T) {
	v := vectors(t)
	if len(v.Same[0].Forms) < 25 {
		t.Errorf("%d forms of a commit", len(v.Same[0].Forms))
	}
	for _, same := range v.Same {
		for _, form := range same.Forms {
			if got := CanonicalRoot(form); got != same.Key {
				t.Errorf("%q is %q, not %q", form, got, same.Key)
			}
		}
	}
	for _, apart := range v.Apart {
		seen := map[string]string{}
		for _, form := range apart {
			key := CanonicalRoot(form)
			if other, twice := seen[key]; twice {
				t.Errorf("%q and %q are both %q", other, form, key)
			}
			seen[key] = form
		}
	}
}

// A beginning of a commit's digest is the commit, where it is known.
func TestBeginnings(t *testing.T) {
	const full, other = "o/r@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "o/r@9f86d0ffffffffffffffffffffffffffffffffff"
	for name, c := range map[string]struct {
		ids  []string
		want int
	}{
		"alone":                       {[]string{"o/r@9f86d08"}, 1},
		"with the whole":              {[]string{"o/r@9f86d08", full}, 1},
		"two beginnings":              {[]string{"o/r@9f86d08", "o/r@9f86d0818"}, 1},
		"of another":                  {[]string{"o/r@9f86d08", other}, 2},
		"of a fork":                   {[]string{"o/r@9f86d08", "f/r@9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"}, 2},
		"two wholes and a beginning":  {[]string{full, other, "o/r@9f86d081"}, 2},
		"an address that begins so":   {[]string{"https://example.org/a", "https://example.org/a/b"}, 2},
		"a branch that begins so":     {[]string{"github:o/r@main", "github:o/r@main2"}, 2},
		"three aliases of one commit": {[]string{full, "https://github.com/O/R/commit/9f86d081884c7d659a2feaa0c55ad015a3bf4f1b", "github:artifact:" + full}, 1},
	} {
		var claim Claim
		for _, id := range c.ids {
			claim.Roots = append(claim.Roots, Root{ID: id, Type: Repository})
		}
		if got := claim.Sources(); got != c.want {
			t.Errorf("%s: %d sources, not %d", name, got, c.want)
		}
	}
}

// A key comes to itself, whatever comes in.
func FuzzCanonicalRoot(f *testing.F) {
	v := vectors(f)
	for _, same := range v.Same {
		for _, form := range same.Forms {
			f.Add(form)
		}
	}
	for _, apart := range v.Apart {
		for _, form := range apart {
			f.Add(form)
		}
	}
	for _, odd := range []string{"", " ", "\xff", "https://", "https://[::1]:443/a", "github:", "github:a/b@c@d", "mqtt:@", "sensor:#1+2", "opaque:00", "10.", "isbn:", strings.Repeat("a/", 999), "https://%zz", "https://a.b/%2e%2e/c", "arxiv:v1"} {
		f.Add(odd)
	}
	f.Fuzz(func(t *testing.T, id string) {
		key := CanonicalRoot(id)
		if again := CanonicalRoot(key); again != key {
			t.Errorf("%q is %q, which is %q", id, key, again)
		}
		if key == "" {
			t.Errorf("%q has no key", id)
		}
	})
}
