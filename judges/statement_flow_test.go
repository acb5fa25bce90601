package judges

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/judges/leak"
	"sluice/judges/model"
)

var statementTask = StatementTask{
	Repository: "harbour/quay",
	TaskText:   "Read durations as people write them\n\nTimeouts are hard to read in seconds (#12).",
	TaskPatch:  addedLines("quay/durations.py", "def parse_duration(text):\n    return int(text)\n"),
	FixText:    "Refuse negative timeouts",
	FixPatch:   addedLines("quay/durations.py", "def refuse_negative(text):\n    raise ValueError('a timeout must not be below zero')\n"),
	FixTests:   addedLines("tests/test_durations.py", "def test_below_zero():\n    assert refuse_negative('-1')\n"),
	Static:     leak.Input{Numbers: []int{77}},
}

func written(title, body string) string {
	b, err := json.Marshal(map[string]string{"title": title, "body": body})
	if err != nil {
		panic(err)
	}
	return string(b)
}

const goodBody = "## Problem\nTimeouts are given in seconds, which nobody can read.\n\n## Wanted behaviour\n- Texts such as 1h30m are understood."

var good = written("Understand durations in hours and minutes", goodBody)

// ruling is a reply of either judge about a statement that holds the quotation.
func clarityReply(code, hint string) string {
	open := "[]"
	if code != "0" {
		open = `["which units"]`
	}
	return fmt.Sprintf(`{"understood":"Durations are to be read.","open":%s,"reasoning":"The units are named by an illustration, and one can tell what comes out of each of them.","code":%q,"quote":"nobody can read","hint":%q}`, open, code, hint)
}

func leakageReply(code, hint string) string {
	return fmt.Sprintf(`{"missed_case":"Timeouts below zero.","flawed_way":"Whatever can be read is taken.","reasoning":"No sentence comes near to the case, and the way is left to whoever does it.","code":%q,"quote":"nobody can read","hint":%q}`, code, hint)
}

var (
	isClear = clarityReply("0", "")
	isClean = leakageReply("clean", "")
)

// script answers each prompt with its replies in turn, the last one for good. A reply that begins with "!" is an error's name.
func script(replies map[string][]string) *oracle {
	n := map[string]int{}
	faults := map[string]error{"!long": model.ErrTooLong, "!budget": model.ErrBudget, "!transient": model.ErrTransient}
	return &oracle{say: func(r model.Request) (string, error) {
		list := replies[r.Prompt]
		if len(list) == 0 {
			return "", fmt.Errorf("nobody expected a question of %s", r.Prompt)
		}
		text := list[min(n[r.Prompt], len(list)-1)]
		n[r.Prompt]++
		if err := faults[text]; err != nil {
			return "", err
		}
		return text, nil
	}}
}

var flowOptions = StatementOptions{Writer: "w", Clarity: Panel{Models: []string{"j"}}, Leakage: Panel{Models: []string{"j"}}}

