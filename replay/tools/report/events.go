package report

import (
	"bytes"
	"encoding/json"

	"sluice/replay"
)

// EventBytes bounds the size of a report of events.
const EventBytes = 128 << 20

// Events reads a report of one JSON object a line, and calls f with each. A line that cannot be read is a doubt, unless it is the last
// one and the step's end cut it. A report of more than EventBytes is a doubt, and is not read.
func Events[E any](d *Doubts, step *replay.StepResult, data []byte, f func(E)) {
	d.Add(len(data) > EventBytes, "the report has %d bytes, more than %d", len(data), EventBytes)
	if len(data) > EventBytes {
		return
	}
	for line := range bytes.Lines(data) {
		var e E
		if err := json.Unmarshal(line, &e); err != nil {
			cut := step.Stop != replay.Exited && !bytes.HasSuffix(line, []byte("\n"))
			d.Add(!cut, "a line of the report cannot be read: %s", FirstLine(string(line)))
			continue
		}
		f(e)
	}
}

// End is how a run ended, and what its report says of that.
type End struct {
	Tool    string // as reasons name it
	Step    *replay.StepResult
	Set     *Set
	Broken  bool   // something was not built or loaded
	Spared  bool   // what is broken leaves the tool's exit code alone
	Ran     bool   // a test ran
	Ended   bool   // the report has its end
	Crashed bool   // a test's crash is in the report: it explains that the tool ended early
	Twice   bool   // a test may be told of twice, as good and then, for what came after it, as bad
	Words   string // of the tool, where the report does not explain an end
}

// Agree compares the exit code of a tool, for which 0 is good and all else bad, with all that was found.
func (d *Doubts) Agree(e End) {
	failures := e.Set.AnyBad() || e.Broken
	words := ""
	if first := FirstLine(e.Words); first != "" {
		words = ": " + first
	}
	d.Add(e.Set.Clash() != "" && !e.Twice, "test %s both passed and failed", e.Set.Clash())
	d.Add(e.Step.Stop == replay.Signal && !e.Crashed, "%s was killed by a signal", e.Tool)
	if e.Step.Stop != replay.Exited {
		return
	}
	exit := e.Step.ExitCode
	d.Add(!e.Ended && !e.Crashed, "%s exited %d before the report's end%s", e.Tool, exit, words)
	d.Add(exit == 0 && failures && !(e.Spared && !e.Set.AnyBad()), "%s exited 0 in spite of failures", e.Tool)
	d.Add(exit != 0 && !failures, "%s exited %d without a failure%s", e.Tool, exit, words)
	d.Add(!e.Ran && !failures, "no test ran")
}
