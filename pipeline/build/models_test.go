package build

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/judges/judgestest"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline"
	"sluice/pipeline/foresight"
	"sluice/pipeline/judging"
	"sluice/prompts"
	"sluice/store"
)

// instanceOf reads the admitted record with what models said of it.
func instanceOf(t *testing.T, s *store.Store, cand store.Candidate) (in pipeline.Instance, said judgementOf) {
	t.Helper()
	evidence(t, s, cand, pipeline.InstanceEvidence, &in)
	var d struct{ Judgement judgementOf }
	if err := json.Unmarshal(in.Description, &d); err != nil {
		t.Fatal(err)
	}
	return in, d.Judgement
}

// judgementOf is what a release tells of the models' part.
type judgementOf struct {
	Pair       []judges.Ruling
	Statement  judges.StatementResult
	Annotation foresight.Annotation
}

// rulings are all that were given, those about the statement too.
func (g judgementOf) rulings() []judges.Ruling {
	out := append([]judges.Ruling{}, g.Pair...)
	for _, s := range g.Statement.Steps {
		if s.Ruling != nil {
			out = append(out, *s.Ruling)
		}
	}
	return append(out, g.Annotation.Rulings...)
}

// TestModelsJudge: with models that keep everything, what the demo's history promises is admitted, each with its votes, and a second build
// asks nobody.
func TestModelsJudge(t *testing.T) {
	t.Parallel()
	j := judgedBy(t, judgestest.Model{})
	before := j.stages(t)
	j.must(t)
	ends := j.ends(t)
	for _, l := range j.repo.repo.Changes {
		cand, reached := ends[l.ID]
		if (l.Expect.State == "admitted") != (reached && cand.State == store.Admitted) {
			t.Errorf("%s is %s at %s: %s %s", l.ID, cand.State, cand.Stage, cand.Code, cand.Reason)
		}
		if cand.State == store.Admitted {
			checkJudged(t, j, cand, l.Expect.Method)
		}
	}
	for stage, n := range j.stages(t) {
		if again := n - before[stage]; again > 0 && strings.HasPrefix(stage, "replay") || stage == "environment" && again > 0 {
			t.Errorf("stage %s ran %d times again", stage, again)
		}
	}
	asked := j.server.Requests()
	if n := len(j.calls(t)[store.Settled]); n != asked || n < 9*len(ends)/2 {
		t.Errorf("%d answers are stored of %d requests", n, asked)
	}
	if rep := j.must(t); rep.Engine.Candidates != 0 || j.server.Requests() != asked {
		t.Errorf("a second build looked at %d candidates and sent %d requests", rep.Engine.Candidates, j.server.Requests()-asked)
	}
	sound(t, j)
}

// checkJudged holds an admitted record to what the obliging models said.
func checkJudged(t *testing.T, j *judged, cand store.Candidate, method string) {
	t.Helper()
	s := j.open(t)
	in, said := instanceOf(t, s, cand)
	want := map[string]string{"judged": "models", "statement": "written", "severity": "major", "task_difficulty": "easy", "fix_difficulty": "easy",
		"impact": "broken", "detectability": "silent", "reach": "narrow", "security": "false"}
	for name, value := range want {
		if in.Labels[name] != value {
			t.Errorf("%s: label %s is %q, want %q", cand.ID, name, in.Labels[name], value)
		}
	}
	if in.Statement != said.Statement.Statement.Text() || !strings.Contains(in.Statement, "## Wanted") {
		t.Errorf("%s: its statement is not the written one: %q", cand.ID, in.Statement)
	}
	names := []string{judges.PairEligibility, judges.PairFairness}
	if method == "szz" { // testimony needs no judge
		names = append(names, judges.Attribution)
	}
	names = append(names, judges.StatementClarity, judges.StatementLeakage, judges.Interfaces, judges.TaskValidity, judges.TaskValidity, judges.SeverityAxes)
	var got []string
	for _, r := range said.rulings() {
		got = append(got, r.Judge)
		for _, v := range r.Votes {
			if v.Verdict == nil || v.Verdict.Quote == "" || len(v.Calls) != 1 {
				t.Errorf("%s, %s: vote %+v", cand.ID, r.Judge, v)
				continue
			}
			if c, ok, err := s.ModelCall(t.Context(), v.Calls[0]); err != nil || !ok || c.MicroUSD == 0 {
				t.Errorf("%s, %s: its question is %v in the ledger, %v", cand.ID, r.Judge, ok, err)
			}
		}
	}
	if diff := cmp.Diff(names, got); diff != "" {
		t.Errorf("%s: rulings, -want +got\n%s", cand.ID, diff)
	}
	if len(said.Annotation.Unknown) > 0 {
		t.Errorf("%s: unknown: %v", cand.ID, said.Annotation.Unknown)
	}
	checkPublic(t, in)
}

