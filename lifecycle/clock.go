package lifecycle

import (
	"time"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/lifecycle/diary"
)

// systemClock tells the time and whether the kernel says that the clock is
// synchronised, which boards without a battery-backed clock lack after a start.
func systemClock() (time.Time, bool) {
	var t unix.Timex
	state, err := unix.Adjtimex(&t)
	const unsynchronised = 0x40 // STA_UNSYNC
	return time.Now(), err == nil && state != unix.TIME_ERROR && t.Status&unsynchronised == 0
}

func localDay(t time.Time, loc *time.Location, dayStartsAt time.Duration) string {
	return diary.LocalDay(t, loc, dayStartsAt)
}
