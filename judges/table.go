package judges

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"sluice/judges/evidence"
	"sluice/prompts"
)

// The names of the judges and of the prompts that write. Each is also the name of a file of package prompts.
const (
	PairEligibility    = "pair-eligibility"
	PairFairness       = "pair-fairness"
	Attribution        = "szz-attribution"
	StatementClarity   = "statement-clarity"
	StatementLeakage   = "statement-leakage"
	Interfaces         = "interfaces"
	TaskValidity       = "task-validity"
	SeverityAxes       = "severity"
	OperationCheck     = "operation-check"
	RegressionVerifier = "regression-verifier"
	ReportRubric       = "report-rubric"
	ScopeAlternatives  = "scope-alternatives"
	SanitiserProposals = "sanitiser-proposals"
	NoteAlignment      = "release-note-alignment"

	WriteStatement     = "statement-write"
	RepairStatement    = "statement-repair"
	WriteSymptom       = "symptom-write"
	WriteSpecification = "specification-write"
)

// Writers are the prompts whose replies are texts (title and body), which other judges check.
func Writers() []string {
	return []string{WriteStatement, RepairStatement, WriteSymptom, WriteSpecification}
}

// Specs is the table of judges, in the order of the rubric.
func Specs() []Spec {
	return []Spec{
		eligibility(), fairness(), attribution(), clarity(), leakage(), interfaces(), taskValidity(), severityAxes(),
		operation(), verifier(), rubric(), scopes(), spans(), alignment(),
	}
}

// registered checks the whole table once: a table that does not fit its prompts is a mistake in the program.
var registered = sync.OnceValue(func() []Judge {
	var out []Judge
	for _, s := range Specs() {
		j, err := New(s)
		if err != nil {
			panic(fmt.Sprintf("judges: %v", err))
		}
		out = append(out, j)
	}
	return out
})

// Judges returns all judges in the order of the rubric.
func Judges() []Judge { return slices.Clone(registered()) }

// ByName returns the judge of that name.
func ByName(name string) (Judge, bool) {
	all := registered()
	i := slices.IndexFunc(all, func(j Judge) bool { return j.Name() == name })
	if i < 0 {
		return nil, false
	}
	return all[i], true
}

// Fitting is the part of a case that a judge reads: pieces for which its prompt has no slot are for other judges.
func Fitting(judge string, c Case) Case {
	p, err := prompts.Load(judge)
	if err != nil {
		return c // whoever asks is told
	}
	out := Case{}
	for _, s := range p.Slots {
		if units, ok := c[s.Name]; ok {
			out[s.Name] = units
		}
	}
	return out
}

// Read gives the fields of a verdict as the type that belongs to its judge, such as AttributionReply.
func Read[T any](v Verdict) (T, error) {
	var out T
	if err := json.Unmarshal(v.Fields, &out); err != nil {
		return out, fmt.Errorf("reading a verdict: %w", err)
	}
	return out, nil
}

// base is what every judge's reply has.
type base struct {
	Reasoning string `json:"reasoning"`
	Code      string `json:"code"`
	Quote     string `json:"quote"`
}

func (b base) common() base { return b }

// decidable is a reply that can be decided.
type decidable interface{ common() base }

// spec makes a judge of its codes and of the check of its replies. The check's error is one line that is sent to the model.
func spec[T decidable](prompt string, codes []Code, check func(r T, seen *evidence.Seen) error) Spec {
	decide := func(fields json.RawMessage, seen *evidence.Seen) (Verdict, error) {
		var r T
		if err := json.Unmarshal(fields, &r); err != nil {
			return Verdict{}, fmt.Errorf("the reply does not fit the schema: %w", err)
		}
		b := r.common()
		i := slices.IndexFunc(codes, func(c Code) bool { return c.Name == b.Code })
		if i < 0 {
			return Verdict{}, fmt.Errorf("code %q is none of the codes", b.Code)
		}
		if err := ownWords(prompt, fields, b.Reasoning, seen); err != nil {
			return Verdict{}, err
		}
		if err := check(r, seen); err != nil {
			return Verdict{}, err
		}
		return Verdict{Code: b.Code, Keeps: codes[i].Keeps, Quote: b.Quote, Fields: fields}, nil
	}
	return Spec{Prompt: prompt, Codes: codes, Decide: decide}
}

// fold turns each run of white space into one blank.
func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// maxLabelled is the most characters of a labelled unit: such units are never cut in their middle.
const maxLabelled = 300

// Numbered puts labels before the units of a list, L1, L2 and so on, by which a judge names them. Each becomes one line, so that
// no unit can look like another one's label.
func Numbered(letter string, units []string) []string {
	out := make([]string, len(units))
	for i, u := range units {
		text := fold(u)
		if r := []rune(text); len(r) > maxLabelled {
			text = string(r[:maxLabelled]) + " (shortened)"
		}
		out[i] = labelOf(letter, i) + " " + text
	}
	return out
}

func labelOf(letter string, i int) string { return fmt.Sprintf("%s%d", letter, i+1) }

var labelForm = regexp.MustCompile(`^([A-Z][1-9][0-9]*) `)

// labels are those of the units of a slot that were sent, in order.
func labels(seen *evidence.Seen, slot string) []string {
	var out []string
	for _, u := range seen.Units(slot) {
		if m := labelForm.FindStringSubmatch(u); m != nil {
			out = append(out, m[1])
		}
	}
	return out
}

// quoted checks a quotation that belongs to a key of the reply.
func quoted(seen *evidence.Seen, key, quote string, slots ...string) error {
	if err := seen.Quoted(quote, slots...); err != nil {
		return fmt.Errorf("%s: %w", key, err)
	}
	return nil
}

// quotation is one of several in a reply.
type quotation struct {
	key, text string
	slots     []string
}

// allQuoted checks several; the first that does not hold is the error.
func allQuoted(seen *evidence.Seen, all []quotation) error {
	for _, q := range all {
		if err := quoted(seen, q.key, q.text, q.slots...); err != nil {
			return err
		}
	}
	return nil
}

// evidenceSlots are the slots of a prompt that may be quoted: all but the repository's name, which supports nothing.
func evidenceSlots(prompt string) []string {
	p, err := prompts.Load(prompt)
	if err != nil {
		return nil // New has refused it before
	}
	var out []string
	for _, s := range p.Slots {
		if s.Name != "repository" {
			out = append(out, s.Name)
		}
	}
	return out
}