// sound wants nothing wrong in the store, and every question at its end.
func sound(t *testing.T, j *judged) {
	t.Helper()
	check(t, j.dir)
	if open := j.calls(t)[store.Reserved]; len(open) > 0 {
		t.Errorf("%d questions are still reserved", len(open))
	}
}

// TestTurnedDown: each judge's word that a candidate is out ends it with the judge's own reason code.
func TestTurnedDown(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, judge string
		how         judgestest.Manner
		want        string // how those end that the judge is asked about
		spared      bool   // some others are never shown to it
	}{
		{"no defect", judges.PairEligibility, judgestest.Manner{Code: "not_a_bug"}, "rejected no-defect", false},
		{"hardly a defect", judges.PairEligibility, judgestest.Manner{Code: "weak"}, "rejected hardly-a-defect", false},
		{"unfair tests", judges.PairFairness, judgestest.Manner{Code: "B2"}, "rejected names-to-be-guessed", false},
		{"carried", judges.Attribution, judgestest.Manner{Code: "C2"}, "rejected carried", true},
		{"unclear", judges.StatementClarity, judgestest.Manner{Code: "3"}, "rejected statement-unclear", true},
		{"leaks", judges.StatementLeakage, judgestest.Manner{Code: "leaks_anticipation"}, "rejected statement-leaks", true},
		{"no statement", judges.WriteStatement, judgestest.Manner{Never: true}, "rejected statement-failed", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			j := judgedBy(t, judgestest.Model{Manners: map[string]judgestest.Manner{tt.judge: tt.how}})
			j.must(t)
			got := j.count(t)
			others := 0
			for end, n := range got {
				if end != tt.want {
					others += n
				}
			}
			if got[tt.want] == 0 || others > 0 != tt.spared {
				t.Errorf("ends %v, want %s", got, tt.want)
			}
			for _, c := range j.ends(t) {
				if end := string(c.State) + " " + c.Code; end == tt.want && tt.how.Code != "" && !strings.Contains(c.Reason, tt.how.Code) {
					t.Errorf("the reason does not name code %s: %s", tt.how.Code, c.Reason)
				}
			}
			sound(t, j)
		})
	}
}

// TestPanelThatDisagrees: the configuration says what becomes of a candidate on which two models differ.
func TestPanelThatDisagrees(t *testing.T) {
	t.Parallel()
	j := judgedBy(t, judgestest.Model{Manners: map[string]judgestest.Manner{judges.PairEligibility: {ByModel: map[string]string{"b": "weak"}}}})
	j.panel(judges.PairEligibility, "a", "b")
	j.must(t)
	if got := j.count(t); got["rejected panel-disagrees"] == 0 || len(got) != 1 {
		t.Errorf("ends %v", got)
	}
	asked := j.server.Requests()
	j.config.Disagree = judging.DisagreeHolds
	j.must(t)
	if got := j.count(t); got["held panel-undecided"] == 0 || len(got) != 1 {
		t.Errorf("ends %v", got)
	}
	for _, c := range j.ends(t) {
		if !strings.Contains(c.Reason, "a clean, b weak") {
			t.Errorf("the reason does not tell the votes: %s", c.Reason)
		}
	}
	if j.server.Requests() != asked {
		t.Errorf("%d questions were asked again", j.server.Requests()-asked)
	}
	sound(t, j)
}

// onlyAbout answers questions about the fix with that title in some way, and all others well.
func onlyAbout(judge, title string, how judgestest.Manner) judgestest.Model {
	return judgestest.Model{Choose: func(q judgestest.Question) (judgestest.Manner, bool) {
		return how, q.Prompt == judge && strings.Contains(q.Text("fix_text"), title)
	}}
}

// signStep is a step of the demo that is admitted, and a part of its text.
const signStep, signTitle = "11-sign", "Keep the sign of amounts below one"

