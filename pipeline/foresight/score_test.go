package foresight

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline/evaluate"
	"sluice/replay"
)

// scored is a result with n anticipation tests, of which pass pass.
func scored(state, antState evaluate.State, pass, n int, mechanism string) evaluate.Result {
	l := evaluate.List{}
	for i := range n {
		o := replay.Fail
		if i < pass {
			o = replay.Pass
		}
		l[o] = append(l[o], string(rune('a'+i)))
	}
	return evaluate.Result{
		Repo: "o/r", Language: "Go", State: state, Labels: map[string]string{"mechanism": mechanism},
		Checks: []evaluate.CheckResult{
			{Name: "task", Resolves: true, State: state, FailToPass: evaluate.List{replay.Pass: {"t"}}},
			{Name: "anticipation", State: antState, FailToPass: l},
		},
	}
}

func TestScore(t *testing.T) {
	t.Parallel()
	results := []evaluate.Result{
		scored(evaluate.Resolved, evaluate.Resolved, 2, 2, "regression"),
		scored(evaluate.Resolved, evaluate.Unresolved, 1, 4, "regression"),
		scored(evaluate.Unresolved, evaluate.Resolved, 1, 1, "incomplete coverage"),
		scored(evaluate.Tampered, evaluate.Resolved, 3, 3, "regression"),
		scored(evaluate.Resolved, evaluate.TimedOut, 1, 2, "regression"),
		{State: evaluate.Infra}, {State: evaluate.EmptyPatch}, {State: evaluate.NotRun},
	}
	type line struct {
		Name        string
		N, NoInfra  int
		Sum         float64
		ByMechanism []float64
	}
	var got []line
	for _, m := range Score(results) {
		l := line{m.Name, m.N, m.WithoutInfra.N, m.Sum, nil}
		for _, s := range m.Strata {
			if s.By == "mechanism" {
				l.ByMechanism = append(l.ByMechanism, s.Sum)
			}
		}
		got = append(got, l)
	}
	want := []line{
		{"FRR", 8, 7, 1, []float64{0, 1}},
		{"RR", 8, 7, 3, []float64{0, 3}},
		{"anticipation", 8, 7, 2.25, []float64{1, 1.25}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("metrics (-want +got):\n%s", diff)
	}
}
