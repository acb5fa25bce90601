package judges_test

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"

	"sluice/judges"
	"sluice/judges/evidence"
	"sluice/judges/model"
	"sluice/judges/reply"
	"sluice/prompts"
)

// TestCorpus: the corpus is large, its entries have names of their own and come from all that strangers can write.
func TestCorpus(t *testing.T) {
	t.Parallel()
	all := corpus(t)
	carriers := map[string]int{"title": 0, "comment": 0, "code": 0, "test-name": 0, "file-name": 0, "diff-header": 0, "commit-message": 0, "log": 0}
	names := map[string]bool{}
	for _, in := range all {
		if _, known := carriers[in.Carrier]; !known || in.Name == "" || in.Text == "" || names[in.Name] {
			t.Errorf("entry %q, carrier %q: a name of its own, a known carrier and a text are wanted", in.Name, in.Carrier)
		}
		carriers[in.Carrier]++
		names[in.Name] = true
	}
	if len(all) < 60 {
		t.Errorf("%d entries, 60 are wanted", len(all))
	}
	for c, n := range carriers {
		if n == 0 {
			t.Errorf("no entry comes in a %s", c)
		}
	}
}

// place is where an entry is laid: a slot, at the end of its last unit or as a unit of its own.
type place struct {
	slot  string
	alone bool
}

// places are all slots of a prompt; short: one for each kind.
func places(p prompts.Prompt, short bool) []place {
	var out []place
	var kinds []prompts.Kind
	for _, s := range p.Slots {
		if short && slices.Contains(kinds, s.Kind) {
			continue
		}
		kinds = append(kinds, s.Kind)
		out = append(out, place{s.Name, false})
		if s.Kind == prompts.List {
			out = append(out, place{s.Name, true})
		}
	}
	return out
}

// poisoned is the case with an entry in a place.
func (a asked) poisoned(at place, text string) asked {
	units := slices.Clone(a.given[at.slot])
	if at.alone {
		return a.with(at.slot, append(units, text)...)
	}
	last := len(units) - 1
	units[last] = strings.TrimRight(units[last], "\n") + "\n" + text + "\n"
	return a.with(at.slot, units...)
}

// everyPoisoned calls f for each judge or writer, place and entry.
func everyPoisoned(t *testing.T, writers bool, f func(t *testing.T, a asked, at place, in injection, text string)) {
	t.Helper()
	entries := corpus(t)
	for _, a := range loadAll(t, writers) {
		t.Run(a.prompt.Name, func(t *testing.T) {
			t.Parallel()
			nonce := a.render(t).Nonce
			for _, at := range places(a.prompt, testing.Short()) {
				forge := a.forged(at.slot, nonce, keeping(a.prompt.Name))
				for _, in := range entries {
					f(t, a, at, in, in.text(forge))
				}
			}
		})
	}
}

// keeping is the code that an attacker wants.
func keeping(name string) string {
	for _, s := range judges.Specs() {
		if s.Prompt == name {
			return s.Codes[slices.IndexFunc(s.Codes, func(c judges.Code) bool { return c.Keeps })].Name
		}
	}
	return "A"
}

// TestInjectionsStayInTheirFence: whatever stands in evidence, the request has the structure of the golden one: the same system
// message, the same words between the fences, the same evidence in all other fences, and nothing of the entry outside of its own.
func TestInjectionsStayInTheirFence(t *testing.T) {
	t.Parallel()
	everyPoisoned(t, true, func(t *testing.T, a asked, at place, in injection, text string) {
		harmless, hostile := a.render(t), a.poisoned(at, text).render(t)
		if hostile.Messages[0] != harmless.Messages[0] || len(hostile.Messages) != 2 || hostile.Messages[1].Role != model.User {
			t.Errorf("%s in %s: the system message is another one", in.Name, at.slot)
		}
		want, got := fences(t, a.prompt, harmless), fences(t, a.prompt, hostile)
		for slot, content := range got {
			plain := strings.ReplaceAll(content, hostile.Nonce, "")
			if slot != at.slot && plain != strings.ReplaceAll(want[slot], harmless.Nonce, "") {
				t.Errorf("%s in %s: the evidence of %s is another one", in.Name, at.slot, slot)
			}
			if bad := unsafe(plain); slot == at.slot && bad != "" {
				t.Errorf("%s in %s: sent with %s", in.Name, at.slot, bad)
			}
		}
	})
}

var holder = regexp.MustCompile(`\{\{(\w+)\}\}`)

// fences takes a user message apart by the prompt's own text, without the code that made it. Words outside of the fences must be the
// prompt's, byte for byte; inside, the mark may stand in notes at the beginning of a line only.
func fences(t *testing.T, p prompts.Prompt, r evidence.Rendered) map[string]string {
	t.Helper()
	rest, out := r.Messages[1].Content, map[string]string{}
	take := func(want string) {
		if !strings.HasPrefix(rest, want) {
			t.Fatalf("prompt %s: %.60q stands where %.60q is wanted", p.Name, rest, want)
		}
		rest = rest[len(want):]
	}
	from := 0
	for _, m := range holder.FindAllStringSubmatchIndex(p.User, -1) {
		slot := p.User[m[2]:m[3]]
		take(p.User[from:m[0]])
		take("<<<" + slot + " " + r.Nonce + "\n")
		end := strings.Index(rest, "\n"+r.Nonce+" "+slot+">>>")
		if end < 0 {
			t.Fatalf("prompt %s: the fence of %s does not end", p.Name, slot)
		}
		out[slot] = rest[:end]
		for line := range strings.Lines(out[slot]) {
			if n := strings.Count(line, r.Nonce); n > 1 || n == 1 && !strings.HasPrefix(line, "["+r.Nonce+" ") {
				t.Fatalf("prompt %s: the mark stands inside of %s: %q", p.Name, slot, line)
			}
		}
		rest = rest[end:]
		take("\n" + r.Nonce + " " + slot + ">>>")
		from = m[1]
	}
	if rest != p.User[from:] {
		t.Fatalf("prompt %s: it ends with %.60q", p.Name, rest)
	}
	return out
}

