package manifest

import (
	"fmt"
	"strings"
)

// Generate writes the manifest of a new companion: every key with what it is for and its
// default, and an example of a tool of each kind, all commented out. Read, it is [Default].
func Generate() string {
	var out strings.Builder
	out.WriteString(`# The manifest: what the next life of the companion is born with. A change here changes
# no life that has begun. Every key is here with its default. To change one, take the #
# before it away; what begins with "# " only explains.
`)
	defaults := Default()
	for _, s := range sections {
		if s.name != "" {
			out.WriteString("\n" + comment(s.about) + "[" + s.name + "]\n")
		}
		for _, k := range keys() {
			if k.section() == s.name && k.about != "" {
				fmt.Fprintf(&out, "\n%s#%s = %s\n", comment(k.about), k.leaf(), show(k.field(&defaults)))
			}
		}
	}
	out.WriteString(signalsText)
	out.WriteString(toolsText)
	return out.String()
}

func comment(text string) string {
	return "# " + strings.ReplaceAll(text, "\n", "\n# ") + "\n"
}

// signalsText explains the satisfaction model.
const signalsText = `
# How much each signal says of how content you are, from -1 to 1, in your own judgement:
# said.* is what you say, task.* what a check of yours says of the outcome, seen.* what is
# inferred from what you do. Signals stay on this device. Where you rate a life (jivad
# rate), your rating alone counts.
[distillation.signals]
#"said.helped" = 1.0
#"said.ask_less" = -0.5
#"task.done" = 0.5
#"seen.asked_again" = -0.5
`

// toolsText explains grants and tools, with an example of each kind.
const toolsText = `
# Tools are what the companion may do besides thinking. There are none unless you declare
# them here. Each one is:
#   name         what it is called: lower-case letters, digits and _
#   description  what the model is told of it
#   consequence  how grave its use is: low, medium or high
#   arguments    the JSON schema of its arguments, as a text or as a table; without it
#                the tool takes none. A call with any other argument is refused.
# and exactly one of the tables exec, http, mqtt and read. {{name}} stands for an argument.
# time_limit ("10ms" to "10m", "10s" where it is not there) and output_limit (bytes, 65536
# where it is not there) bound a use.
#
# A tool is used only if it is granted too:
#   capability   a kind ("read") for all tools of it, or a kind and a name ("exec.say")
#   within       a JSON schema that narrows the arguments; without it they are as declared

# exec runs a program, without a shell, in an empty folder of its own.
#   argv         the program with its whole path, then its arguments. A value becomes
#                exactly one argument; {{-name}} is one that may begin with a hyphen.
#                Shells and programs that are known to run what they are given get no
#                value that they could run; of others, and of your scripts, see to that.
#[[grants]]
#capability = "exec.say"
#[grants.within.properties.text]
#maxLength = 100
#[[tools]]
#name = "say"
#description = "Says a sentence aloud in the room."
#consequence = "low"
#arguments = '{"type": "object", "properties": {"text": {"type": "string", "maxLength": 200}}, "required": ["text"]}'
#[tools.exec]
#argv = ["/usr/bin/espeak-ng", "{{text}}"]
#time_limit = "30s"

# http sends one request and follows no redirection.
#   method       GET (where it is not there), HEAD, POST, PUT, PATCH or DELETE
#   url          http or https; values in it are escaped
#   hosts        whom it may speak to: "host", "host:port" or "*.domain"; a private
#                address only if the address itself stands here
#   header       sent as it stands, as header = { Accept = "text/plain" }
#   body         JSON with values in it; none where it is not there
#[[grants]]
#capability = "http.weather"
#[[tools]]
#name = "weather"
#description = "Tells today's weather of a town, in one line."
#consequence = "low"
#arguments = '{"type": "object", "properties": {"town": {"type": "string", "maxLength": 60}}, "required": ["town"]}'
#[tools.http]
#url = "https://wttr.in/{{town}}?format=3"
#hosts = ["wttr.in"]

# mqtt publishes one message to the broker of the config.
#   topic        a value becomes one level or a part of one
#   payload      what is sent; format is "text" (where it is not there) or "json"
#   qos          0 (where it is not there), 1 or 2; retain is true or false
#[[grants]]
#capability = "mqtt.lamp"
#[[tools]]
#name = "lamp"
#description = "Switches the lamp on the desk on or off."
#consequence = "medium"
#arguments = '{"type": "object", "properties": {"to": {"enum": ["on", "off"]}}, "required": ["to"]}'
#[tools.mqtt]
#topic = "home/desk/lamp/set"
#payload = "{{to}}"

# read reads one file. Nothing outside of its root is read.
#   root         a folder, with its whole path
#   path         the file below it
#   may_come     true: it need not be there when the life begins
#[[grants]]
#capability = "read.temperature"
#[[tools]]
#name = "temperature"
#description = "The temperature of the processor, in thousandths of a degree Celsius."
#consequence = "low"
#[tools.read]
#root = "/sys/class/thermal"
#path = "thermal_zone0/temp"
`
