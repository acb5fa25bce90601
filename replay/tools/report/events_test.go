package report

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
)

// TestEvents: only the last line may be half there, and only if the step was cut.
func TestEvents(t *testing.T) {
	t.Parallel()
	type event struct{ N int }
	for _, c := range []struct {
		name, data string
		stop       replay.Stop
		want       []int
		reason     string
	}{
		{"whole", "{\"N\":1}\n{\"N\":2}\n", replay.Exited, []int{1, 2}, ""},
		{"no last line end", "{\"N\":1}\n{\"N\":2}", replay.Exited, []int{1, 2}, ""},
		{"half a line of a program that ended", "{\"N\":1}\n{\"N\"", replay.Exited, []int{1}, `a line of the report cannot be read: {"N"`},
		{"half a line of a program that was killed", "{\"N\":1}\n{\"N\"", replay.Timeout, []int{1}, ""},
		{"a bad line in the middle", "{\"N\":1}\nno\n{\"N\":2}\n", replay.Timeout, []int{1, 2}, "a line of the report cannot be read: no"},
		{"too large", string(make([]byte, EventBytes+1)), replay.Exited, nil, "the report has 134217729 bytes, more than 134217728"},
	} {
		var got []int
		var d Doubts
		Events(&d, &replay.StepResult{Stop: c.stop}, []byte(c.data), func(e event) { got = append(got, e.N) })
		if diff := cmp.Diff(c.want, got); diff != "" || d.Reason != c.reason {
			t.Errorf("%s: %s reason %q", c.name, diff, d.Reason)
		}
	}
}

// TestAgree: each way in which an exit code and a report can disagree has a reason.
func TestAgree(t *testing.T) {
	t.Parallel()
	set := func(outcomes ...replay.Outcome) *Set {
		s := &Set{}
		for _, o := range outcomes {
			s.Add(replay.Test{ID: "a::x", Outcome: o})
		}
		return s
	}
	exited := func(code int) *replay.StepResult { return &replay.StepResult{Stop: replay.Exited, ExitCode: code} }
	for _, c := range []struct {
		name, want string
		end        End
	}{
		{"good", "", End{Step: exited(0), Set: set(replay.Pass), Ran: true, Ended: true}},
		{"bad", "", End{Step: exited(7), Set: set(replay.Fail), Ran: true, Ended: true}},
		{"broken", "", End{Step: exited(7), Set: set(), Broken: true, Ended: true}},
		{"broken, and 0", "x exited 0 in spite of failures", End{Step: exited(0), Set: set(replay.Pass), Broken: true, Ran: true, Ended: true}},
		{"broken, and spared", "", End{Step: exited(0), Set: set(replay.Pass), Broken: true, Spared: true, Ran: true, Ended: true}},
		{"failed, and not spared", "x exited 0 in spite of failures", End{Step: exited(0), Set: set(replay.Fail), Spared: true, Ran: true, Ended: true}},
		{"without a failure", "x exited 3 without a failure", End{Step: exited(3), Set: set(replay.Pass), Ran: true, Ended: true}},
		{"with words", "x exited 3 without a failure: why", End{Step: exited(3), Set: set(replay.Pass), Ran: true, Ended: true, Words: "why\nmore"}},
		{"no end", "x exited 1 before the report's end", End{Step: exited(1), Set: set(replay.Fail), Ran: true}},
		{"no end, for a crash", "", End{Step: exited(1), Set: set(replay.Error), Ran: true, Crashed: true}},
		{"nothing", "no test ran", End{Step: exited(0), Set: set(), Ended: true}},
		{"clash", "test a::x both passed and failed", End{Step: exited(1), Set: set(replay.Pass, replay.Fail), Ran: true, Ended: true}},
		{"signal", "x was killed by a signal", End{Step: &replay.StepResult{Stop: replay.Signal}, Set: set(), Ended: true}},
		{"signal, for a crash", "", End{Step: &replay.StepResult{Stop: replay.Signal}, Set: set(), Crashed: true}},
		{"time limit", "", End{Step: &replay.StepResult{Stop: replay.Timeout}, Set: set()}},
	} {
		var d Doubts
		c.end.Tool = "x"
		if d.Agree(c.end); d.Reason != c.want {
			t.Errorf("%s: %q, want %q", c.name, d.Reason, c.want)
		}
	}
}
