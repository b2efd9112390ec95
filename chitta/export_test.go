package chitta

import "context"

// RetraceNarrowly is Retrace with other bounds: how many neighbours are kept
// beyond those that are read, and in how many bytes.
func (s *Store) RetraceNarrowly(ctx context.Context, spare, room int) (*Retracing, error) {
	return s.retrace(ctx, spare, room, nil)
}

// SealedText is a text as it stands under its key in a store's file.
func SealedText(key, data []byte) []byte { return seal(bucketTexts, key, data) }

// Aheads is how many groups were folded ahead.
func (s *Store) Aheads() int64 { return s.aheads.Load() }
