package rootcause

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"sluice/judges/agent"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/replay"
	"sluice/replay/tools"
)

// runVersion is part of every run's key.
const runVersion = 1

// verdict is what one run of the tests says.
type verdict struct {
	Outcomes map[string]replay.Outcome `json:"outcomes"`
	Doubt    string                    `json:"doubt,omitempty"` // why the run is evidence of nothing
	Log      string                    `json:"log"`
}

func (v verdict) passes(id string) bool { return v.Doubt == "" && v.Outcomes[id] == replay.Pass }

// run runs the tests on a fresh state with a repair laid over it.
func (q Request) run(ctx context.Context, c agents.Crew, repair []agents.File) (verdict, error) {
	var v verdict
	tool, err := tools.For(q.Recipe.Runner)
	if err != nil {
		return v, pipeline.Permanent(err)
	}
	type file struct {
		Path pipeline.Text
		replay.Entry
	}
	var tests []file
	for _, f := range q.Tests.Files {
		tests = append(tests, file{pipeline.Text(f.Path), replay.EntryOf(f)})
	}
	var removed []pipeline.Text
	for _, p := range q.Tests.Remove {
		removed = append(removed, pipeline.Text(p))
	}
	w := pipeline.Work{Kind: "repair-trial", Label: "tests of " + q.Label, Inputs: []any{
		runVersion, c.Sandbox.Name(), q.Recipe.Fingerprint, q.Tree.ID(), tests, removed, repair, q.Target, q.Limits,
	}}
	b, err := q.Once(ctx, w, func(ctx context.Context) ([]byte, error) {
		env, err := c.Sandbox.Prepare(ctx, q.Recipe, q.Tree)
		if err != nil {
			return nil, err
		}
		res, err := c.Sandbox.Run(ctx, replay.Job{
			Name: "repair of " + q.Label, Tree: q.Tree, Overlays: []replay.Overlay{q.Tests, agents.Overlay(repair)}, Env: env,
			Steps: tool.Steps(q.Recipe, q.Target), Limits: q.Limits,
		})
		if err != nil {
			return nil, err
		}
		return json.Marshal(read(tool.Parse(q.Recipe, q.Target, res), res))
	})
	if err != nil {
		return v, fmt.Errorf("running the tests: %w", err)
	}
	return v, json.Unmarshal(b, &v)
}

func read(r replay.Report, res replay.Result) verdict {
	v := verdict{Outcomes: map[string]replay.Outcome{}, Doubt: r.Inconsistent}
	if r.Stop == replay.Timeout || r.Stop == replay.OOM {
		v.Doubt = "the tests were ended: " + string(r.Stop)
	}
	for _, t := range r.Tests {
		v.Outcomes[t.ID] = t.Outcome
	}
	if st := res.Step(tools.StepTest); st != nil {
		v.Log = agent.CutMiddle(string(bytes.ToValidUTF8(append(st.Stdout, st.Stderr...), []byte("\uFFFD"))), 32<<10)
	}
	return v
}

// linesOf lists the lines that a diff adds and deletes, their white space folded.
func linesOf(diff []byte) (map[Line]bool, error) {
	files, _, err := gitdiff.Parse(bytes.NewReader(diff))
	if err != nil {
		return nil, fmt.Errorf("reading the change's diff: %w", err)
	}
	out := map[Line]bool{}
	for _, f := range files {
		for _, frag := range f.TextFragments {
			before, after := int(frag.OldPosition), int(frag.NewPosition)
			for _, l := range frag.Lines {
				switch l.Op {
				case gitdiff.OpAdd:
					out[Line{f.NewName, after, "added", agents.Fold(l.Line)}] = true
				case gitdiff.OpDelete:
					out[Line{f.OldName, before, "deleted", agents.Fold(l.Line)}] = true
				}
				if l.Op != gitdiff.OpAdd {
					before++
				}
				if l.Op != gitdiff.OpDelete {
					after++
				}
			}
		}
	}
	return out, nil
}
