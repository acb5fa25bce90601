package judges

import (
	"context"
	"encoding/json"

	"sluice/judges/model"
)

// Case is what a judge is asked about: its evidence by slot, each piece as units that are never cut apart if that can be helped
// (the comments of a discussion; a single unit for a text or a diff).
type Case map[string][]string

// Code is one answer that a judge may give.
type Code struct {
	Name  string `json:"name"` // as published: "A", "C1", "clean"
	Label string `json:"label"`
	Text  string `json:"text"`
	Keeps bool   `json:"keeps"`
}

// Verdict is one valid answer.
type Verdict struct {
	Code  string `json:"code"`
	Keeps bool   `json:"keeps"`
	Quote string `json:"quote"` // occurs in the evidence that was sent
	// Fields are the whole reply, as the schema has them.
	Fields json.RawMessage `json:"fields"`
}

// Vote is one member's answer in a panel, or why there is none.
type Vote struct {
	Model   string   `json:"model"`
	Sample  int      `json:"sample,omitempty"`
	Verdict *Verdict `json:"verdict,omitempty"`
	Failed  string   `json:"failed,omitempty"` // one line; the vote does not count
	Calls   []string `json:"calls"`            // keys of its questions in the ledger, repairs included
	// MicroUSD was paid for it now; 0 when all came from the store. It is no part of the record, which has the same bytes either way:
	// the ledger knows what each call cost.
	MicroUSD int64 `json:"-"`
}

// Rule says how votes make a ruling.
type Rule string

// The rules of panels.
const (
	All      Rule = "all"      // all votes keep, or it is out; different codes disagree
	Majority Rule = "majority" // more than half
	Any      Rule = "any"      // one vote that keeps is enough
)

// Panel says who is asked and how votes count.
type Panel struct {
	Models  []string `toml:"models" json:"models"`   // configured names
	Samples int      `toml:"samples" json:"samples"` // of each model; 0: 1
	Rule    Rule     `toml:"rule" json:"rule"`       // "": all
}

// Ruling is what a panel says. It is complete only if every member gave a valid verdict.
type Ruling struct {
	Judge     string  `json:"judge"`
	Prompt    string  `json:"prompt"`
	Version   int     `json:"version"`
	Code      string  `json:"code"` // of the votes that decided
	Keeps     bool    `json:"keeps"`
	Quote     string  `json:"quote"`
	Disagrees bool    `json:"disagrees,omitempty"` // it is out under the rule "all", and not by one code of all votes
	Agreement float64 `json:"agreement"`           // share of votes with the code of most
	Votes     []Vote  `json:"votes"`
}

// Bench is where judges get their answers.
type Bench struct {
	Asker  model.Asker
	Charge model.Charge
	// Round tells the questions of a case that is judged anew (re-opened by a person, say) from the stored ones of before: 0, 1, ….
	// Within a round every question has one answer for good, also one that cannot be used.
	Round int
}

// Judge is one question with a fixed set of answers.
type Judge interface {
	Name() string
	Codes() []Code
	// Rule asks every member of the panel. An error says that too few members gave a valid verdict to rule, and wraps
	// what the last of them met; the votes so far are in the ruling all the same.
	Rule(ctx context.Context, b Bench, c Case, p Panel) (Ruling, error)
}
