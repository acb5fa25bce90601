package judges

import (
	"encoding/json"
	"strings"
	"testing"

	"sluice/judges/sanitise"
)

// TestSanitiseReport: rules take ids out before the judge sees the report; the judge's passages go, each checked; the rest stays as it was.
func TestSanitiseReport(t *testing.T) {
	t.Parallel()
	const culprit = "89abcdef0123456789abcdef0123456789abcdef"
	report := "Saving a file twice freezes the window.\n\nSteps: open a file, change it, save it, change it again and save: nothing happens.\n" +
		"It began with " + culprit[:12] + ".\nThe watcher of Priya's rewrite is the one that hangs."
	reply := func(span string) string {
		b, err := json.Marshal(map[string]any{
			"survey":    "The first lines tell of the symptom and of the steps, the last one of whose work it was.",
			"spans":     []any{map[string]any{"reason": "It names whose change it was.", "kind": "author_or_date", "text": span}},
			"reasoning": "The steps stay, since any user would write them; only the last sentence points at one change.",
			"code":      "delete", "quote": "change it again and save: nothing happens",
		})
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	task := ReportTask{
		Repository: "ada/editor", Report: report, Known: sanitise.Answer{Commits: []string{culprit}},
		Answer: "Priya's change that replaced polling by a watcher", Patch: "diff --git a/w.go b/w.go\n--- a/w.go\n+++ b/w.go\n@@ -1 +1 @@\n-poll()\n+watch()\n",
	}
	asked := says(reply("The watcher of Priya's rewrite is the one that hangs."))
	bench, panel := one(asked)
	got, err := SanitiseReport(t.Context(), bench, task, panel)
	if err != nil {
		t.Fatal(err)
	}
	for _, gone := range []string{culprit[:12], "Priya"} {
		if strings.Contains(got.Text, gone) {
			t.Errorf("%q is still there: %q", gone, got.Text)
		}
	}
	if !strings.Contains(got.Text, "change it again and save: nothing happens") || got.Lacks != "" || len(got.Refused) > 0 {
		t.Errorf("left: %q, lacks %q, refused %v", got.Text, got.Lacks, got.Refused)
	}
	by := map[string]bool{}
	for _, d := range got.Deleted {
		by[d.By] = true
		if report[d.Start:d.End] != d.Text {
			t.Errorf("the deletion %+v does not stand there", d)
		}
	}
	if !by[sanitise.ByRule] || !by[sanitise.ByModel] {
		t.Errorf("deletions are by %v", by)
	}

	// A judge that wants nearly everything out is not followed.
	bench, panel = one(says(reply(report[:strings.Index(report, "Steps")] + "Steps: open a file, change it, save it, ")))
	if got, err = SanitiseReport(t.Context(), bench, task, panel); err != nil || len(got.Refused) != 1 || got.Refused[0].Code != sanitise.TooMuch {
		t.Errorf("%v: refused %+v, left %q", err, got.Refused, got.Text)
	}
}
