package judges

import (
	"context"
	"fmt"

	"sluice/judges/sanitise"
)

// ReportTask is a report of a regression that somebody shall localise, and what must not be told of the answer.
type ReportTask struct {
	Repository string
	Report     string
	Known      sanitise.Answer // what rules look for
	Answer     string          // what the judge is told: the culprit in words
	Patch      string          // of the culprit; may be empty
}

// SanitisedReport is what is left of a report, with every deletion, and what the judge said.
type SanitisedReport struct {
	sanitise.Result
	Ruling  *Ruling            `json:"ruling,omitempty"`
	Refused []sanitise.Refusal `json:"refused,omitempty"` // proposals that were not followed
	Lacks   string             `json:"lacks,omitempty"`   // a code of sanitise.Remains: too little is left to be a report
}

// maxProposed is the largest share of a report that a judge may take out: beyond it the report was about the answer.
const maxProposed = 0.4

// SanitiseReport takes out of a report what gives the answer away, by deletion only: rules first, then what the judge proposes, each
// passage checked. Every vote's proposals count, since one that saw the answer is enough. Errors are those of Judge.Rule; the
// deletions of the rules are in the result all the same.
func SanitiseReport(ctx context.Context, b Bench, t ReportTask, p Panel) (SanitisedReport, error) {
	d := sanitise.Report(t.Report, t.Known)
	out := SanitisedReport{Result: d.Result()}
	judge, ok := ByName(SanitiserProposals)
	if !ok {
		return out, fmt.Errorf("there is no judge %s", SanitiserProposals)
	}
	ruling, err := judge.Rule(ctx, b, Case{
		"repository": {t.Repository}, "report": {d.Text()}, "answer": given(t.Answer), "answer_patch": given(t.Patch),
	}, p)
	out.Ruling = &ruling
	if err != nil {
		return out, fmt.Errorf("sanitising a report: %w", err)
	}
	var proposals []sanitise.Proposal
	for _, v := range ruling.Votes {
		reply, err := Read[SpansReply](*v.Verdict)
		if err != nil {
			return out, fmt.Errorf("sanitising a report: %w", err)
		}
		for _, s := range reply.Spans {
			proposals = append(proposals, sanitise.Proposal{Text: s.Text, Reason: s.Kind})
		}
	}
	out.Refused = d.Propose(proposals, maxProposed)
	out.Result = d.Result()
	out.Lacks = sanitise.Remains(out.Text)
	return out, nil
}