func TestMakeStatement(t *testing.T) {
	t.Parallel()
	withID := written("Understand durations", goodBody+"\nSee #77 and 0123456789abcdef0123456789abcdef01234567.")
	withName := written("Understand durations", goodBody+"\n- It has a function refuse_negative.")
	withWords := written("Understand durations", goodBody+"\n- One can refuse negative ones.")
	german := written("Dauern in Stunden verstehen", "Die Angaben sind in Sekunden und werden nicht verstanden, wenn sie mit Stunden geschrieben sind.")
	vague := clarityReply("2", "Say which units there are.")
	leaky := leakageReply("leaks_anticipation", "Take the sentence out.")
	for _, tt := range []struct {
		name    string
		replies map[string][]string
		end     string // end and code
		steps   string
	}{
		{"good at once", map[string][]string{WriteStatement: {good}, StatementClarity: {isClear}, StatementLeakage: {isClean}}, "accepted", "write rules clarity leakage"},
		{"some blanks", map[string][]string{WriteStatement: {good}, StatementClarity: {clarityReply("1", "")}, StatementLeakage: {isClean}}, "accepted", "write rules clarity leakage"},
		{"clear after a repair", map[string][]string{WriteStatement: {good}, RepairStatement: {written("Read durations of all units", goodBody+"\n- Also 45s.")},
			StatementClarity: {vague, isClear}, StatementLeakage: {isClean}}, "accepted", "write rules clarity leakage repair rules clarity leakage"},
		{"never clear", map[string][]string{WriteStatement: {good}, RepairStatement: {written("Read durations in hours", goodBody)},
			StatementClarity: {vague}, StatementLeakage: {isClean}}, "unclear 2", "write rules clarity leakage repair rules clarity leakage"},
		{"the same text again", map[string][]string{WriteStatement: {good}, RepairStatement: {good}, StatementClarity: {vague}, StatementLeakage: {isClean}},
			"unclear 2", "write rules clarity leakage repair"},
		{"leaks, whatever is said", map[string][]string{WriteStatement: {good}, RepairStatement: {written("Read durations in hours", goodBody)},
			StatementClarity: {vague}, StatementLeakage: {leaky}}, "leaks leaks_anticipation", "write rules clarity leakage repair rules clarity leakage"},
		{"empty", map[string][]string{WriteStatement: {written("", "")}}, "failed no-reply", "write"},
		{"blank", map[string][]string{WriteStatement: {written(strings.Repeat(" ", 10), strings.Repeat("\n", 50))}}, "failed no-reply", "write"},
		{"empty after the repair", map[string][]string{WriteStatement: {good}, RepairStatement: {"{}"}, StatementClarity: {vague}, StatementLeakage: {isClean}},
			"failed no-reply", "write rules clarity leakage repair"},
		{"ids, then none", map[string][]string{WriteStatement: {withID}, RepairStatement: {good}, StatementClarity: {isClear}, StatementLeakage: {isClean}},
			"accepted", "write rules clarity leakage repair rules clarity leakage"},
		{"ids for good", map[string][]string{WriteStatement: {withID}, RepairStatement: {withName}, StatementClarity: {isClear}, StatementLeakage: {isClean}},
			"leaks name", "write rules clarity leakage repair rules"},
		{"words that may be chance", map[string][]string{WriteStatement: {withWords}, StatementClarity: {isClear}, StatementLeakage: {isClean}},
			"accepted", "write rules clarity leakage"},
		{"another language, then English", map[string][]string{WriteStatement: {german}, RepairStatement: {good}, StatementClarity: {isClear}, StatementLeakage: {isClean}},
			"accepted", "write rules repair rules clarity leakage"},
		{"another language", map[string][]string{WriteStatement: {german}, RepairStatement: {written("Понимать часы и минуты", strings.Repeat("Понимать часы и минуты. ", 3))}},
			"failed not-english", "write rules repair rules"},
		{"a judge that cannot", map[string][]string{WriteStatement: {good}, StatementClarity: {"I like it."}, StatementLeakage: {isClean}},
			"failed no-reply", "write rules clarity leakage"},
		{"too long", map[string][]string{WriteStatement: {"!long"}}, "failed too-long", "write"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			asker := script(tt.replies)
			got, err := MakeStatement(t.Context(), Bench{Asker: asker}, statementTask, flowOptions)
			if err != nil {
				t.Fatal(err)
			}
			if end := strings.TrimSpace(got.End + " " + got.Code); end != tt.end || got.End != StatementAccepted && got.Reason == "" {
				t.Errorf("ended %s: %s", end, got.Reason)
			}
			var steps []string
			for _, s := range got.Steps {
				steps = append(steps, strings.TrimPrefix(s.Kind, "statement-"))
			}
			if diff := cmp.Diff(tt.steps, strings.Join(steps, " ")); diff != "" {
				t.Error(diff)
			}
			first := len(asker.asked)
			again, err := MakeStatement(t.Context(), Bench{Asker: asker}, statementTask, flowOptions)
			if err != nil || again.End != got.End || again.Statement.Text() != got.Statement.Text() {
				t.Errorf("a second run ended %s: %v", again.End, err)
			}
			if n := len(asker.asked) - first; n > 0 && tt.name != "too long" { // nothing came that could be stored
				t.Errorf("a second run asked %d times", n)
			}
			if again.MicroUSD != 0 || got.MicroUSD != int64(5*first) && tt.name != "too long" {
				t.Errorf("cost %d for %d questions, then %d", got.MicroUSD, first, again.MicroUSD)
			}
		})
	}
}

