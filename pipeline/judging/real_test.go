package judging

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/judges"
	"sluice/judges/leak"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/store"
)

// Evidence for a real model: a list of free slots, a change that forgot its end, and the fix.
const (
	realTaskText  = "Keep free slots in a list\n\nfree() remembers the slot, alloc() takes the newest one first, so that little memory is touched."
	realTaskPatch = `diff --git a/pool/slots.py b/pool/slots.py
--- a/pool/slots.py
+++ b/pool/slots.py
@@ -4,9 +4,13 @@ class Slots:
     def __init__(self, size):
         self.size = size
         self.next = 0
+        self.free_list = []
 
     def alloc(self):
-        slot = self.next
-        self.next += 1
-        return slot
+        if self.free_list is not None:
+            return self.free_list.pop()
+        self.next += 1
+        return self.next - 1
+
+    def free(self, slot):
+        self.free_list.append(slot)
`
	realTraced  = "pool/slots.py:10  if self.free_list is not None:\npool/slots.py:11  return self.free_list.pop()"
	realFixText = "alloc() fails on a new pool\n\nThe list is empty at first and is never None, so that the first alloc() raises IndexError: pop from empty list."
	realFixDiff = `diff --git a/pool/slots.py b/pool/slots.py
--- a/pool/slots.py
+++ b/pool/slots.py
@@ -8,7 +8,7 @@ class Slots:
     def alloc(self):
-        if self.free_list is not None:
+        if self.free_list:
             return self.free_list.pop()
         self.next += 1
         return self.next - 1
`
	realFixTests = `diff --git a/tests/test_slots.py b/tests/test_slots.py
--- a/tests/test_slots.py
+++ b/tests/test_slots.py
@@ -1,3 +1,7 @@
 from pool.slots import Slots
 
+
+def test_first_alloc_of_a_new_pool():
+    assert Slots(8).alloc() == 0
`
	realStatement = "Keep freed slots for later use\n\nSlots.free(slot) gives a slot back. The next alloc() returns the slot that was freed last. When no slot was " +
		"freed, alloc() returns the next new one as before."
)

// realCases are the judges that a real model is asked as, each with its evidence.
func realCases() map[string]judges.Case {
	return map[string]judges.Case{
		judges.Attribution: {"task_text": {realTaskText}, "task_patch": {realTaskPatch}, "traced_lines": {realTraced},
			"fix_text": {realFixText}, "fix_patch": {realFixDiff}, "fix_tests": {realFixTests}},
		judges.StatementClarity: {"repository": {"harbour/pool"}, "statement": {realStatement}},
		judges.SeverityAxes: {"repository": {"harbour/pool"}, "task_text": {realTaskText}, "fix_text": {realFixText}, "fix_patch": {realFixDiff},
			"fix_tests": {realFixTests}, "facts": {"three people reported it within a day"}},
	}
}

// realConfig has one model that is not always of the same opinion.
func realConfig(r *modeltest.Real, form string, stream bool) Config {
	c := Config{Config: r.Config(300)}
	c.Endpoints[0].Structured, c.Endpoints[0].Stream = form, stream
	c.Models[0].Temperature = 0.6
	return c
}

// realGrammar is a grammar of replies about the statement, in llama.cpp's own field of a request. It leaves the model the choices, of which
// some go together and some do not, so that even a weak one gives verdicts and is asked again.
const realGrammar = `root ::= "{\"understood\":\"A slot that was freed is to be given out again.\",\"open\":" open ",\"reasoning\":\"" reasoning "\",\"code\":\"" [0-3] "\",\"quote\":\"" quote "\",\"hint\":\"" hint "\"}"
open ::= "[]" | "[\"What becomes of a slot that is free already\"]"
reasoning ::= "The calls and their results are named, so that little is left to be guessed." | "It is said what comes back, but not what becomes of a slot that is free already."
quote ::= "The next alloc() returns the slot that was freed last." | "alloc() fails on a new pool with an error"
hint ::= "" | "Say what becomes of a slot that is given back twice."
`

