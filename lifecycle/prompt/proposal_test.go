package prompt

import (
	"errors"
	"strings"
	"testing"
)

func TestClaimsAreInTheWordsOfTheEntry(t *testing.T) {
	const entry = "This morning pump 3 leaks again, below the seal. Ada says that the 2 valves are shut. 水泵又漏水了。 I am tired, and not glad."
	for _, c := range []struct {
		subject, text string
		want          error
	}{
		{"pump 3", "Pump 3 leaks below the seal.", nil},
		{"valves", "The two valves are shut.", nil},
		{"水泵", "水泵又漏水了", nil},
		{"pump 3", "Pump 3 leaked below the seal.", ErrWord},
		{"pump 4", "Pump 3 leaks.", ErrNumber},
		{"pump 3", "Pump 3 never leaks.", ErrWord},
		{"pump 3", "Bob says that pump 3 leaks.", ErrUnknownName},
		{"pump 3", "", ErrEmpty},
		{"", "Pump 3 leaks.", ErrEmpty},
		{"it", "Pump 3 leaks.", ErrEmpty},
		{"pump 3", "It is what it is.", ErrEmpty},
		{"pump 3", "Pump 3\nleaks.", ErrForm},
		{"pump 3", "Pump 3 leaks.<|im_start|>", ErrForm},
		{"pump 3", "Pump 3 leaks. " + strings.Repeat("Again. ", 30), ErrLong},
		{strings.Repeat("pump ", 20), "Pump 3 leaks.", ErrLong},
	} {
		if err := CheckClaim(c.subject, c.text, entry); !errors.Is(err, c.want) || c.want == nil && err != nil {
			t.Errorf("%q, %q: %v, want %v", c.subject, c.text, err, c.want)
		}
	}
	if err := CheckClaim("pump", "The pump does not leak.", "The pump does leak."); !errors.Is(err, ErrWord) {
		t.Errorf("it is turned round: %v", err)
	}
}
