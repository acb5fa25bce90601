package judges

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/judges/evidence"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// byModel answers with the code of the model's name, or that error.
func byModel(errs map[string]error) *oracle {
	return &oracle{say: func(r model.Request) (string, error) {
		if err := errs[r.Model]; err != nil {
			return "", err
		}
		code, _, _ := strings.Cut(r.Model, "-")
		return answer(code), nil
	}}
}

func TestPanel(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		models string
		rule   Rule
		want   string // code, keeps, disagrees, agreement
	}{
		{"A-1 A-2 A-3", All, "A true false 1"},
		{"A-1 A-2 C1-1", All, "C1 false true 0.67"},
		{"A-1 A-2 C1-1", "", "C1 false true 0.67"},
		{"A-1 A-2 C1-1", Majority, "A true false 0.67"},
		{"A-1 C2-1 C1-1", Majority, "C1 false false 0.33"},
		{"A-1 C2-1 C2-2", Majority, "C2 false false 0.67"},
		{"A-1 C1-1", Majority, "C1 false false 0.5"},
		{"A-1 C1-1 C1-2", Any, "A true false 0.67"},
		{"C1-1 C2-1", Any, "C1 false false 0.5"},
		{"C1-1 C1-2", All, "C1 false false 1"},
		{"C2-1 C1-1", All, "C1 false true 0.5"},
	} {
		o := byModel(nil)
		r, err := exampleJudge(t, examplePrompt(t)).Rule(context.Background(), Bench{Asker: o}, exampleCase, Panel{Models: strings.Fields(tt.models), Rule: tt.rule})
		if err != nil {
			t.Errorf("%s, %s: %v", tt.models, tt.rule, err)
			continue
		}
		got := fmt.Sprintf("%s %v %v %v", r.Code, r.Keeps, r.Disagrees, math.Round(r.Agreement*100)/100)
		if got != tt.want || r.Quote == "" || len(r.Votes) != len(strings.Fields(tt.models)) {
			t.Errorf("%s, %s: %s with %d votes, want %s", tt.models, tt.rule, got, len(r.Votes), tt.want)
		}
	}
}

func TestPanelSamples(t *testing.T) {
	t.Parallel()
	o := byModel(nil)
	r, err := exampleJudge(t, examplePrompt(t)).Rule(context.Background(), Bench{Asker: o}, exampleCase, Panel{Models: []string{"A", "C1"}, Samples: 2, Rule: Any})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	calls := map[string]bool{}
	for _, v := range r.Votes {
		got = append(got, fmt.Sprintf("%s/%d %s", v.Model, v.Sample, v.Verdict.Code))
		calls[v.Calls[0]] = true
	}
	if diff := cmp.Diff([]string{"A/0 A", "A/1 A", "C1/0 C1", "C1/1 C1"}, got); diff != "" || len(calls) != 4 {
		t.Errorf("%d different questions; -want +got\n%s", len(calls), diff)
	}
}

func TestPanelErrors(t *testing.T) {
	t.Parallel()
	j := exampleJudge(t, examplePrompt(t))
	for _, tt := range []struct {
		panel Panel
		want  string
	}{
		{Panel{}, "the panel has no models"},
		{Panel{Models: []string{"m", "m"}}, `model "m" is there twice`},
		{Panel{Models: []string{""}}, "has no name"},
		{Panel{Models: []string{"m"}, Samples: -1}, "-1 samples"},
		{Panel{Models: []string{"m"}, Samples: 1001}, "1001 samples"},
		{Panel{Models: []string{"m"}, Rule: "most"}, `rule "most"`},
	} {
		_, err := j.Rule(context.Background(), Bench{Asker: says(answer("A"))}, exampleCase, tt.panel)
		if !errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), tt.want) || tt.panel.Check() == nil {
			t.Errorf("%+v: %v, want %q", tt.panel, err, tt.want)
		}
	}
	_, err := j.Rule(context.Background(), Bench{Asker: says(answer("A"))}, Case{"title": {"x"}}, Panel{Models: []string{"m"}})
	if !errors.Is(err, evidence.ErrCase) {
		t.Errorf("a case without its patch: %v", err)
	}
}

