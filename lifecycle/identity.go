package lifecycle

import (
	"crypto/sha256"
	"encoding/hex"
	"time"

	"github.com/jivad/jivad/chitta/fold"
)

// eventID makes the id of an entry from what makes it the same entry: a UUIDv7
// whose time is the entry's day and whose random part comes from its key. The
// same diary therefore gives the same store, however it came in. again counts
// the entries that had this id before and were edited into something else.
func eventID(date string, key fold.Key, again int) fold.ID {
	var id fold.ID
	var milliseconds uint64
	if t, err := time.Parse(time.DateOnly, date); err == nil && t.UnixMilli() > 0 {
		milliseconds = uint64(t.UnixMilli())
	}
	for i := range 6 {
		id[i] = byte(milliseconds >> (40 - 8*i))
	}
	sum := sha256.Sum256(append(append([]byte("jivad/event/1"), key[:]...), byte(again)))
	copy(id[6:], sum[:10])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return id
}

func formatID(id fold.ID) string {
	h := hex.EncodeToString(id[:])
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
