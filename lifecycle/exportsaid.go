package lifecycle

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/jivad/jivad/chitta"
	"github.com/jivad/jivad/chitta/fold"
	"github.com/jivad/jivad/lifecycle/export"
	"github.com/jivad/jivad/lifecycle/prompt"
)

// exportSaid adds what a model said, where a value is that: names of tendencies and the
// words of the last session, without which SOUL.md would come out otherwise.
func exportSaid(v chitta.Value, out *export.Heritages) error {
	switch id, isName := strings.CutPrefix(v.Name, prefixName); {
	case isName:
		var n modelName
		if err := unmarshal(v.Name, v.Data, &n); err != nil || n.Name == "" {
			return err
		}
		out.Called = append(out.Called, export.Called{
			ID: id, Name: n.Name, By: n.By, Members: exportIDs(n.Members), Count: n.Count, Sources: exportIDs(n.Sources),
		})
	case v.Name == valueVoice:
		var said voice
		if err := unmarshal(v.Name, v.Data, &said); err != nil {
			return err
		}
		out.Voice = &export.Voice{Session: said.Session, Digest: said.Digest, Text: said.Text, By: said.By}
	}
	return nil
}

func exportIDs(ids []byte) []string {
	out := []string{}
	for k := range slices.Chunk(ids, 16) {
		out = append(out, export.ID(fold.ID(k)))
	}
	return out
}

// importSaid is what [exportSaid] took out. A name must be one that a model could have
// given: short plain text on one line.
func importSaid(from *export.Folder) ([]chitta.Value, error) {
	var out []chitta.Value
	for _, x := range from.Called() {
		n := modelName{Name: x.Name, By: x.By, Count: x.Count}
		if err := prompt.CheckName(x.Name, []string{x.Name}, nil); err != nil {
			return nil, fmt.Errorf("%w: a name of a model: %w", export.ErrLine, err)
		}
		var err error
		if n.Members, err = importIDs(x.Members); err != nil {
			return nil, err
		}
		if n.Sources, err = importIDs(x.Sources); err != nil {
			return nil, err
		}
		v, err := n.value(x.ID)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	if x := from.Voice(); x != nil {
		data, err := json.Marshal(voice{Session: x.Session, Digest: x.Digest, Text: x.Text, By: x.By})
		if err != nil {
			return nil, err
		}
		out = append(out, chitta.Value{Name: valueVoice, Data: data})
	}
	return out, nil
}

func importIDs(list []string) ([]byte, error) {
	var out []byte
	for _, s := range list {
		id, err := export.ParseID(s)
		if err != nil {
			return nil, fmt.Errorf("what a model named: %w", err)
		}
		out = append(out, id[:]...)
	}
	return out, nil
}