// TestOneBadVoteIsOneVote: one answer that cannot be read must cost nothing but itself (NVIDIA/SkillEvaluator#70). The other votes
// are kept, and nothing is ruled on an incomplete panel.
func TestOneBadVoteIsOneVote(t *testing.T) {
	t.Parallel()
	o := byModel(map[string]error{"C1-bad": fmt.Errorf("asking: %w", model.ErrFiltered)})
	p := Panel{Models: []string{"A-1", "C1-bad", "A-2"}, Rule: Any}
	r, err := exampleJudge(t, examplePrompt(t)).Rule(context.Background(), Bench{Asker: o}, exampleCase, p)
	if !errors.Is(err, model.ErrFiltered) || !strings.Contains(err.Error(), "1 of 3 votes failed: model C1-bad: ") {
		t.Errorf("the error is %v", err)
	}
	if r.Code != "" || r.Keeps || r.Quote != "" || r.Agreement != 0 {
		t.Errorf("it ruled all the same: %+v", r)
	}
	if r.Votes[0].Verdict == nil || r.Votes[2].Verdict == nil || r.Votes[1].Verdict != nil || r.Votes[1].Failed == "" || r.Votes[1].Calls == nil {
		t.Errorf("the votes are %+v", r.Votes)
	}
}

// TestCutVoteIsPaid: a reply that reached the limit of output is no vote; it was asked and paid, and so was the fresh conversation.
func TestCutVoteIsPaid(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Always(modeltest.Reply{Text: answer("A")[:20], Finish: "length"}))
	ledger := model.NewMemory(0)
	client, err := model.New(server.Config("m"), model.Options{Ledger: ledger})
	if err != nil {
		t.Fatal(err)
	}
	r, err := exampleJudge(t, examplePrompt(t)).Rule(t.Context(), Bench{Asker: client}, exampleCase, Panel{Models: []string{"m"}})
	if v := r.Votes[0]; !errors.Is(err, model.ErrTooLong) || len(v.Calls) != 2 || v.MicroUSD == 0 || v.MicroUSD != ledger.Spent() {
		t.Errorf("%v: the vote is %+v, and %d was spent", err, v, ledger.Spent())
	}
}

// TestFreshAfterACut: a model that ran into the limit once may be brief the next time.
func TestFreshAfterACut(t *testing.T) {
	t.Parallel()
	server := modeltest.New(t, modeltest.Sequence(modeltest.Reply{Text: "{", Finish: "length"}, modeltest.Text(answer("A"))))
	client, err := model.New(server.Config("m"), model.Options{Ledger: model.NewMemory(0)})
	if err != nil {
		t.Fatal(err)
	}
	r, err := exampleJudge(t, examplePrompt(t)).Rule(t.Context(), Bench{Asker: client}, exampleCase, Panel{Models: []string{"m"}})
	if err != nil || r.Code != "A" || len(r.Votes[0].Calls) != 2 {
		t.Errorf("%v: %+v", err, r)
	}
}

