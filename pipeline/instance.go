package pipeline

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"sluice/replay"
)

// InstanceEvidence names the evidence under which a family's last stages leave the admitted record.
const InstanceEvidence = "instance"

// Text is bytes that are mostly UTF-8: JSON holds a string where they are, and {"base64": "…"} where they are not,
// so that no hunk is ever changed by encoding it.
type Text []byte

// MarshalJSON implements json.Marshaler.
func (t Text) MarshalJSON() ([]byte, error) {
	if utf8.Valid(t) {
		return json.Marshal(string(t))
	}
	return json.Marshal(map[string]string{"base64": base64.StdEncoding.EncodeToString(t)})
}

// UnmarshalJSON implements json.Unmarshaler.
func (t *Text) UnmarshalJSON(b []byte) error {
	var s string
	if err := json.Unmarshal(b, &s); err == nil {
		*t = Text(s)
		return nil
	}
	var o struct {
		Base64 *string `json:"base64"`
	}
	if err := json.Unmarshal(b, &o); err != nil || o.Base64 == nil {
		return fmt.Errorf("decoding text: want a string or {\"base64\": …}")
	}
	raw, err := base64.StdEncoding.DecodeString(*o.Base64)
	if err != nil {
		return fmt.Errorf("decoding text: %w", err)
	}
	*t = raw
	return nil
}

// OverlayFile is one sealed test file of a check.
type OverlayFile struct {
	Path string `json:"path"`
	Mode string `json:"mode"` // "100644", "100755", "120000"
	Data Text   `json:"data"`
}

// Check is one graded run of an instance: the sealed tests laid over the agent's tree, and what must come out.
type Check struct {
	Name       string        `json:"name"`     // foresight: "task", "anticipation"
	Resolves   bool          `json:"resolves"` // its tests decide whether the task itself is resolved
	Files      []OverlayFile `json:"files"`
	Remove     []string      `json:"remove,omitempty"`
	Target     []string      `json:"target,omitempty"` // test files or folders to run; none: everything
	FailToPass []string      `json:"fail_to_pass"`     // sorted ids
	PassToPass []string      `json:"pass_to_pass"`
}

// Side is one of the two changes behind an instance, as the sealed record names it.
type Side struct {
	Number    int    `json:"number,omitempty"`
	Base      string `json:"base"`
	Head      string `json:"head"`
	Title     string `json:"title"`
	Committed string `json:"committed"`  // RFC 3339, UTC
	Patch     Text   `json:"patch"`      // source files only
	TestPatch Text   `json:"test_patch"` // test files only
}

// Excluded is a test that leaves every list of an instance.
type Excluded struct {
	Test     string   `json:"test"`
	Reason   string   `json:"reason"`   // "flaky", "clock-sensitive"
	State    string   `json:"state"`    // where that was seen: "h1+T2"
	Outcomes []string `json:"outcomes"` // of each run there
}

// Instance is an admitted candidate as a release holds it: everything, sealed. What an agent may see is Task.
// It holds no time of the run that made it and no path of the machine: same evidence, same bytes.
type Instance struct {
	ID          string            `json:"instance_id"` // opaque: "owner__repo-1a2b3c4d5e"
	Family      string            `json:"family"`
	Repo        string            `json:"repo"`
	Language    string            `json:"language"`
	Base        string            `json:"base_commit"` // the state that the agent gets
	CreatedAt   string            `json:"created_at"`  // RFC 3339: when the task's change landed
	Statement   string            `json:"problem_statement"`
	Patch       Text              `json:"patch"`          // the task's real source patch
	Gold        Text              `json:"gold,omitempty"` // a patch on Base that earns full credit, where one is proven
	Recipe      replay.Recipe     `json:"recipe"`
	Checks      []Check           `json:"checks"`
	Task        Side              `json:"task"`
	Fix         Side              `json:"fix"`
	Link        json.RawMessage   `json:"link"`               // how the pair is known: method, quotation, votes
	Flaky       []string          `json:"flaky,omitempty"`    // quarantined by name
	Excluded    []Excluded        `json:"excluded,omitempty"` // tests that no list has, with reasons; the flaky ones are among them
	Dropped     []string          `json:"dropped,omitempty"`  // test functions and helpers that narrowing removed
	Labels      map[string]string `json:"labels"`             // judged, achievable, mechanism, …: the filters of an export
	Repeats     int               `json:"repeats"`            // runs behind every listed test
	Description json.RawMessage   `json:"details,omitempty"`  // the family's own
}

// PublicTask is what an agent may see of an instance. Nothing in it names the fix, a test or a later object.
type PublicTask struct {
	ID        string        `json:"instance_id"`
	Family    string        `json:"family"`
	Repo      string        `json:"repo"`
	Language  string        `json:"language"`
	Base      string        `json:"base_commit"`
	Statement string        `json:"problem_statement"`
	Recipe    replay.Recipe `json:"recipe"`
}

// Public returns what an agent may see of i.
func (i Instance) Public() PublicTask {
	return PublicTask{i.ID, i.Family, i.Repo, i.Language, i.Base, i.Statement, i.Recipe}
}
