package vasana

import (
	"strings"
	"sync"

	"golang.org/x/text/cases"
)

// The lists hold what is common in diaries and says nothing about what a
// cluster is about. Words are folded (ss for ß) and stand between white space.

// stopWords is the table of all of them, made once and never written to again.
var stopWords = sync.OnceValue(func() map[string]bool {
	words := map[string]bool{}
	for _, list := range []string{calendar, stopEnglish, stopGerman, stopFrench, stopSpanish} {
		for _, word := range strings.Fields(list) {
			words[cases.Fold().String(word)] = true
		}
	}
	return words
})

// commonHan says whether a character is a numeral, a part of a date or a
// particle: a pair with one of them is no term.
func commonHan(r rune) bool { return strings.ContainsRune(stopHan, r) }

const stopHan = "〇零一二三四五六七八九十百千萬万廿卅両兩年月日時时刻午朔晦" +
	"之乎者也而其於于以為为不有無无所與与則则且乃亦若如何是此彼焉矣哉耳又即既皆自從从可得" +
	"的了在我你他她它们們這这那个個和就都要会會上下中前後后至里裡"

// Months and weekdays, in full, cut short, and in old spellings.
const calendar = ` january february march april may june july august september october november december
 jan janu janr janry feb feby febr febry mar apr apl aprl jun jul aug augt sep sept septr septbr oct octr octob octobr octbr nov novr novb novbr dec decr decb decbr decembr novembr septembr
 monday tuesday wednesday thursday friday saturday sunday mon tue tues wed weds wednes thu thur thurs fri sat satur sun mondays tuesdays wednesdays thursdays fridays saturdays sundays
 januar jänner jenner februar feber märz maerz mai juni juli oktober dezember okt dez
 montag dienstag mittwoch donnerstag freitag samstag sonnabend sonntag
 janvier février fevrier mars avril juin juillet août aout septembre octobre novembre décembre decembre janv févr fevr juil déc
 lundi mardi mercredi jeudi vendredi samedi dimanche
 enero febrero marzo abril mayo junio julio agosto septiembre setiembre octubre noviembre diciembre ene abr ago dic
 lunes martes miércoles miercoles jueves viernes sábado sabado domingo `

const stopEnglish = ` the and for but even whilst amid per not are was were been being has had have having did does doing done will would shall should can could may might must
 you your yours him his her hers she its our ours their theirs them they who whom whose which what that this these those there here where when why how
 all any both each few more most other others some such nor only own same than too very just also now then once again still yet ever never always often
 with without within into onto upon from over under above below between among amongst about against during before after until till since while because though although through
 off out down away back near far round around along across beyond behind beside besides towards toward
 one two three four five six seven eight nine ten twenty thirty hundred first second third last next half
 much many little less least great good bad well better best quite rather almost nearly perhaps enough however therefore indeed thus hence else
 get gets got getting give gave given giving make makes made making take takes took taken taking come comes came coming going goes gone went put set let lay
 see saw seen seeing look looked looking know knew known think thought say says said saying tell told ask asked find found feel felt seem seems seemed keep kept left leave
 day days today yesterday tomorrow night nights morning evening afternoon noon midnight hour hours minute minutes week weeks month months year years time times clock oclock
 thing things something nothing anything everything someone everyone nobody man men people way ways sort kind lot bit part place
 yes oh don didn doesn won wouldn couldn shouldn isn aren wasn weren hasn hadn haven ain can cannot ll ve re
 mr mrs miss dr sir etc viz ditto chapter footnote illustration note page vol
 himself herself itself myself yourself ourselves themselves me my mine we us he it in on at by to of as is be if or so no an am do up go
 like long short old new early late soon already home house began begin begun want wanted use used try tried thence whence hath doth thou thee thy thine ye unto
 able another away either neither every several large small high low right wrong full whole end turn turned work per cent towards herewith heard hear read wrote write brought bring called call ought
 walked walk sat sate stood stand stayed stay dined dinner met slept bed supper breakfast tea rose fine cold pretty afterwards really latter former presently `

const stopGerman = ` der die das den dem des ein eine einer eines einem einen kein keine keiner keinen keinem und oder aber doch nicht noch nur auch schon sehr mehr viel viele wenig
 ich mich mir mein meine meiner meinem meinen meines dich dir dein deine sich sie ihr ihre ihren ihrem ihrer ihn ihm ihnen uns unser unsere euch wir man wer was wie wann warum welche welcher welches
 ist sind war waren bin bist sein seine seiner seinem seinen seines gewesen wird werden wurde wurden worden hat habe haben hatte hatten hast habt hätte wäre würde kann konnte können könnte muss musste muß mußte müssen soll sollte sollen will wollte wollen darf mag möchte
 mit von vom bei beim nach aus auf für über unter durch gegen ohne vor zum zur zwischen während bis seit wegen ins ans
 dass daß weil wenn als dann denn damit dieser diese dieses diesem diesen jener jene jenes jeder jede jedes alle alles allem allen allein andere anderen anderer etwas nichts
 hier dort dann nun jetzt immer wieder heute gestern morgen abend abends nachmittag vormittag früh nacht tag tage tagen uhr stunde stunden woche jahr jahre zeit mal einmal
 ging gehen geht kam kommen kommt gab geben machte machen gemacht sagte sagen sagt gesagt sah sehen steht ganz gut gar sogar wohl fast eben also über herr frau dabei darüber daran davon dazu dass selbst zwei drei vier
 muss heisst heißt dasselbe zusammen gegangen gekommen gesehen gegessen ferner später `

const stopFrench = ` les des une aux dans par pour sur sous avec sans chez entre vers depuis pendant avant après apres contre jusque jusqu
 est sont était etait étaient été ete être etre suis sommes serait sera fut furent avoir avait avaient ont avons avez ayant eut eût aura aurait fait faire faisait fit
 que qui quoi quel quelle quels quelles dont où lorsque quand comme comment parce puisque puis donc mais car ainsi alors aussi bien très tres trop peu plus moins tout toute tous toutes même meme mêmes encore toujours jamais rien pas non oui
 elle elles nous vous ils leur leurs lui eux moi toi soi mon mes ton tes son ses notre nos votre vos cet cette ces celui celle ceux celles cela ceci
 aujourd hui hier demain matin soir soirée nuit jour jours journée heure heures semaine mois année annees ans temps fois
 dit dire disait disant voir vu vient venir venu aller allait allé peut pouvait pouvoir veut voulait doit devait faut fallait met mettre prend prendre
 deux trois quatre cinq autre autres quelque quelques chose choses homme femme monsieur madame grand grande petit petite lequel laquelle bout coup plein `

const stopSpanish = ` los las una unos unas del con por para sin sobre entre hasta desde hacia según segun contra ante bajo tras
 que quien quienes cual cuales cuando como donde porque pues pero mas más sino aunque también tambien tan tanto muy mucho mucha muchos muchas poco poca pocos todo toda todos todas otro otra otros otras mismo misma cada algo nada
 está esta este esto estos estas ese esa eso esos esas aquel aquella aquellos ser era eran fue fueron sido siendo son estaba estaban estar haber había habia habían habian hay han hemos hube hubo tener tenía tenia tiene tienen hacer hizo hecho
 ella ellos ellas nos nosotros les sus suyo nuestro nuestra nuestros nuestras
 hoy ayer mañana manana tarde noche día dia días dias hora horas semana mes año ano años tiempo vez veces luego después despues antes siempre nunca
 dos tres cuatro cinco uno así asi bien aquí aqui allí alli dijo decir dió dio dar ver ido ir salió llegó `
