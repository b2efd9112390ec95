package distil_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/text/cases"
	"golang.org/x/text/unicode/norm"

	"github.com/jivad/jivad/lifecycle/distil"
	"github.com/jivad/jivad/soul/lineage"
)

// canaryNames are in the config.
var canaryNames = []string{
	"Zinaida Quellmalz", "Jürgen Þórsson", "Oluwaseun Adébáyò", "Søren Kjærgaard", "Marie-Claire Vaugirard", "Žofie Dvořáková", "Giuseppina Lombroso",
	"Xóchitl Hernández", "Мстислав Велеславов", "Ярослава Гончаренко", "عبدالرحمن الحسيني", "زينب القاسمي", "अनुराधा चतुर्वेदी", "विक्रमादित्य सिंघानिया",
	"欧阳修远", "司马相如", "高橋美智子", "สมหญิง", "김민서준", "Παναγιώτης Ξανθόπουλος",
}

// canaries are a hundred details of a life. None may be in what is left of it.
func canaries() []string {
	out := slices.Clone(canaryNames)
	for i := range 15 {
		out = append(out, []string{"canary%d.mail@example.com", "kanarie%d@пример.рф", "c%d+tag@sub.example.co.uk"}[i%3])
		out[len(out)-1] = fmt.Sprintf(out[len(out)-1], i)
	}
	for i := range 15 {
		out = append(out, fmt.Sprintf([]string{"+43 664 70%02d 113", "0664/70%02d113", "(0512) 70 %02d 11", "+1-555-01%02d-7", "٠١٢٣٤٥٦٧%02d"}[i%5], i))
	}
	for i := range 15 {
		out = append(out, fmt.Sprintf([]string{"Quellenstraße %d", "%d Larkspur Lane", "улица Тополиная %d", "12 rue des Lilas %d", "中山路%d号"}[i%5], 31+i))
	}
	return append(out,
		"lanterns drift above orchards", "seven herons crossed silently", "grandmother hid emerald buttons", "thunder ruined our picnic", "velvet curtains smelled mouldy",
		"бабушка спрятала изумрудные пуговицы", "гроза испортила наш пикник", "семь цапель пролетели молча", "бархатные шторы пахли плесенью", "фонари плывут над садами",
		"الجدة أخفت الأزرار الزمردية", "الرعد أفسد نزهتنا الجميلة", "سبعة طيور عبرت بصمت", "الستائر المخملية رائحتها عفنة", "فوانيس تطفو فوق البساتين",
		"दादी ने हरे बटन", "आंधी ने पिकनिक बिगाड़ी", "सात बगुले चुपचाप गुज़रे", "मखमली परदे बदबूदार थे", "लालटेन बागों पर तैरते",
		"祖母把翡翠纽扣藏起来", "雷雨毁了我们的野餐", "七只苍鹭静静飞过去", "天鹅绒窗帘有霉味了", "灯笼漂浮在果园上空",
		"おばあさんがボタンを隠した", "雷でピクニックが台無しだ", "七羽のサギが静かに渡った", "ビロードのカーテンがかび臭い", "ランタンが果樹園の上を漂う",
		"คุณยายซ่อนกระดุมมรกต", "ฟ้าร้องทำลายปิกนิกของเรา", "นกกระสาเจ็ดตัวบินผ่าน", "ม่านกำมะหยี่มีกลิ่นอับ", "โคมไฟลอยเหนือสวนผลไม้",
	)
}

var canaryTools = map[string]distil.Tool{
	"fare":   {Arguments: map[string][]string{"way": {"indexed", "nested"}}},
	"send":   {Arguments: map[string][]string{"whom": nil, "what": nil, "mode": {"now", "later"}}},
	"lookup": {Arguments: map[string][]string{"query": nil}},
	"list":   {},
}

// canaryLife is a life in which a detail is everywhere, and works, and fails.
func canaryLife(detail string) distil.Trace {
	call := func(outcome, result, tool string, args ...string) distil.Act {
		a := distil.Act{Kind: distil.Call, Tool: tool, Outcome: outcome, Result: result}
		for i := 0; i < len(args); i += 2 {
			a.Arguments = append(a.Arguments, distil.Text(args[i], args[i+1]))
		}
		return a
	}
	inJSON, _ := json.Marshal(map[string]string{"who": detail})
	compact := strings.Join(strings.Fields(detail), "_")
	return distil.Trace{Acts: []distil.Act{
		{Kind: distil.Seen, Text: "A diary, on " + detail + ", and more."},
		call(distil.OK, "known: indexed, "+detail, "list"),
		call(distil.Failed, "no "+detail, "fare", "way", "nested"),
		call(distil.OK, string(inJSON), "fare", "way", "indexed"),
		call(distil.Failed, "", "send", "whom", "none", "what", "x", "mode", "now"),
		call(distil.OK, "sent to "+detail, "send", "whom", detail, "what", compact, "mode", "later"),
		call(distil.OK, "", "lookup", "query", detail), call(distil.Failed, "", "lookup", "query", "zzz"),
		call(distil.OK, "", "lookup", "query", compact), call(distil.Failed, "", "lookup", "query", strings.ToUpper(detail)),
		call(distil.OK, "", detail, "way", detail), call(distil.Failed, "", "fare", detail, detail),
		{Kind: distil.Said, Text: "shorter, and " + detail + " this helped"},
	}}
}