// TestOneFails: what goes wrong with the questions about one candidate fails that one, and the others go on. Opened again, it is asked
// anew.
func TestOneFails(t *testing.T) {
	t.Parallel()
	filter, long := modeltest.Blocked()["Azure"], modeltest.TooLong()["OpenAI"]
	for _, tt := range []struct {
		name, judge string
		how         judgestest.Manner
		want        string
	}{
		{"never a valid reply", judges.PairFairness, judgestest.Manner{Never: true}, "failed error"},
		{"content filter", judges.PairEligibility, judgestest.Manner{Instead: &filter}, "failed error"},
		{"too long", judges.PairEligibility, judgestest.Manner{Instead: &long}, "failed error"},
		{"no severity", judges.SeverityAxes, judgestest.Manner{Never: true}, "admitted "},
		{"no severity for a filter", judges.SeverityAxes, judgestest.Manner{Instead: &filter}, "admitted "},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := onlyAbout(tt.judge, signTitle, tt.how)
			var mended atomic.Bool
			j := judgedBy(t, judgestest.Model{Choose: func(q judgestest.Question) (judgestest.Manner, bool) {
				how, ok := m.Choose(q)
				return how, ok && !mended.Load()
			}})
			j.must(t)
			ends := j.ends(t)
			if c := ends[signStep]; string(c.State)+" "+c.Code != tt.want {
				t.Fatalf("%s is %s %s: %s", signStep, c.State, c.Code, c.Reason)
			}
			for step, c := range ends {
				if step != signStep && c.State == store.Failed {
					t.Errorf("%s failed too: %s", step, c.Reason)
				}
			}
			if tt.want != "failed error" {
				_, said := instanceOf(t, j.open(t), ends[signStep])
				if said.Annotation.Unknown["severity"] == "" || said.Annotation.Severity != "" {
					t.Errorf("annotation %+v", said.Annotation)
				}
				return
			}
			mended.Store(true)
			retried(t, j, ends[signStep])
		})
	}
}

// retried opens a failed candidate again, as sluice retry does: it is asked anew, and admitted. Without that it stays as it is.
func retried(t *testing.T, j *judged, failed store.Candidate) {
	t.Helper()
	asked := j.server.Requests()
	if rep := j.must(t); rep.Engine.Candidates != 0 || j.server.Requests() != asked {
		t.Errorf("nobody opened it, and %d candidates were looked at with %d questions", rep.Engine.Candidates, j.server.Requests()-asked)
	}
	if err := j.open(t).SetPosition(t.Context(), failed.ID, store.Position{State: store.Open, Stage: failed.Stage}); err != nil {
		t.Fatal(err)
	}
	j.must(t)
	if c := j.ends(t)[signStep]; c.State != store.Admitted {
		t.Errorf("opened again it is %s %s: %s", c.State, c.Code, c.Reason)
	}
	sound(t, j)
}

// TestReplayOnly: from the replies that are stored the same records come, without a request; what is not stored ends the run, and the
// candidates stay open for the next.
func TestReplayOnly(t *testing.T) {
	t.Parallel()
	j := judgedBy(t, judgestest.Model{})
	if _, err := j.build(t.Context(), true); !errors.Is(err, judging.ErrNotStored) {
		t.Errorf("got %v, want ErrNotStored", err)
	}
	if got := j.count(t); got["open"] == 0 || got["failed error"] > 0 || j.server.Requests() > 0 {
		t.Errorf("ends %v after %d requests", got, j.server.Requests())
	}
	j.must(t)
	records := func() map[string]string {
		out := map[string]string{}
		s := j.open(t)
		for step, c := range j.ends(t) {
			if e, ok, err := s.LatestEvidence(t.Context(), c.ID, pipeline.InstanceEvidence); err == nil && ok {
				out[step] = e.Digest
			}
		}
		return out
	}
	first, asked, ran := records(), j.server.Requests(), j.stages(t)
	j.config.Disagree = judging.DisagreeHolds // a panel of one never disagrees, but the stages must look again
	if _, err := j.build(t.Context(), true); err != nil {
		t.Fatal(err)
	}
	if ran["judge-pair"] == j.stages(t)["judge-pair"] {
		t.Error("no stage looked again")
	}
	if diff := cmp.Diff(first, records()); diff != "" || len(first) == 0 || j.server.Requests() != asked {
		t.Errorf("%d requests; records, -want +got\n%s", j.server.Requests()-asked, diff)
	}
	sound(t, j)
}