// failures are the names that a vote's failure may have, with how it is counted.
var failures = []struct {
	is   error
	name string
}{{judges.ErrNoVerdict, "void"}, {model.ErrTooLong, "did not end"}, {model.ErrFiltered, "filtered"}, {model.ErrRejected, "refused"}, {model.ErrTransient, "no reply"}}

// failure names an error; "": it has no name.
func failure(err error) string {
	for _, f := range failures {
		if errors.Is(err, f.is) {
			return f.name
		}
	}
	return ""
}

// votesEnd checks that each vote is a verdict or a named failure, and counts them.
func votesEnd(t *testing.T, r judges.Ruling, err error, counts map[string]int) {
	t.Helper()
	failed := 0
	for _, v := range r.Votes {
		switch {
		case v.Verdict != nil && v.Failed == "" && len(v.Calls) == 1:
			counts["valid"]++
		case v.Verdict != nil && v.Failed == "" && len(v.Calls) > 1:
			counts["repaired"]++
		case v.Verdict == nil && v.Failed != "":
			failed++
			i := slices.IndexFunc(failures, func(f struct {
				is   error
				name string
			}) bool {
				return strings.Contains(v.Failed, f.is.Error())
			})
			if i < 0 {
				t.Errorf("a vote failed without a name: %s", v.Failed)
				continue
			}
			counts[failures[i].name]++
		default:
			t.Errorf("a vote is neither a verdict nor a failure: %+v", v)
		}
		t.Logf("%s, sample %d, %d questions: %s", r.Judge, v.Sample, len(v.Calls), outcome(v))
	}
	if len(r.Votes) == 0 || (failed > 0) != (err != nil) || err != nil && failure(err) == "" {
		t.Errorf("%d of %d votes failed, and the ruling's error is %v", failed, len(r.Votes), err)
	}
	if err == nil && (r.Code == "" || r.Quote == "") {
		t.Errorf("a ruling without a code or a quotation: %+v", r)
	}
}

func outcome(v judges.Vote) string {
	if v.Verdict == nil {
		return v.Failed
	}
	return string(v.Verdict.Fields)
}

// unpaid is a ruling without what it cost this time.
func unpaid(r judges.Ruling) judges.Ruling {
	r.Votes = slices.Clone(r.Votes)
	for i := range r.Votes {
		r.Votes[i].MicroUSD = 0
	}
	return r
}

// TestRealModelJudges has panels rule in each form, over a store on disk. Every vote is a verdict or a failure with a name. A second run, and
// one that may ask nobody, say the same and make no request.
func TestRealModelJudges(t *testing.T) {
	r := modeltest.NewReal(t)
	all := []string{judges.Attribution, judges.StatementClarity, judges.SeverityAxes}
	for _, tt := range []struct {
		name, form string
		stream     bool
		grammar    string
		judges     []string
	}{
		{"schema", model.BySchema, false, "", all},
		{"object", model.ByObject, true, "", all[1:2]},
		{"prompt", model.ByPrompt, false, "", all[1:2]},
		{"grammar", model.ByPrompt, true, realGrammar, all[1:2]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			dir := t.TempDir()
			config := realConfig(r, tt.form, tt.stream)
			if tt.grammar != "" {
				config.Models[0].Temperature = 2
				config.Models[0].Extra = model.Extra{"grammar": tt.grammar, "min_p": 0, "top_p": 1}
			}
			config.Panels = map[string]judges.Panel{DefaultPanel: {Models: []string{"m"}, Samples: 3, Rule: judges.Majority}}
			counts := map[string]int{}
			before := len(r.Replies())
			s := openStore(t, dir, realClock())
			first := realRound(t, s, config, Options{}, tt.judges)
			for _, got := range first {
				votesEnd(t, got.ruling, got.err, counts)
			}
			for i, a := range r.Replies()[before:] {
				t.Logf("reply %d (%s, %d tokens): %+q", i+1, a.Finish, a.Usage.Output, short(a.Text))
			}
			t.Logf("votes by %s: %v", tt.name, counts)
			if counts["no reply"] > 0 {
				t.Log("not all questions were answered: another run may ask them again")
				return
			}
			asked := r.Requests()
			for _, o := range []Options{{}, {ReplayOnly: true}} {
				again := realRound(t, s, config, o, tt.judges)
				for name := range first {
					same(t, "the ruling of "+name, unpaid(again[name].ruling), unpaid(first[name].ruling))
					same(t, "the error of "+name, fmt.Sprint(again[name].err), fmt.Sprint(first[name].err))
				}
			}
			same(t, "requests of further runs", r.Requests()-asked, 0)
			settled(t, s)
		})
	}
	t.Log(r.Summary())
}

