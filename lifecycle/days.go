package lifecycle

import (
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/lives"
)

// A session, and the life that is lived in it, end when a new day begins. A clock that is
// set, by ten years or by two minutes, makes no new day: boards without a battery for their
// clock begin every time in the past. Whether the clock was set is told by comparing it
// with the time that really passed. What was going on then goes on, in the day that the
// clock shows after that, until that day is over.

// setBy is how far the clock is from the time that passed since it was read last when it
// was set, and not only slow or fast.
const setBy = time.Minute

// dayClock is the wall clock as it was read last.
type dayClock struct {
	mu   sync.Mutex
	wall time.Time
	ran  time.Duration
	// set is what it showed when it had been set last, and setRan when that was seen.
	set    time.Time
	setRan time.Duration
	// life is when the life that is lived was born.
	life time.Duration
}

// read notes the time, and whether the clock was set since it was read last.
func (d *dayClock) read(wall time.Time, ran time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	wall = wall.Round(0) // by the wall clock alone
	off := wall.Sub(d.wall) - (ran - d.ran)
	if !d.wall.IsZero() && (off > setBy || off < -setBy) {
		d.set, d.setRan = wall, ran
	}
	d.wall, d.ran = wall, ran
}

// since is the time from which the day of something counts that began at a time.
func (d *dayClock) since(began time.Time, ran time.Duration) time.Time {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.set.IsZero() && d.setRan >= ran {
		return d.set
	}
	return began
}

// readClock reads the clock, and gives the time that the program has run.
func (c *Companion) readClock() time.Duration {
	now, _ := c.opts.Now()
	ran := c.opts.Running()
	c.days.read(now, ran)
	return ran
}

// sessionDay is the day of a session that is open, as the clock is set now.
func (c *Companion) sessionDay(s fold.Session) string {
	c.readClock()
	if at := c.days.since(time.Time{}, c.life.began); !at.IsZero() {
		return localDay(at, c.opts.Location, c.opts.DayStartsAt)
	}
	return s.Date
}

// lifeDay is the day of a life that is lived, as the clock is set now, where a day begins
// at a time of day.
func (c *Companion) lifeDay(l lives.Life, at time.Duration) string {
	c.readClock()
	c.days.mu.Lock()
	born := c.days.life
	c.days.mu.Unlock()
	return localDay(c.days.since(l.Born.Time, born), c.opts.Location, at)
}

// bornNow notes that a life was born.
func (d *dayClock) bornNow(ran time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.life = ran
}

// runningSince gives a clock that only goes forward, also while the machine sleeps.
func runningSince(start time.Time) func() time.Duration {
	before := asleep()
	return func() time.Duration { return time.Since(start) + asleep() - before }
}

// asleep is how long the machine slept since it was started.
func asleep() time.Duration {
	var boot, awake unix.Timespec
	if unix.ClockGettime(unix.CLOCK_BOOTTIME, &boot) != nil || unix.ClockGettime(unix.CLOCK_MONOTONIC, &awake) != nil {
		return 0
	}
	return time.Duration(boot.Nano() - awake.Nano())
}