// TestBudgetsOfModels: a run that may cost no more stops cleanly, and a candidate is held; the next run goes on and asks nothing twice.
func TestBudgetsOfModels(t *testing.T) {
	t.Parallel()
	usd := func(n judging.USD) *judging.USD { return &n }
	most := 0 // what all costs
	for _, tt := range []struct {
		name   string
		budget judging.Budget
		err    error
		want   string // an end that some must have
	}{
		{"run", judging.Budget{RunUSD: usd(60_000)}, pipeline.ErrBudget, "open"},
		{"stage", judging.Budget{StageUSD: map[string]judging.USD{"annotate": 0}}, pipeline.ErrBudget, "open"},
		{"candidate", judging.Budget{CandidateUSD: usd(30_000)}, nil, "held budget"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			j := judgedBy(t, judgestest.Model{})
			j.config.Budget = tt.budget
			_, err := j.build(t.Context(), false)
			if !errors.Is(err, tt.err) {
				t.Errorf("got %v, want %v", err, tt.err)
			}
			got := j.count(t)
			if got[tt.want] == 0 || got["failed error"] > 0 {
				t.Errorf("ends %v, want some %s", got, tt.want)
			}
			s := j.open(t)
			for _, c := range j.ends(t) {
				calls, err := s.ModelCalls(t.Context(), c.ID)
				if err != nil {
					t.Fatal(err)
				}
				if limit := tt.budget.CandidateUSD; limit != nil && spent(calls) > int64(*limit) {
					t.Errorf("%s cost %d of %d", c.ID, spent(calls), *limit)
				}
				if c.State == store.Held {
					if err := s.SetPosition(t.Context(), c.ID, store.Position{State: store.Open, Stage: c.Stage}); err != nil {
						t.Fatal(err)
					}
				}
			}
			all := j.calls(t)[store.Settled]
			if limit := tt.budget.RunUSD; limit != nil && (spent(all) > int64(*limit) || len(all) == 0) {
				t.Errorf("%d answers cost %d of %d", len(all), spent(all), *limit)
			}
			j.config.Budget = judging.Budget{}
			j.must(t)
			if most = max(most, j.server.Requests()); j.server.Requests() != most || len(j.calls(t)[store.Settled]) != most {
				t.Errorf("%d requests in the end, others took %d", j.server.Requests(), most)
			}
			sound(t, j)
		})
	}
}

func spent(calls []store.ModelCall) (sum int64) {
	for _, c := range calls {
		sum += c.MicroUSD
	}
	return sum
}

// TestOnlyWhoAsksRunsAgain: another panel for one judge reruns the stages that ask it and what reads their evidence, and no sandbox; what
// has an answer is not asked again.
func TestOnlyWhoAsksRunsAgain(t *testing.T) {
	t.Parallel()
	j := judgedBy(t, judgestest.Model{})
	j.must(t)
	admitted := j.count(t)["admitted"]
	for _, tt := range []struct {
		judge string
		again []string
		asks  int // questions about each admitted candidate that are new
	}{
		{judges.SeverityAxes, []string{"annotate", "judge"}, 1},
		// The statement comes out the same: nobody else is asked.
		{judges.StatementClarity, []string{"annotate", "judge", "write-statement"}, 1},
		{judges.WriteStatement, []string{"annotate", "judge", "write-statement"}, 1},
	} {
		ran, asked := j.stages(t), j.server.Requests()
		j.panel(tt.judge, "b")
		j.must(t)
		var again []string
		for stage, n := range j.stages(t) {
			if n > ran[stage] {
				again = append(again, stage)
			}
		}
		if diff := cmp.Diff(tt.again, slices.Sorted(slices.Values(again))); diff != "" {
			t.Errorf("%s: stages that ran again, -want +got\n%s", tt.judge, diff)
		}
		if n := j.server.Requests() - asked; n != tt.asks*admitted {
			t.Errorf("%s: %d new questions about %d candidates", tt.judge, n, admitted)
		}
	}
	sound(t, j)
}

