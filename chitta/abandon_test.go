package chitta_test

import (
	"context"
	"path/filepath"
	"testing"
	"time"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
)

// A backup that is being made while something is taken out is of before: nothing of it is
// left when the taking out is over, and it is made again.
func TestNothingIsLeftOfABackupThatWasUnderWay(t *testing.T) {
	for _, at := range []string{"copy", "check"} {
		t.Run(at, func(t *testing.T) {
			dir := t.TempDir()
			s := open(t, dir, nil)
			doomed := []byte("a quincunx of marigolds")
			mustAppend(t, s, chitta.Entry{Body: fold.SessionOpened{Number: 1}})
			seq := mustAppend(t, s, chitta.Entry{Body: experience(0), Text: &chitta.Text{Body: string(doomed)}})[0].Sequence
			mustAppend(t, s, chitta.Entry{Body: experience(1), Text: text(1)})

			before, tries := s.Meta().Generation, 0
			under, looked, done := make(chan struct{}), make(chan struct{}), make(chan error, 1)
			go func() {
				_, err := s.Backup(context.WithoutCancel(t.Context()), chitta.BackupOptions{Progress: func(stage string, _, _ uint64) {
					if stage != at || s.Meta().Generation != before {
						return
					}
					if tries++; tries > 1 {
						return
					}
					close(under)
					again := time.NewTicker(time.Millisecond)
					defer again.Stop()
					for s.Meta().Generation == before {
						<-again.C
					}
					select { // long enough for who does not wait
					case <-looked:
					case <-time.After(time.Second):
					}
				}})
				done <- err
			}()
			<-under
			if at == "check" && len(holding(t, filepath.Join(dir, "backups"), doomed)) == 0 {
				t.Fatal("nothing of the backup is there while it is made")
			}
			if _, err := s.Excise(t.Context(), chitta.Excision{Sequences: []uint64{seq}}); err != nil {
				t.Fatal(err)
			}
			if found := holding(t, dir, doomed); len(found) > 0 {
				t.Errorf("what was taken out is still in %v", found)
			}
			close(looked)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if list, err := chitta.ListBackups(filepath.Join(dir, "backups")); err != nil || len(list) != 1 || len(holding(t, dir, doomed)) > 0 {
				t.Errorf("%v, %v", list, err)
			}
		})
	}
}
