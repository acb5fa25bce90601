package gitrepo_test

import (
	"errors"
	"strings"
	"testing"

	"sluice/miners/gitrepo"
	"sluice/miners/gitrepo/gittest"
)

func TestHolds(t *testing.T) {
	t.Parallel()
	r := gittest.Build(t, `
commit a "Begin"
commit b "Go on"
-- a/pkg/retry_budget.go --
package pkg
// $(touch x) [a-z]* "quoted"
-- b/later.go --
package later
`)
	m := mirror(t, r.Dir)
	for words, want := range map[string]bool{
		"package pkg": true, "retry_budget.go": true, "pkg/retry": true, "later": false, "$(touch x)": true, "[a-z]*": true, "[p]ackage": false,
		"-e": false, "--": false, "": false, "package pkg\n//": false, "\"quoted\"": true,
	} {
		if got, err := m.Holds(t.Context(), r.IDs["a"], words); err != nil || got != want {
			t.Errorf("%q: %v, %v", words, got, err)
		}
	}
	if got, err := m.Holds(t.Context(), r.IDs["b"], "package later"); err != nil || !got {
		t.Errorf("the later state: %v, %v", got, err)
	}
	if _, err := m.Holds(t.Context(), strings.Repeat("d", 40), "x"); !errors.Is(err, gitrepo.ErrMissingObject) {
		t.Errorf("a commit that is not there: %v", err)
	}
	if _, err := m.Holds(t.Context(), "--all", "x"); err == nil {
		t.Error("an option was taken for an id")
	}
}
