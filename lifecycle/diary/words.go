package diary

import (
	"strings"

	"golang.org/x/text/unicode/norm"
)

// fold makes a word comparable with the tables below: small letters, composed.
func fold(word string) string { return norm.NFC.String(strings.ToLower(word)) }

// months are the names and usual short forms in English, German, French,
// Spanish, Italian, Portuguese and Dutch.
var months = table(
	"january jan januar jänner jän janvier janv enero ene gennaio gen janeiro januari",
	"february feb februar feber février fevrier févr fév fevr febrero febbraio fevereiro fev februari",
	"march mar märz maerz mär mrz mars marzo março marco maart mrt",
	"april apr avril avr abril abr aprile",
	"may mai mayo maggio mag maio mei",
	"june jun juni juin junio giugno giu junho",
	"july jul juli juillet juil julio luglio lug julho",
	"august aug août aout agosto ago augustus",
	"september sep sept septembre septiembre setiembre settembre set setembro",
	"october oct oktober okt octobre octubre ottobre ott outubro out",
	"november nov novembre noviembre novembro",
	"december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro",
)

func table(rows ...string) map[string]int {
	m := make(map[string]int)
	for i, row := range rows {
		for _, w := range strings.Fields(row) {
			m[w] = i + 1
		}
	}
	return m
}

func set(words string) map[string]bool {
	m := make(map[string]bool)
	for _, w := range strings.Fields(words) {
		m[w] = true
	}
	return m
}

var (
	// weekdays may stand beside a date; which one it is does not matter.
	weekdays = set(`
		monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat sun
		montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag mo di mi do fr sa so
		lundi mardi mercredi jeudi vendredi samedi dimanche lun mer jeu ven sam dim
		lunes martes miércoles miercoles jueves viernes sábado sabado domingo mar mié mie jue vie sáb sab dom
		lunedì lunedi martedì martedi mercoledì mercoledi giovedì giovedi venerdì venerdi domenica gio
		segunda-feira terça-feira terca-feira quarta-feira quinta-feira sexta-feira segunda terça quarta quinta sexta seg ter qua qui sex
		maandag dinsdag woensdag donderdag vrijdag zaterdag zondag ma wo vr za zo
		月曜日 火曜日 水曜日 木曜日 金曜日 土曜日 日曜日 月曜 火曜 水曜 木曜 金曜 土曜 日曜 月 火 水 木 金 土 日
		星期一 星期二 星期三 星期四 星期五 星期六 星期日 星期天 周一 周二 周三 周四 周五 周六 周日 週一 週二 週三 週四 週五 週六 週日`)
	articles  = set("the den der am le el il o a de")
	particles = set("de del di of do des d")
	ordinals  = set("st nd rd th er e ère º ª")
)