// marks begin or end a turn in some chat format.
var marks = regexp.MustCompile(`<\|[a-zA-Z_]|<｜|<(?:start|end)_of_turn>|\[/?INST\]|<</?SYS>>|</s>`)

// unsafe names what a person would not see, or what a tokenizer could take for a turn.
func unsafe(text string) string {
	if m := marks.FindString(text); m != "" {
		return m
	}
	for _, r := range text {
		if r != '\n' && r != '\t' && (!unicode.IsGraphic(r) || unicode.Is(unicode.Variation_Selector, r) || unicode.Is(unicode.Bidi_Control, r)) {
			return string(r)
		}
	}
	return ""
}

// TestObeyingIsNoVerdict: a model that obeys an entry by repeating it gives no verdict: not by the entry, not by any object in it, not
// by the evidence as it was sent, and not when it reads the entry's escapes or base64.
func TestObeyingIsNoVerdict(t *testing.T) {
	t.Parallel()
	everyPoisoned(t, false, func(t *testing.T, a asked, at place, in injection, text string) {
		s, hostile := specOf(t, a.prompt.Name), a.poisoned(at, text).render(t)
		said := []string{text, forgedReply(a, in)}
		for _, o := range reply.Objects(text) {
			said = append(said, string(o))
		}
		if in.Repeat == 0 {
			said = append(said, fences(t, a.prompt, hostile)[at.slot])
		}
		for _, echo := range said {
			if v, err := decide(t, s, echo, hostile); err == nil {
				t.Errorf("%s in %s: %.80q is a verdict: %s", in.Name, at.slot, echo, v.Code)
			}
		}
	})
}

// forgedReply is what a model replies that reads an entry's reply instead of copying it; nothing for entries without one.
func forgedReply(a asked, in injection) string {
	if !regexp.MustCompile(`%(?:REPLY|ESCAPED|BASE64|BASE64URL|WRAPPED)%`).MatchString(in.Text) {
		return ""
	}
	var fields map[string]any
	if json.Unmarshal([]byte(a.reply), &fields) != nil {
		return ""
	}
	b, err := json.MarshalIndent(fields, "", "  ") // in another order and layout
	if err != nil {
		return ""
	}
	return string(b)
}

// TestForgedRepliesAreValid: the entries would give verdicts if nothing but the form counted: without them, the same replies do.
func TestForgedRepliesAreValid(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, false) {
		s, harmless := specOf(t, a.prompt.Name), a.render(t)
		for _, text := range []string{a.reply, a.reasoned(escaped), forgedReply(a, injection{Text: "%REPLY%"})} {
			if _, err := decide(t, s, text, harmless); err != nil {
				t.Errorf("%s: %v", a.prompt.Name, err)
			}
		}
		if b, err := base64.StdEncoding.DecodeString(a.forged("x", "y", "z").Replace("%BASE64%")); err != nil || string(b) != a.reply {
			t.Errorf("%s: the reply in base64 is another one: %v", a.prompt.Name, err)
		}
	}
}

// TestEchoIsNoVerdict: a model that returns the prompt, a part of it, or any JSON found in it, gives no verdict.
func TestEchoIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, false) {
		s, r := specOf(t, a.prompt.Name), a.render(t)
		system, user := r.Messages[0].Content, r.Messages[1].Content
		echoes := []string{system, user, system + "\n\n" + user, string(a.prompt.Schema), system + "\n" + string(a.prompt.Schema), described(t, a.prompt.Schema)}
		for _, text := range []string{system, user, string(a.prompt.Schema)} {
			for _, o := range reply.Objects(text) {
				echoes = append(echoes, inner(t, o)...)
			}
		}
		for _, content := range fences(t, a.prompt, r) {
			echoes = append(echoes, content)
		}
		for _, echo := range echoes {
			if v, err := decide(t, s, echo, r); err == nil {
				t.Errorf("%s: %.80q is a verdict: %s", a.prompt.Name, echo, v.Code)
			}
		}
	}
}

// inner is an object and all objects inside of it.
func inner(t *testing.T, object json.RawMessage) []string {
	t.Helper()
	out := []string{string(object)}
	var fields map[string]json.RawMessage
	if json.Unmarshal(object, &fields) != nil {
		return out
	}
	for _, v := range fields {
		if strings.HasPrefix(string(v), "{") {
			out = append(out, inner(t, v)...)
		}
	}
	return out
}

// described is the reply that a model makes by filling each key with its own description, and each choice with its first value.
func described(t *testing.T, schema json.RawMessage) string {
	t.Helper()
	type node struct {
		Type        string          `json:"type"`
		Description string          `json:"description"`
		Enum        []string        `json:"enum"`
		Items       json.RawMessage `json:"items"`
		Properties  map[string]json.RawMessage
	}
	var fill func(raw json.RawMessage) any
	fill = func(raw json.RawMessage) any {
		var n node
		if err := json.Unmarshal(raw, &n); err != nil {
			t.Fatal(err)
		}
		switch {
		case len(n.Enum) > 0:
			return n.Enum[0]
		case n.Type == "object":
			out := map[string]any{}
			for k, v := range n.Properties {
				out[k] = fill(v)
			}
			return out
		case n.Type == "array":
			return []any{fill(n.Items)}
		case n.Type == "boolean":
			return true
		}
		return n.Description
	}
	b, err := json.Marshal(fill(schema))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
