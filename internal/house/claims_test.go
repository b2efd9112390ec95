package house

import "testing"

// What lives leave behind, and what comes of it from other devices, makes no claims: no room
// of the lineage reaches those of evidence.
func TestTheLineageMakesNoClaims(t *testing.T) {
	for _, room := range []string{"soul/lineage", "lifecycle/distil", "lifecycle/lives", "lifecycle/projection", "sync", "sync/hub"} {
		if _, known := arrows[room]; !known {
			t.Errorf("there is no room %s", room)
		}
		seen := map[string]bool{}
		var reach func(string)
		reach = func(from string) {
			if seen[from] {
				return
			}
			seen[from] = true
			for _, to := range arrows[from] {
				reach(to)
			}
		}
		reach(room)
		if seen["lifecycle/claims"] || seen["gate/evidence"] {
			t.Errorf("%s reaches claims", room)
		}
	}
}