// plain is text in which a detail is found however it is written.
func plain(text string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(cases.Fold().String(norm.NFKC.String(text))) {
		if norm.NFKD.PropertiesString(string(r)).CCC() == 0 && !strings.ContainsRune(" _-.,;:'\"()[]{}/\u200b\u00ad", r) {
			b.WriteRune(r)
		}
	}
	return b.String()
}

// traces are the forms in which a detail would be seen to have survived.
func surviving(out, detail string) string {
	forms := []string{detail, base64.StdEncoding.EncodeToString([]byte(detail)), hex.EncodeToString([]byte(detail))}
	for _, word := range strings.Fields(detail) {
		if len([]rune(word)) > 3 {
			forms = append(forms, word)
		}
	}
	for _, form := range forms {
		if strings.Contains(plain(out), plain(form)) {
			return form
		}
	}
	return ""
}

// liar is a model that puts a detail into everything that it says, each time in another way.
type liar struct {
	detail string
	ways   int
	called int
}

func (l *liar) Propose(_ context.Context, task distil.Task) (out []distil.Proposal, _ error) {
	l.called++
	x := l.detail
	half := strings.Fields(x)[0]
	forms := []string{
		x, strings.ToUpper(x), strings.ReplaceAll(x, " ", "_"), strings.ReplaceAll(x, " ", ", "), strings.Join(strings.Split(x, ""), "\u200b"),
		strings.Join(strings.Split(x, ""), " "), norm.NFD.String(x), wide(x), base64.StdEncoding.EncodeToString([]byte(x)), hex.EncodeToString([]byte(x)),
		half, half + "s", half + "-like", "as " + half + " does", strings.ReplaceAll(strings.ReplaceAll(x, "@", " at "), ".", " dot "),
		strings.ReplaceAll(x, "o", "о"), "ñ" + x, strings.Map(func(r rune) rune {
			if r == 'a' {
				return 'á'
			}
			return r
		}, x),
	}
	for _, e := range task.Exemplars {
		for i, form := range forms {
			p := distil.Proposal{Key: e.Key, Exemplar: e.Ref, Guidance: e.Scope + ": " + strings.TrimSpace(e.Choice+" "+form)}
			switch (i + l.called) % 6 {
			case 0:
				p.Guidance = e.Scope + ": " + form
			case 1:
				p.Key = "tool." + strings.ToLower(strings.ReplaceAll(form, " ", "_"))
			case 2:
				p.Guidance = e.Scope + ", " + form + ": " + e.Choice
			case 3:
				p.Guidance = e.Scope + ": " + e.Choice + ", that is " + form
			case 4:
				p.Exemplar = []int{0, -1, 99, e.Ref}[i%4]
			}
			out = append(out, p)
		}
	}
	l.ways += len(out)
	slices.Reverse(out[:len(out)/2])
	return out, nil
}

// wide writes ASCII as the wide letters of East Asia.
func wide(text string) string {
	return strings.Map(func(r rune) rune {
		if r > ' ' && r <= '~' {
			return r - '!' + '！'
		}
		return r
	}, text)
}

// A hundred details, each everywhere in a life: none is in what comes out, by rules or
// by a model that tries to get them out, judged well or badly (S-1). And the rules that
// have nothing to do with them are there.
func TestNoCanarySurvives(t *testing.T) {
	all := canaries()
	if len(all) != 100 {
		t.Fatalf("%d canaries", len(all))
	}
	kept, ways := 0, 0
	for i, detail := range all {
		if testing.Short() && i%5 != 0 {
			continue
		}
		trace := canaryLife(detail)
		for _, valence := range []int64{lineage.Million, -lineage.Million} {
			d := distil.Distiller{Tools: canaryTools, Names: canaryNames, Secret: secret(i)}
			for way := range 3 {
				var rules []lineage.Disposition
				var report distil.Report
				var err error
				model := &liar{detail: detail}
				switch way {
				case 0:
					rules, report, err = d.Distil(trace, rated(valence))
				case 1:
					rules, report, err = d.Write(t.Context(), model, trace, rated(valence))
				case 2: // without a declaration there is nothing but the checks
					d.Tools = nil
					rules, report, err = d.Distil(trace, rated(valence))
				}
				if err != nil {
					t.Fatal(err)
				}
				ways += model.ways
				told := told(rules)
				counts, _ := json.Marshal(report)
				if form := surviving(told+string(counts), detail); form != "" {
					t.Errorf("%q of %q came through in way %d:\n%s\n%s", form, detail, way, told, counts)
				}
				if kept += len(rules); valence > 0 && way < 2 && !strings.Contains(told, "tool.fare 1000000 1000000 tool fare, argument way: indexed") {
					t.Errorf("with %q nothing is learned: %s", detail, told)
				}
			}
		}
	}
	if least := 600; !testing.Short() && (kept < least || ways < 10*least) {
		t.Errorf("%d rules and %d lies: too few to tell", kept, ways)
	}
}
