package ledger

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"

	bolt "go.etcd.io/bbolt"
)

// ErrPages: pages of the database file are not as they were written.
var ErrPages = errors.New("pages of the file are damaged")

// Guard calls f, which opens the database or reads or writes its pages. bbolt
// believes what stands in a page: damage shows as a panic, or as a look at
// memory that is not there. Either becomes ErrPages.
func Guard(f func() error) (err error) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		switch r := recover().(type) {
		case nil:
		case runtime.Error:
			err = fmt.Errorf("%w: they lead to where nothing is", ErrPages)
		default:
			err = fmt.Errorf("%w: %v", ErrPages, r)
		}
	}()
	return f()
}

// Viewer gives read transactions: a database, or a store whose database may be
// replaced.
type Viewer interface {
	View(f func(*bolt.Tx) error) error
}

// View is a guarded read transaction. f does nothing but read: a fault of its
// own would be taken for one of the pages.
func View(db Viewer, f func(*bolt.Tx) error) error {
	return Guard(func() error { return db.View(f) })
}

// Updater gives write transactions.
type Updater interface {
	Update(f func(*bolt.Tx) error) error
}

// Update is a guarded write transaction.
func Update(db Updater, f func(*bolt.Tx) error) error {
	return Guard(func() error { return db.Update(f) })
}