// TestGravestError: what ends a run must not hide behind what concerns one vote.
func TestGravestError(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ first, second, want error }{
		{model.ErrTransient, model.ErrBudget, model.ErrBudget},
		{model.ErrFiltered, model.ErrNotStored, model.ErrNotStored},
		{model.ErrNotStored, model.ErrBudget, model.ErrBudget},
		{model.ErrTooLong, model.ErrConfig, model.ErrConfig},
		{model.ErrTransient, context.Canceled, context.Canceled},
		{model.ErrTransient, model.ErrFiltered, model.ErrTransient},
		{ErrNoVerdict, model.ErrTransient, model.ErrTransient},
	} {
		o := byModel(map[string]error{"m1": tt.first, "m2": tt.second})
		_, err := exampleJudge(t, examplePrompt(t)).Rule(context.Background(), Bench{Asker: o}, exampleCase, Panel{Models: []string{"m1", "m2"}})
		if !errors.Is(err, tt.want) {
			t.Errorf("%v and %v: %v", tt.first, tt.second, err)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, err := exampleJudge(t, examplePrompt(t)).Rule(ctx, Bench{Asker: byModel(nil)}, exampleCase, Panel{Models: []string{"A"}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// ruled tallies votes of these codes.
func ruled(rule Rule, codes []string) Ruling {
	var r Ruling
	for i, c := range codes {
		v := Verdict{Code: c, Quote: "quote of " + c}
		for _, o := range exampleCodes {
			v.Keeps = v.Keeps || o.Name == c && o.Keeps
		}
		r.Votes = append(r.Votes, Vote{Model: fmt.Sprint(i), Verdict: &v})
	}
	r.tally(exampleCodes, rule)
	return r
}

// TestRuleLaws: the order of votes does not matter; one more vote that keeps never turns a keep into a drop, one more that drops
// never a drop into a keep; a ruling's code is one of the votes' and agrees with what it does.
func TestRuleLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rule := rapid.SampledFrom([]Rule{All, Majority, Any, ""}).Draw(t, "rule")
		votes := rapid.SliceOfN(rapid.SampledFrom([]string{"A", "C1", "C2"}), 1, 9).Draw(t, "votes")
		r := ruled(rule, votes)
		shuffled := ruled(rule, rapid.Permutation(votes).Draw(t, "shuffled"))
		r2 := shuffled
		r2.Votes = r.Votes
		if diff := cmp.Diff(r, r2); diff != "" {
			t.Fatalf("the order matters: %s", diff)
		}
		if more := ruled(rule, append([]string{"A"}, votes...)); r.Keeps && !more.Keeps {
			t.Fatalf("%v are kept under %q, and not with one more that keeps", votes, rule)
		}
		if more := ruled(rule, append([]string{"C1"}, votes...)); !r.Keeps && more.Keeps && rule != Any {
			t.Fatalf("%v are out under %q, and not with one more that drops", votes, rule)
		}
		if r.Keeps != (r.Code == "A") || r.Quote != "quote of "+r.Code || r.Agreement <= 0 || r.Agreement > 1 || r.Disagrees && (r.Keeps || r.Agreement == 1) {
			t.Fatalf("%v under %q: %+v", votes, rule, r)
		}
	})
}

func TestWriter(t *testing.T) {
	t.Parallel()
	p := examplePrompt(t)
	w, err := newWriter(p, func(fields json.RawMessage, _ *evidence.Seen) error {
		if strings.Contains(string(fields), "C2") {
			return errors.New("the title names the fix")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	o := says(answer("C2"), answer("A"))
	out, err := w.Write(context.Background(), Bench{Asker: o}, exampleCase, "m", 3)
	if err != nil || string(out.Fields) != answer("A") || len(out.Calls) != 2 || out.MicroUSD != 10 || o.asked[0].Sample != 3 ||
		!strings.Contains(o.asked[1].Messages[3].Content, "the title names the fix") {
		t.Errorf("%v, %+v", err, out)
	}
	p.Schema = nil
	if w, err = newWriter(p, nil); err != nil {
		t.Fatal(err)
	}
	out, err = w.Write(context.Background(), Bench{Asker: says("", "Free \"text\".")}, exampleCase, "m", 0)
	if err != nil || string(out.Fields) != `"Free \"text\"."` {
		t.Errorf("%v, %s", err, out.Fields)
	}
	if _, err := w.Write(context.Background(), Bench{Asker: says(" ")}, exampleCase, "m", 0); !errors.Is(err, ErrNoVerdict) {
		t.Errorf("only blanks: %v", err)
	}
}
