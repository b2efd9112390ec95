package fold

import "fmt"

// sound refuses a state whose parts do not fit together: what it leads to would
// not be there.
func (s *State) sound() error {
	within := func(what string, indices []uint32) error {
		for _, i := range indices {
			if int64(i) >= int64(len(s.Impressions)) {
				return fmt.Errorf("%w: %s leads to impression %d of %d", ErrDecode, what, i, len(s.Impressions))
			}
		}
		return nil
	}
	if n := len(s.Session.Sum); n != 0 && n != s.Dim || n == 0 && s.Session.Number > 0 && s.Dim > 0 {
		return fmt.Errorf("%w: the sum of a session has %d dimensions, not %d", ErrDecode, n, s.Dim)
	}
	if err := within("the context of a session", s.Session.Context); err != nil {
		return err
	}
	for i := range s.Links {
		if err := within("a link", s.Links[i].Acted); err != nil {
			return err
		}
	}
	return nil
}
