package setup

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"sluice/judges"
	"sluice/judges/model"
	"sluice/pipeline/agents/agentstest"
)

// doubtful installs something that its text does not show.
const doubtful = `python3 -m pip --python "$VIRTUAL_ENV" install -q --no-index --find-links wheelhouse mathkit $(echo PYTEST | tr A-Z a-z)`

func doubtfulLines() []string {
	return []string{sh(makeVenv), sh(doubtful), sh("{acceptance}"), report("=== 1 failed, 1 passed in 0.01s ===", makeVenv, doubtful)}
}

func ruling(code, quote string) string {
	b, _ := json.Marshal(map[string]string{
		"did": "It made a virtual environment and installed three packages into it.", "compared": "The counts are those of the record.",
		"reasoning": "No file was changed, and what was installed lies in the project's own folder of packages.", "code": code, "quote": quote,
	})
	return string(b)
}

func TestJudge(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, code, quote string
		accepted          bool
		reason            string
	}{
		{"ok", "ok", "the report names 2 tests", true, "the report names 2 tests"},
		{"a breach", "edited_production", "install -q --no-index --find-links wheelhouse mathkit", false, "the judge of operations: edited_production: "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, ask := newSetup(t, agentstest.Local(t, ""), doubtfulLines()...)
			judge := &agentstest.Script{Lines: []string{ruling(tt.code, tt.quote)}}
			s.Judge = &Judge{Bench: judges.Bench{Asker: judge}, Panel: judges.Panel{Models: []string{"a", "b"}}}
			q := request(t, agentstest.NewMemo())
			got, err := s.Find(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			if got.Accepted != tt.accepted || !strings.Contains(got.Reason, tt.reason) || got.Ruling == nil || got.Ruling.Code != tt.code || len(got.Ruling.Votes) != 2 {
				t.Fatalf("accepted %v, %q, ruling %+v", got.Accepted, got.Reason, got.Ruling)
			}
			heard := judge.Heard[0].Messages[1].Content
			for _, want := range []string{"Turn 2, exit code 0:", doubtful, "installs something that the text does not show", `"reasoning": "mathkit lies in a folder"`, "Result: the report names 2 tests", "No file of the program"} {
				if !strings.Contains(heard, want) {
					t.Errorf("the judge is not told %q:\n%s", want, heard)
				}
			}
			asked, first := judge.Asked, ask.Asked
			again, err := s.Find(t.Context(), q)
			if err != nil || judge.Asked != asked || ask.Asked != first || again.Accepted != got.Accepted {
				t.Errorf("a second run asked %d and %d times, %v", judge.Asked-asked, ask.Asked-first, err)
			}
			var kept Result
			b, err := json.Marshal(got)
			if err == nil {
				err = json.Unmarshal(b, &kept)
			}
			if err != nil || len(kept.Ruling.Votes) != 2 || kept.Ruling.Votes[1].Verdict.Code != tt.code {
				t.Errorf("kept %+v, %v", kept.Ruling, err)
			}
		})
	}
}

func TestNoJudge(t *testing.T) {
	t.Parallel()
	s, _ := newSetup(t, agentstest.Local(t, ""), doubtfulLines()...)
	got, err := s.Find(t.Context(), request(t, agentstest.NewMemo()))
	if err != nil || got.Accepted || len(got.Trials) != 0 || !strings.Contains(got.Reason, "a question for the judge of operations, and there is none") {
		t.Errorf("accepted %v, %q, %d trials, %v", got.Accepted, got.Reason, len(got.Trials), err)
	}
}

// TestSureNeedsNoJudge: what rules can tell refuses at once, and so does a replay that fails.
func TestSureNeedsNoJudge(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"installs a release": {sh(makeVenv), sh(install + " shop"), sh("{acceptance}"), report("=== 1 failed, 1 passed in 0.01s ===", makeVenv, install+" shop")},
		"has no test tool":   {sh(makeVenv), sh("true $(date) && pip -q install $(true)"), sh("{acceptance}; echo -m pytest --junitxml done"), report("done", makeVenv)},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := newSetup(t, agentstest.Local(t, ""), lines...)
			judge := &agentstest.Script{Lines: []string{ruling("ok", "exit code")}}
			s.Judge = &Judge{Bench: judges.Bench{Asker: judge}, Panel: judges.Panel{Models: []string{"a"}}}
			got, err := s.Find(t.Context(), request(t, agentstest.NewMemo()))
			if err != nil || got.Accepted || judge.Asked != 0 || got.Ruling != nil {
				t.Errorf("accepted %v, %q, the judge was asked %d times, %v", got.Accepted, got.Reason, judge.Asked, err)
			}
		})
	}
}

type broke struct{ error }

func (b broke) Ask(context.Context, model.Request, model.Charge) (model.Answer, error) {
	return model.Answer{}, b.error
}

// TestJudgeUnreachable: without a ruling nothing is decided.
func TestJudgeUnreachable(t *testing.T) {
	t.Parallel()
	s, _ := newSetup(t, agentstest.Local(t, ""), doubtfulLines()...)
	s.Judge = &Judge{Bench: judges.Bench{Asker: broke{model.ErrBudget}}, Panel: judges.Panel{Models: []string{"a"}}}
	if got, err := s.Find(t.Context(), request(t, agentstest.NewMemo())); !errors.Is(err, model.ErrBudget) || got.Ruling != nil {
		t.Errorf("%+v, %v", got.Ruling, err)
	}
}
