package setup

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/judges/agent"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/replay"
	"sluice/replay/tools"
)

// Judge is who rules on operations.
type Judge struct {
	Bench    judges.Bench // on whose account is for the request to say
	Panel    judges.Panel
	Settings any // all that its rulings depend on besides the evidence
}

// rule asks the judge of operations about an accepted recipe with open questions. Only "ok" leaves it accepted.
func (s *Setup) rule(ctx context.Context, q Request, open []operation.Finding, out *Result) error {
	j, ok := judges.ByName(judges.OperationCheck)
	if !ok {
		return pipeline.Permanent(fmt.Errorf("there is no judge %q", judges.OperationCheck))
	}
	given, err := s.record(ctx, q, open, *out)
	if err != nil {
		return err
	}
	bench := s.Judge.Bench
	bench.Charge, bench.Round = q.Charge, q.Round
	ruling, err := j.Rule(ctx, bench, given, s.Judge.Panel)
	if err != nil {
		return fmt.Errorf("asking the judge %s: %w", judges.OperationCheck, err)
	}
	out.Ruling = &ruling
	if !ruling.Keeps {
		out.Accepted, out.Reason = false, fmt.Sprintf("the judge of operations: %s: %.200q", ruling.Code, ruling.Quote)
	}
	return nil
}

// record is the evidence for the judge. The open questions come first among the findings.
func (s *Setup) record(ctx context.Context, q Request, open []operation.Finding, out Result) (judges.Case, error) {
	t := out.Session.Transcript
	var report bytes.Buffer
	if err := json.Indent(&report, t.Report, "", " "); err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("writing the report: %w", err))
	}
	given := judges.Case{"rules": {q.rules()}, "commands": told(t, out.Trials[len(out.Trials)-1]), "report": {report.String()}}
	var left []agents.File
	for _, f := range out.Session.Changes.Files {
		if f.Kind != replay.Special {
			left = append(left, f.Keep())
		}
	}
	changes, err := agents.Patch(ctx, q.Tree, left)
	if err != nil {
		return nil, pipeline.Permanent(err)
	}
	if changes != "" {
		given["changes"] = []string{changes}
	}
	rest := slices.DeleteFunc(operation.Questions(out.Findings), func(f operation.Finding) bool { return slices.Contains(open, f) })
	for _, f := range slices.Concat(open, rest) {
		given["findings"] = append(given["findings"], f.String())
	}
	return given, nil
}

// rules says what the agent was to do, for the judge.
func (q Request) rules() string {
	lines := []string{
		"The operator had to find commands that make the test tool run on this state. What counts is a list of commands, with variables, out of the session: it was replayed in a fresh sandbox, with a fresh tree.",
		"Everything else that the session did, and all that it left in the tree, is gone.",
		"No file of the program, of its tests or of its configuration may be changed.",
		"The program itself may be installed from its own folder only, in editable form, and in no release; its history may not be fetched. Dependencies of any version may be installed, and programs of the system.",
		"The report of the tests may come from the test tool only.",
	}
	if len(q.Scope) > 0 {
		lines = append(lines, fmt.Sprintf("These %d tests were required: %s. Some may be left out if the report names them with a reason that lies in the environment or in the age of the state.", len(q.Scope), strings.Join(q.Scope, ", ")))
		if may := q.supports(); len(may) > 0 {
			lines[1] = "Everything else that the session did is gone, but for these support files, which may be adapted or added: " + strings.Join(may, ", ") + "."
			lines = append(lines, "Inputs, assertions, expected values, parameters and skips of the required tests may not change through them.")
		}
	}
	return strings.Join(lines, "\n")
}

// recordBytes is about what the judge's prompt has room for; each output gets its share of what the commands leave.
const recordBytes = 20_000

// told is a session as the judge sees it, with the replay at its end.
func told(t agent.Transcript, trial Trial) []string {
	turns := t.Commands()
	room := recordBytes
	for _, turn := range turns {
		room -= len(turn.Command) + 60
	}
	share := max(200, room/(len(turns)+1))
	var out []string
	for _, turn := range turns {
		o := turn.Output
		end := fmt.Sprintf("exit code %d", o.ExitCode)
		if o.Stop != agent.Exited {
			end = "ended by the sandbox: " + o.Stop
		}
		out = append(out, fmt.Sprintf("Turn %d, %s:\n%s\nIt printed:\n%s", turn.N, end, turn.Command, agent.CutMiddle(strings.TrimSpace(o.Text), share)))
	}
	return append(out, fmt.Sprintf("After the session, in a fresh sandbox, the machine ran the recipe of the report and then the test tool (step %q). Result: %s. The test tool printed:\n%s",
		tools.StepTest, trial.Reason, agent.CutMiddle(strings.TrimSpace(trial.Log), share)))
}