// What the later change says is told to the judge of leakage only: never to the author, not by way of an objection either.
func TestAuthorDoesNotLearnTheFix(t *testing.T) {
	t.Parallel()
	asker := script(map[string][]string{
		WriteStatement:   {written("Understand durations", goodBody+"\nOne may refuse-negative as in #77, and a timeout must not be below zero.")},
		RepairStatement:  {good},
		StatementClarity: {clarityReply("2", "Say which units there are.")}, StatementLeakage: {leakageReply("leaks_future_fix", "Take it out.")},
	})
	got, err := MakeStatement(t.Context(), Bench{Asker: asker}, statementTask, flowOptions)
	if err != nil || got.End != StatementLeaks {
		t.Fatalf("%v, %+v", err, got)
	}
	told := 0
	for _, r := range asker.asked {
		if r.Prompt != WriteStatement && r.Prompt != RepairStatement {
			continue
		}
		told++
		for _, m := range r.Messages {
			for _, secret := range []string{"refuse_negative", "test_below_zero", "Refuse negative", "ValueError"} {
				if strings.Contains(m.Content, secret) {
					t.Errorf("%s was told of %q", r.Prompt, secret)
				}
			}
		}
		if r.Prompt == RepairStatement && !strings.Contains(r.Messages[1].Content, `"a timeout must not be below zero" must not stand there in these words`) {
			t.Error("the repair was not told what the rules found")
		}
	}
	if told != 2 {
		t.Errorf("the author was asked %d times, want 2", told)
	}
}

// Whatever models say, in whatever order, a statement comes to an end that has a reason, and few questions are asked.
func TestStatementAlwaysEnds(t *testing.T) {
	t.Parallel()
	pool := rapid.SliceOfN(rapid.SampledFrom([]string{good, written("Understand durations", goodBody+" #77"), written("", ""), "{}", "", "no", "!long", good + good,
		isClear, isClean, clarityReply("3", "More."), leakageReply("prescribes_mechanism", "Less."), leakageReply("clean", "Odd."), clarityReply("2", "")}), 1, 8)
	rapid.Check(t, func(t *rapid.T) {
		replies := map[string][]string{}
		for _, p := range []string{WriteStatement, RepairStatement, StatementClarity, StatementLeakage} {
			replies[p] = pool.Draw(t, p)
		}
		asker := script(replies)
		got, err := MakeStatement(context.Background(), Bench{Asker: asker}, statementTask, flowOptions)
		if err != nil {
			t.Fatal(err)
		}
		switch got.End {
		case StatementAccepted:
			found := leak.Find(got.Statement.Text(), leak.Input{Numbers: statementTask.Static.Numbers})
			strong := slices.ContainsFunc(found, func(l leak.Leak) bool { return l.Strength == leak.Strong })
			if got.Statement.Title == "" || got.Code != "" || strong {
				t.Fatalf("accepted: %+v", got)
			}
		case StatementUnclear, StatementLeaks, StatementFailed:
			if got.Code == "" || got.Reason == "" {
				t.Fatalf("no reason: %+v", got)
			}
		default:
			t.Fatalf("end %q", got.End)
		}
		if len(asker.asked) > 36 || len(got.Steps) > 8 {
			t.Fatalf("%d questions, %d steps", len(asker.asked), len(got.Steps))
		}
	})
}

func TestStatementIsInterrupted(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]error{"!budget": model.ErrBudget, "!transient": model.ErrTransient} {
		got, err := MakeStatement(t.Context(), Bench{Asker: script(map[string][]string{WriteStatement: {good}, StatementClarity: {name}})}, statementTask, flowOptions)
		if !errors.Is(err, want) || got.End != StatementFailed || got.Code != "interrupted" || len(got.Steps) != 3 || got.Statement.Title != "" {
			t.Errorf("%s: %v, %+v", name, err, got)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := MakeStatement(ctx, Bench{Asker: script(nil)}, statementTask, flowOptions); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// TestStatementRequests compares all that is sent in one flow with its golden file: go test ./judges -update writes it.
func TestStatementRequests(t *testing.T) {
	t.Parallel()
	asker := script(map[string][]string{WriteStatement: {written("Understand durations", goodBody+"\nSee #77.")}, RepairStatement: {good},
		StatementClarity: {clarityReply("2", "Say which units there are."), isClear}, StatementLeakage: {isClean}})
	if _, err := MakeStatement(t.Context(), Bench{Asker: asker}, statementTask, flowOptions); err != nil {
		t.Fatal(err)
	}
	// The system messages are the prompts', and have golden files of their own.
	type request struct {
		Prompt, Model string
		Messages      []string
	}
	var sent []request
	for _, r := range asker.asked {
		one := request{Prompt: r.Prompt, Model: r.Model}
		for _, m := range r.Messages[1:] {
			one.Messages = append(one.Messages, m.Role+": "+m.Content)
		}
		sent = append(sent, one)
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(sent); err != nil {
		t.Fatal(err)
	}
	got := out.Bytes()
	name := filepath.Join("testdata", "statement-flow", "requests.json")
	if f := flag.Lookup("update"); f != nil && f.Value.String() == "true" {
		if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, got, 0o644)); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatalf("%v; run go test ./judges -update", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Error(diff)
	}
}
