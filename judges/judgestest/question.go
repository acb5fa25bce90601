package judgestest

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/prompts"
)

// Question is a request with what it asks.
type Question struct {
	Prompt  string // the judge's or writer's
	Model   string // the id under which the endpoint knows it
	Turn    int    // 0: the first question of a conversation; 1: asked again once
	Request modeltest.Request

	prompt prompts.Prompt
	slots  map[string][]string // by slot, its pieces between notes
}

var opening = regexp.MustCompile(`<<<[a-z_]+ ([0-9a-f]{16})\n`)

// Read tells which prompt a request came from, by its system message, and takes its evidence out of the fences.
func Read(r modeltest.Request) (Question, error) {
	q := Question{Model: r.Model, Request: r, slots: map[string][]string{}}
	if len(r.Messages) < 2 || r.Messages[0].Role != model.System {
		return q, errors.New("it has no system message and no question")
	}
	all, err := prompts.All()
	if err != nil {
		return q, err
	}
	for _, p := range all {
		if strings.HasPrefix(r.Messages[0].Content, p.System) && len(p.System) > len(q.prompt.System) {
			q.prompt, q.Prompt = p, p.Name
		}
	}
	if q.Prompt == "" {
		return q, fmt.Errorf("no prompt begins like this: %.60q", r.Messages[0].Content)
	}
	for _, m := range r.Messages {
		if m.Role == model.Assistant {
			q.Turn++
		}
	}
	q.read(r.Messages[1].Content)
	return q, nil
}

func (q Question) read(text string) {
	m := opening.FindStringSubmatch(text)
	if m == nil {
		return
	}
	nonce := m[1]
	for _, s := range q.prompt.Slots {
		_, rest, _ := strings.Cut(text, "<<<"+s.Name+" "+nonce+"\n")
		inside, _, _ := strings.Cut(rest, nonce+" "+s.Name+">>>")
		open := false
		for l := range strings.Lines(inside) {
			switch pieces := q.slots[s.Name]; {
			case strings.HasPrefix(l, "["+nonce+" "):
				open = false
			case open:
				pieces[len(pieces)-1] += l
			default:
				q.slots[s.Name] = append(pieces, l)
				open = true
			}
		}
	}
}

// Text is the evidence of a slot as it was sent, without notes of ours; "" where there is none.
func (q Question) Text(slot string) string { return strings.Join(q.slots[slot], "") }

// Pieces are the runs of a slot between notes of ours: the items of a list, for instance.
func (q Question) Pieces(slot string) []string { return q.slots[slot] }

// Lines are the lines of a slot that say something, without white space at their ends and, in a patch, without their signs. Its headers
// are left out.
func (q Question) Lines(slot string) []string {
	s, _ := q.prompt.Slot(slot)
	var out []string
	for l := range strings.Lines(q.Text(slot)) {
		if s.Kind == prompts.Diff {
			if header.MatchString(l) {
				continue
			}
			l = strings.TrimLeft(l[:1], "+- ") + l[1:]
		}
		if l = strings.TrimSpace(l); strings.ContainsFunc(l, unicode.IsLetter) {
			out = append(out, l)
		}
	}
	return out
}

var header = regexp.MustCompile(`^(?:diff --git |index |--- |\+\+\+ |@@ |new file mode |deleted file mode |rename |similarity )`)

// marked are lines that were made readable or masked: they do not stand in the evidence so.
var marked = regexp.MustCompile(`[⟨⟩]|<PR-Number>|<Commit-Id>|<Change-Link>`)

// Quote copies a passage of the first of the slots that has one.
func (q Question) Quote(slots ...string) string {
	for _, enough := range []int{12, 1} {
		for _, slot := range slots {
			for _, l := range q.Lines(slot) {
				if len(strings.Join(strings.Fields(l), "")) >= enough && !marked.MatchString(l) {
					return cut(l, 160)
				}
			}
		}
	}
	return ""
}

// evidence names the slots that may be quoted in general.
func (q Question) evidence() []string {
	var out []string
	for _, s := range q.prompt.Slots {
		if s.Name != "repository" {
			out = append(out, s.Name)
		}
	}
	return out
}

var label = regexp.MustCompile(`^([A-Z][1-9][0-9]*) `)

// labels are those of the items of a list.
func (q Question) labels(slot string) []string {
	var out []string
	for _, p := range q.slots[slot] {
		if m := label.FindStringSubmatch(p); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}
