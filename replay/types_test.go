package replay

import "testing"

func TestLimitsOr(t *testing.T) {
	t.Parallel()
	defaults := Limits{Wall: 1, Memory: 2, Pids: 3, CPUs: 4, Output: 5, Disk: 6}
	if got := (Limits{}).Or(defaults); got != defaults {
		t.Errorf("got %+v", got)
	}
	mine := Limits{Wall: 9, CPUs: 0.5}
	want := Limits{Wall: 9, Memory: 2, Pids: 3, CPUs: 0.5, Output: 5, Disk: 6}
	if got := mine.Or(defaults); got != want {
		t.Errorf("got %+v", got)
	}
}

func TestDue(t *testing.T) {
	t.Parallel()
	done := []StepResult{
		{Name: "good", Stop: Exited}, {Name: "bad", Stop: Exited, ExitCode: 1}, {Name: "slow", Stop: Timeout}, {Name: "skipped", Stop: Skipped},
	}
	want := map[string]bool{"": true, "good": false, "bad": true, "slow": true, "skipped": false, "unknown": false}
	for name, w := range want {
		if got := (Step{IfFailed: name}).Due(done); got != w {
			t.Errorf("IfFailed %q: %v, want %v", name, got, w)
		}
	}
}
