// Package scope asks an agent in which sets of files reasonable solutions of an issue would be made.
//
// The agent reads the tree, which it cannot change, without a network. Each set that it proposes must hold paths that are in the
// tree, or new files of folders that are, and rest on a line of the issue or of what a command printed. Whether a solution is
// reasonable is for people; what the sets lead to is for whoever asked.
package scope

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"sluice/judges/agent"
	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/prompts"
	"sluice/replay"
	"sluice/replay/tools"
)

// PromptName is the prompt of this agent.
const PromptName = "agent-scope"

// Request is one issue on one tree.
type Request struct {
	Once   agents.Once
	Charge model.Charge
	Label  string // for people
	Tree   replay.Tree
	Image  string // "" for the default
	Issue  string // sanitised
}

// Scope is one set of files, with why.
type Scope struct {
	Rationale string   `json:"rationale"`
	Quote     string   `json:"quote"`
	Paths     []string `json:"paths"` // sorted
}

// Result is what came of a request.
type Result struct {
	Accepted bool        `json:"accepted"`
	Reason   string      `json:"reason"` // one line
	Scopes   []Scope     `json:"scopes,omitempty"`
	Session  agents.Log  `json:"session"`
	Spent    agent.Spent `json:"-"`
}

// Find leads the agent. One that proposes nothing that holds is no error.
func Find(ctx context.Context, c agents.Crew, q Request) (Result, error) {
	r, err := find(ctx, c, q)
	if err != nil {
		return r, fmt.Errorf("looking for the scopes of %s: %w", q.Label, err)
	}
	return r, nil
}

func find(ctx context.Context, c agents.Crew, q Request) (out Result, err error) {
	t, err := listing(ctx, q.Tree)
	if err != nil {
		return out, err
	}
	task, err := q.task(t)
	if err != nil {
		return out, err
	}
	image := q.Image
	if image == "" {
		image = tools.DefaultImage
	}
	out.Session, out.Spent, err = c.Lead(ctx, agents.Job{
		Once: q.Once, Charge: q.Charge, Label: "scopes of " + q.Label, Task: task,
		Spec: replay.SessionSpec{Tree: q.Tree, Recipe: replay.Recipe{Image: image}, ReadOnly: true},
	})
	if err != nil {
		return out, err
	}
	tr := out.Session.Transcript
	switch {
	case tr.Report == nil:
		out.Reason = fmt.Sprintf("the agent ended without a report (%s): %s", tr.End, tr.Why)
		return out, nil
	case len(out.Session.Changes.Files) > 0 || !out.Session.Changes.Whole:
		out.Reason = "the agent changed the tree"
		return out, nil
	}
	var r Report
	if err := json.Unmarshal(tr.Report, &r); err != nil {
		return out, pipeline.Permanent(fmt.Errorf("decoding the agent's report: %w", err))
	}
	for _, s := range r.Scopes {
		slices.Sort(s.Paths)
		out.Scopes = append(out.Scopes, s)
	}
	out.Accepted, out.Reason = true, fmt.Sprintf("%d scopes", len(out.Scopes))
	return out, nil
}

// Report is what the agent says at the end.
type Report struct {
	Reasoning string  `json:"reasoning"`
	Scopes    []Scope `json:"scopes"`
}

// tree is what paths are checked against.
type tree struct {
	files, folders map[string]bool
	list           []string
}

func listing(ctx context.Context, t replay.Tree) (tree, error) {
	out := tree{files: map[string]bool{}, folders: map[string]bool{".": true}}
	err := t.Select(ctx, func(f replay.File) bool {
		out.files[f.Path] = true
		out.list = append(out.list, f.Path)
		for d := path.Dir(f.Path); !out.folders[d]; d = path.Dir(d) {
			out.folders[d] = true
		}
		return false
	}, nil)
	if err != nil {
		return out, fmt.Errorf("listing the tree: %w", err)
	}
	slices.Sort(out.list)
	return out, nil
}

func (q Request) task(t tree) (agent.Task, error) {
	p, err := prompts.Load(PromptName)
	if err != nil {
		return agent.Task{}, pipeline.Permanent(err)
	}
	layout := strings.Join(t.list, "\n")
	if layout == "" {
		layout = "(no files)"
	}
	task, err := agent.NewTask(p, map[string][]string{
		"issue": {q.Issue}, "layout": {layout},
		"place": {"The project's folder is the current one; it can be read only. There is no network and no git history. Scratch files belong in /tmp."},
	})
	if err != nil {
		return task, pipeline.Permanent(err)
	}
	shown := task.Opening[len(task.Opening)-1].Content
	task.Check = func(report json.RawMessage, turns []agent.Turn) error { return t.check(report, turns, shown) }
	return task, nil
}

// check is told to the agent, which may mend its report.
func (t tree) check(raw json.RawMessage, turns []agent.Turn, shown string) error {
	var r Report
	if err := json.Unmarshal(raw, &r); err != nil {
		return err
	}
	seen := map[string]bool{}
	for i, s := range r.Scopes {
		for _, p := range s.Paths {
			if err := t.checkPath(p); err != nil {
				return fmt.Errorf("Solution %d: %w", i+1, err)
			}
		}
		paths := slices.Sorted(slices.Values(s.Paths))
		if len(slices.Compact(slices.Clone(paths))) < len(paths) {
			return fmt.Errorf("Solution %d names a file twice.", i+1)
		}
		set := strings.Join(paths, "\n")
		if seen[set] {
			return fmt.Errorf("Solution %d touches the same files as an earlier one: leave it out.", i+1)
		}
		seen[set] = true
		if !agents.Printed(turns, s.Quote) && !(agents.Fold(s.Quote) != "" && strings.Contains(agents.Fold(shown), agents.Fold(s.Quote))) {
			return fmt.Errorf("Solution %d quotes what stands neither in the issue nor in what a command printed: %.200q.", i+1, s.Quote)
		}
	}
	return nil
}

func (t tree) checkPath(p string) error {
	switch {
	case p == "" || path.IsAbs(p) || path.Clean(p) != p || p == ".." || strings.HasPrefix(p, "../") || strings.ContainsAny(p, "\n\x00"):
		return fmt.Errorf("%.200q is no path inside the folder.", p)
	case t.folders[p]:
		return fmt.Errorf("%.200q is a folder: name its files.", p)
	case !t.files[p] && !t.folders[path.Dir(p)]:
		return fmt.Errorf("%.200q neither exists nor lies in a folder that exists.", p)
	}
	return nil
}
