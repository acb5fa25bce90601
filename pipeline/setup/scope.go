package setup

import (
	"fmt"
	"slices"
	"strings"

	"sluice/pipeline/agents"
	"sluice/replay"
)

// Omission is a test of a scope that the agent left out, and why.
type Omission struct {
	Test   string `json:"test"`
	Reason string `json:"reason"`
}

// Scope is what became of a request's scope. The outcomes are those of the replay, whatever they are.
type Scope struct {
	Run     []string      `json:"run"`               // the ids that had to run, as the request has them
	Omitted []Omission    `json:"omitted,omitempty"` // the others
	Tests   []replay.Test `json:"tests,omitempty"`   // their cases, sorted by id
}

// checkOmitted wants tests of the scope, each once, and not all of them.
func (q Request) checkOmitted(list []Omission) error {
	for i, o := range list {
		switch {
		case !slices.Contains(q.Scope, o.Test):
			return fmt.Errorf("%.200q is none of the tests that have to run: copy ids letter for letter.", o.Test)
		case slices.ContainsFunc(list[:i], func(e Omission) bool { return e.Test == o.Test }):
			return fmt.Errorf("The test %.200q is left out twice.", o.Test)
		case strings.TrimSpace(o.Reason) == "":
			return fmt.Errorf("The test %.200q is left out without a reason.", o.Test)
		}
	}
	if len(q.Scope) > 0 && len(list) == len(q.Scope) {
		return fmt.Errorf("The report leaves all tests out: at least one has to run.")
	}
	return nil
}

// kept is the scope without what was left out.
func (q Request) kept(list []Omission) []string {
	return slices.DeleteFunc(slices.Clone(q.Scope), func(id string) bool {
		return slices.ContainsFunc(list, func(o Omission) bool { return o.Test == id })
	})
}

// ran is the scope with what a trial says of it; nil for a request without one.
func (q Request) ran(t Trial, omitted []Omission) *Scope {
	if len(q.Scope) == 0 {
		return nil
	}
	return &Scope{Run: q.Scope, Omitted: omitted, Tests: t.Cases}
}

// covers reports whether a case is one of those that an id stands for: a test itself, its parameters, its sub-tests, the tests of a
// class.
func covers(id, of string) bool {
	rest, ok := strings.CutPrefix(of, id)
	return ok && (rest == "" || rest[0] == '[' || rest[0] == '/' || strings.HasPrefix(rest, "::"))
}

// cases picks the cases of a scope from a report; missing is the first id that has none.
func (q Request) cases(tests []replay.Test) (cases []replay.Test, missing string) {
	found := map[string]bool{}
	for _, t := range tests {
		in := false
		for _, id := range q.Scope {
			if t.Outcome != replay.Missing && covers(id, t.ID) {
				found[id], in = true, true
			}
		}
		if in {
			cases = append(cases, t)
		}
	}
	for _, id := range q.Scope {
		if !found[id] {
			return cases, id
		}
	}
	return cases, ""
}

// supports are the support files that may really be adapted: none that holds tests of the scope.
func (q Request) supports() []string {
	return slices.DeleteFunc(slices.Clone(q.Support), func(p string) bool {
		return slices.Contains(q.Target.Paths, p) || slices.ContainsFunc(q.Scope, func(id string) bool { return covers(p, id) })
	})
}

// adapted are the support files that a session left otherwise than it found them.
func (q Request) adapted(c agents.Changes) []agents.File {
	var out []agents.File
	may := q.supports()
	for _, f := range c.Files {
		if f.Kind != replay.Special && slices.Contains(may, string(f.Path)) {
			out = append(out, f.Keep())
		}
	}
	return out
}
