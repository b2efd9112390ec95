package lifecycle

import (
	"errors"

	"github.com/jivad/jivad/chitta"
)

// What a companion can refuse.
var (
	// ErrEmpty: there is nothing to remember in the text.
	ErrEmpty = errors.New("nothing to remember: the text is empty")
	// ErrTooLong: the text is longer than MaxNote.
	ErrTooLong = errors.New("the text is longer than 1 MB; split it into entries")
	// ErrDate: a date is not YYYY-MM-DD.
	ErrDate = errors.New("the date is not YYYY-MM-DD")
	// ErrUnjudged: the models gave nothing usable for an entry.
	ErrUnjudged = errors.New("the entry could not be embedded or judged")
	// ErrEmbedderAway: what needs a vector cannot be done, because the embedder is away.
	// No entry that was refused so is kept.
	ErrEmbedderAway = errors.New("the embedder is away; try again when it is back")
	// ErrWithdrawn: the person withdrew leave for what waited to be taken in, and nothing of
	// it is kept.
	ErrWithdrawn = errors.New("not kept: leave for what is of its kind was withdrawn while it waited")
	// ErrEmbedder: the store's vectors are by another embedder than the configured one.
	ErrEmbedder = chitta.ErrEmbedder
	// ErrUnread: an embedder gave no vector for some entries.
	ErrUnread = errors.New("the embedder gave no vector")
	// ErrNotFound: nothing goes by that name.
	ErrNotFound = chitta.ErrNotFound
	// ErrAmbiguous: the beginning of an id fits more than one.
	ErrAmbiguous = errors.New("more than one id begins so; give more of it")
	// ErrQuery: a question cannot be answered as it was put.
	ErrQuery = errors.New("the question cannot be answered")
	// ErrNoSession: there is no open session.
	ErrNoSession = errors.New("no session is open: one begins with the next entry")
	// ErrStopping: the companion is being closed.
	ErrStopping = errors.New("the companion is stopping")
	// ErrMissing: the store is not there, and there was one.
	ErrMissing = chitta.ErrMissing
	// ErrDamaged: bytes of the store are not those that were written.
	ErrDamaged = chitta.ErrDamaged
	// ErrCopying: a backup is being made already.
	ErrCopying = chitta.ErrCopying
	// ErrClosed: the companion was closed.
	ErrClosed = chitta.ErrClosed
)

// MaxNote is the longest text of one note in bytes.
const MaxNote = 1 << 20
