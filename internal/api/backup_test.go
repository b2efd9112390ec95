package api

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/jivad/jivad/lifecycle"
)

var (
	copied  = lifecycle.BackupReport{Path: "/x/a.db", Automatic: true, Taken: when, Records: 9, Written: &when, Texts: 4, Bytes: 4096, Removed: []string{"/x/b.db"}, Seconds: 0.5}
	copies  = []lifecycle.BackupFile{{Path: "/x/a.db", Automatic: true, Taken: when, Records: 9, Bytes: 4096, OK: true}, {Path: "/x/c.db", Problem: "damaged"}}
	toBack  = asked{"backup", func(ctx context.Context, c Companion) (any, error) { return c.Backup(ctx, "/x/a.db", nil) }, copied}
	ofBacks = asked{"backups", func(ctx context.Context, c Companion) (any, error) { return c.Backups(ctx) }, copies}
)

func (f *fake) Backup(ctx context.Context, file string, progress func(lifecycle.Progress)) (lifecycle.BackupReport, error) {
	f.id = file
	progress(lifecycle.Progress{Done: 9, Total: 9, Stage: "check"})
	return copied, f.work(ctx)
}
func (f *fake) Backups(context.Context) ([]lifecycle.BackupFile, error) { return copies, f.err }

func TestABackupIsAskedForByAnAbsolutePath(t *testing.T) {
	f := &fake{}
	_, client := serve(t, f)
	var stages []string
	for _, file := range []string{"", "/x/ü b.db"} {
		if _, err := client.Backup(t.Context(), file, func(p lifecycle.Progress) { stages = append(stages, p.Stage) }); err != nil || f.id != file {
			t.Errorf("asked for %q: %q %v", file, f.id, err)
		}
	}
	if len(stages) != 2 {
		t.Errorf("told %v", stages)
	}
	if _, err := client.Backup(t.Context(), "b.db", nil); !errors.Is(err, lifecycle.ErrQuery) {
		t.Errorf("a relative path: %v", err)
	}
	r := httptest.NewRequest(http.MethodPost, "/api/v1/backups", strings.NewReader(`{"fil":"x"}`))
	r.Header.Set("Content-Type", "application/json")
	w := httptest.NewRecorder()
	NewHandler(f).ServeHTTP(w, r)
	if w.Code != http.StatusBadRequest {
		t.Errorf("an unknown field: %d %s", w.Code, w.Body)
	}
}