// TestPromptsAreSettings: the text of each prompt is part of the settings of the stages that ask with it, and of no other's: changing it
// reruns those.
func TestPromptsAreSettings(t *testing.T) {
	t.Parallel()
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	desk, err := judging.Open(t.Context(), s, modelsAt("http://127.0.0.1:1/v1"), judging.Options{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	asks := map[string][]string{
		"judge-pair":      {judges.PairEligibility, judges.PairFairness, judges.Attribution},
		"write-statement": {judges.RepairStatement, judges.StatementClarity, judges.StatementLeakage, judges.WriteStatement},
		"annotate":        {judges.Interfaces, judges.SeverityAxes, judges.TaskValidity},
	}
	all, err := prompts.All()
	if err != nil {
		t.Fatal(err)
	}
	for _, st := range foresight.New(foresight.Deps{Desk: desk}, foresight.Settings{Judge: foresight.JudgeModels}).Stages {
		b, err := json.Marshal(st.Settings)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, p := range all {
			if bytes.Contains(b, []byte(p.Digest)) {
				got = append(got, p.Name)
			}
		}
		slices.Sort(got)
		slices.Sort(asks[st.Name])
		if diff := cmp.Diff(asks[st.Name], got); diff != "" {
			t.Errorf("stage %s, -want +got\n%s", st.Name, diff)
		}
	}
}

// TestSettingsOfStages: what changes the answers or the tier of a stage changes its settings, and where models stand in the configuration
// does not.
func TestSettingsOfStages(t *testing.T) {
	t.Parallel()
	base := settingsOfStages(t, modelsAt("http://127.0.0.1:1/v1"))
	for _, tt := range []struct {
		name  string
		alter func(*judging.Config)
		want  []string // stages whose settings change
	}{
		{"another order of models", func(c *judging.Config) { slices.Reverse(c.Models) }, nil},
		{"a model that nobody asks", func(c *judging.Config) { c.Models[1].ID = "b-2" }, nil},
		{"the default table of severity", func(c *judging.Config) { c.Severity = judges.DefaultSeverity() }, nil},
		{"a table of severity", func(c *judging.Config) {
			c.Severity = judges.DefaultSeverity()
			c.Severity[0].Rare = "critical"
		}, []string{"annotate"}},
		{"another model", func(c *judging.Config) { c.Models[0].ID = "a-2" }, []string{"annotate", "judge-pair", "write-statement"}},
		{"a panel of one judge", func(c *judging.Config) {
			c.Panels[judges.StatementClarity] = judges.Panel{Models: []string{"b"}}
		}, []string{"write-statement"}},
		{"what a disagreement means", func(c *judging.Config) { c.Disagree = judging.DisagreeHolds }, []string{"judge-pair"}},
	} {
		c := modelsAt("http://127.0.0.1:1/v1")
		tt.alter(&c)
		var got []string
		for name, s := range settingsOfStages(t, c) {
			if s != base[name] {
				got = append(got, name)
			}
		}
		slices.Sort(got)
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s, -want +got\n%s", tt.name, diff)
		}
	}
}

// settingsOfStages are the settings of each stage under a configuration.
func settingsOfStages(t *testing.T, c judging.Config) map[string]string {
	t.Helper()
	s, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	desk, err := judging.Open(t.Context(), s, c, judging.Options{Clock: time.Now})
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, st := range foresight.New(foresight.Deps{Desk: desk}, foresight.Settings{Judge: foresight.JudgeModels}).Stages {
		b, err := json.Marshal(st.Settings)
		if err != nil {
			t.Fatal(err)
		}
		out[st.Name] = string(b)
	}
	return out
}

// TestBudgetOfNoStage: a budget for a stage that there is not bounds nothing, and is refused.
func TestBudgetOfNoStage(t *testing.T) {
	t.Parallel()
	j := judgedBy(t, judgestest.Model{})
	j.config.Budget.StageUSD = map[string]judging.USD{"judgepair": 1}
	if _, err := j.build(t.Context(), false); !errors.Is(err, judging.ErrConfig) || !strings.Contains(err.Error(), "judge-pair") {
		t.Errorf("got %v", err)
	}
	if got := j.server.Requests(); got > 0 {
		t.Errorf("%d requests", got)
	}
}

// TestWrongModels: what every candidate would meet ends the run, and blames none.
func TestWrongModels(t *testing.T) {
	t.Parallel()
	for name, reply := range map[string]modeltest.Reply{"no model": modeltest.NoModel(), "wrong key": modeltest.WrongKey("k")} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			j := copied(t, modeltest.New(t, modeltest.Always(reply)))
			if _, err := j.build(t.Context(), false); !errors.Is(err, model.ErrConfig) {
				t.Errorf("got %v, want ErrConfig", err)
			}
			if got := j.count(t); got["failed error"] > 0 || got["open"] == 0 {
				t.Errorf("ends %v", got)
			}
			sound(t, j)
		})
	}
}
