package prompt

import (
	"regexp"
	"strings"
)

// broken is put into a control token, after its first letter or before its colon:
// to a person the text reads as before, to a tokeniser it is ordinary text.
const broken = "·"

// The shapes of control tokens, on a folded text: small letters, without lookalikes.
// None of them matches what has a broken in it, at the place where one is put.
var (
	// angled begin with "<": chatml, Harmony, Llama 3, Phi, DeepSeek, Gemma, T5, R1, byte tokens.
	angled = regexp.MustCompile(`^(?:` +
		`<\|[^ <>\n][^<>\n]{0,63}>` + // <|im_start|>, <|turn>
		`|<[^·<>|\n][^<>|\n]{0,63}\|>` + // <turn|>
		`|<</?[ \t]*sys[ \t]*>>` +
		`|<0x[0-9a-f]{2}>` +
		`|<[ \t]*/?[ \t]*(?:s|bos|eos|pad|unk|mask|cls|sep|sop|eop|eot|eod|eoh|eoa|eom|sys|inst` +
		`|think|thinking|thought|scratchpad|reasoning|answer` +
		`|(?:start|end|begin)_of_[a-z_]{1,24}|(?:start|end|begin)of[a-z]{1,24}` +
		`|im_(?:start|end|sep)|fim_[a-z]{1,12}|tools?|tool_[a-z_]{1,24}|function_[a-z_]{1,24}` +
		`|system|user|assistant|human|model|developer|image|audio|image_soft_token|unused_?\d{1,5}|reserved_\d{1,5}` +
		`|extra_id_\d{1,5}|special_\d{1,5}|tokens_unused_\d{1,5})(?:[ \t][^<>\n]{0,64})?[ \t]*/?>` +
		`)`)
	// boxed begin with "[": Llama 2, Mistral, ChatGLM, Exaone, and where pictures stand.
	boxed = regexp.MustCompile(`^(?:` +
		`\[\|[^\[\]\n]{1,32}\]` + // [|user|]
		`|\[[ \t]*/?[ \t]*(?:inst|sys|system|system_prompt|available_tools|tools?|tool_[a-z]{1,16}|args|call_id|prefix|suffix|middle` +
		`|img|img_break|img_end|img-\d{1,6}|image-\d{1,6}|audio|begin_audio|think|model_settings|control_\d{1,5}|unused\d{1,5}` +
		`|[gs]?mask|cls|sep|pad|unk|bos|eos|eot)[ \t]*\]` +
		`)`)
	// titled is Falcon's >>QUESTION<<.
	titled = regexp.MustCompile(`^>>[a-z_]{3,24}<<`)
	// role is who speaks, at the beginning of a line behind what adorns it.
	role = regexp.MustCompile(`^(?:user|assistant|system|human|developer|model|tool|function|observation|ai|bot|gpt|chatgpt` +
		`|instruction|response|input|output|end of turn)s?[ \t*_]*:`)
)

// window is more than the longest token, in bytes of the folded text.
const window = 320

// Neutral makes every control token of a chat template, and every mark of a role at
// the beginning of a line, one that is none any more, by a dot in it: "<|im_end|>"
// becomes "<·|im_end|>", "User:" becomes "User·:". Lookalikes (wide letters, invisible
// ones in between, bars and brackets of other scripts) are taken for what they look
// like. Nothing is taken away; a text without tokens is returned as it is, and
// Neutral(Neutral(t)) is Neutral(t).
func Neutral(text string) string {
	// Each round ends the tokens that it finds; only lookalikes within each other need a second.
	for range 4 {
		at := tokens(text)
		if len(at) == 0 {
			return text
		}
		var out strings.Builder
		from := 0
		for _, i := range at {
			out.WriteString(text[from:i])
			out.WriteString(broken)
			from = i
		}
		out.WriteString(text[from:])
		text = out.String()
	}
	return text
}

// tokens gives where in a text a dot ends a token, rising.
func tokens(text string) []int {
	if !strings.ContainsFunc(text, suspicious) {
		return nil
	}
	f := foldText(text)
	var at []int
	for i := 0; i < len(f.text); i++ {
		if i == 0 || f.text[i-1] == '\n' {
			if j := roleColon(f.text[i:]); j >= 0 {
				at = append(at, f.from[i+j])
			}
		}
		var shape *regexp.Regexp
		switch f.text[i] {
		case '<':
			shape = angled
		case '[':
			shape = boxed
		case '>':
			shape = titled
		default:
			continue
		}
		if shape.MatchString(f.text[i:min(len(f.text), i+window)]) {
			at = append(at, f.from[i+1])
		}
	}
	return sortedUnique(at)
}

// suspicious letters are those that a token cannot be without, or that may be
// taken for them.
func suspicious(r rune) bool {
	return r == '<' || r == '[' || r == ':' || r == '>' || r >= 0x80
}

// roleColon gives the place of the colon behind a role that a line begins with, or -1.
func roleColon(line string) int {
	i := 0
	for i < len(line) && strings.IndexByte(" \t>*_#-|\"'(~`", line[i]) >= 0 {
		i++
	}
	m := role.FindStringIndex(line[i:min(len(line), i+window)])
	if m == nil {
		return -1
	}
	return i + m[1] - 1
}

// sortedUnique drops what stands twice; a colon may come before an earlier bracket.
func sortedUnique(at []int) []int {
	out := at[:0]
	for _, i := range at {
		j := len(out)
		for j > 0 && out[j-1] > i {
			j--
		}
		if j > 0 && out[j-1] == i {
			continue
		}
		out = append(out, 0)
		copy(out[j+1:], out[j:])
		out[j] = i
	}
	return out
}