// settled: nothing is left open or uncertain, and what was paid has its tokens.
func settled(t *testing.T, s *store.Store) {
	t.Helper()
	calls, err := s.ModelCalls(t.Context(), "")
	ok(t, err)
	for _, c := range calls {
		if c.State != store.Settled || c.Input == 0 || c.Output == 0 || c.MicroUSD != c.Input+2*c.Output {
			t.Errorf("the ledger has %+v", c)
		}
	}
	sound(t, s)
}

// realClock is the machine's: leases of the store are compared with what processes do.
func realClock() *clock { return &clock{now: time.Now()} }

type ruled struct {
	ruling judges.Ruling
	err    error
}

// realRound is one run.
func realRound(t *testing.T, s *store.Store, c Config, o Options, names []string) map[string]ruled {
	t.Helper()
	o.Clock = time.Now
	d, err := Open(t.Context(), s, c, o)
	ok(t, err)
	out := map[string]ruled{}
	for _, name := range names {
		j, found := judges.ByName(name)
		if !found {
			t.Fatalf("no judge is called %s", name)
		}
		ruling, err := j.Rule(t.Context(), d.Bench("a", "judge"), realCases()[name], d.Panel(name))
		out[name] = ruled{ruling, err}
	}
	ok(t, d.Close(context.WithoutCancel(t.Context())))
	return out
}

func short(s string) string {
	if r := []rune(s); len(r) > 700 {
		return string(r[:700]) + " …"
	}
	return s
}

// TestRealModelStatement has a statement written, checked, repaired and judged. It is accepted or has a reason, the second time from the store.
func TestRealModelStatement(t *testing.T) {
	r := modeltest.NewReal(t)
	s := openStore(t, t.TempDir(), realClock())
	config := realConfig(r, model.BySchema, true)
	config.Models[0].MaxOutput = 600
	run := func(o Options) judges.StatementResult {
		o.Clock = time.Now
		d, err := Open(t.Context(), s, config, o)
		ok(t, err)
		task := judges.StatementTask{Repository: "harbour/pool", TaskText: realTaskText, TaskPatch: realTaskPatch, FixText: realFixText, FixPatch: realFixDiff,
			FixTests: realFixTests, Static: leak.Input{Before: []string{realTaskText, realTaskPatch}}}
		got, err := judges.MakeStatement(t.Context(), d.Bench("a", "statement"), task,
			judges.StatementOptions{Writer: "m", Clarity: d.Panel(judges.StatementClarity), Leakage: d.Panel(judges.StatementLeakage)})
		ok(t, err)
		ok(t, d.Close(context.WithoutCancel(t.Context())))
		return got
	}
	first := run(Options{})
	for i, a := range r.Replies() {
		t.Logf("reply %d (%s, %d tokens): %+q", i+1, a.Finish, a.Usage.Output, short(a.Text))
	}
	t.Logf("%s %s: %s, after %d steps; %s", first.End, first.Code, first.Reason, len(first.Steps), r.Summary())
	if (first.End == judges.StatementAccepted) != (first.Code == "") || first.End != judges.StatementAccepted && first.Reason == "" || len(first.Steps) == 0 {
		t.Errorf("it ends with %q, %q, %q", first.End, first.Code, first.Reason)
	}
	asked := r.Requests()
	for _, o := range []Options{{}, {ReplayOnly: true}} {
		again := run(o)
		same(t, "the end", []string{again.End, again.Code, again.Reason, again.Statement.Text()}, []string{first.End, first.Code, first.Reason, first.Statement.Text()})
		same(t, "what a further run paid", again.MicroUSD, 0)
	}
	same(t, "requests of further runs", r.Requests()-asked, 0)
	settled(t, s)
}
