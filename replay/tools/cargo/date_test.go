package cargo

import (
	"testing"
	"time"

	"sluice/replay/tools/tooltest"
)

// TestDated: versions are those of a day where no lock file says which; the compiler is not.
func TestDated(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 5, 17, 0, 0, 0, 0, time.UTC)
	loose := mustRecipe(t, tooltest.Tree{"Cargo.toml": one, "src/lib.rs": ""})
	got, ok := Tool{}.Dated(loose, day)
	if !ok || got.Install[0].Env["SLUICE_BEFORE"] != "2024-07-01" || got.Install[1].Env["SLUICE_BEFORE"] != "" || len(got.Notes) != len(loose.Notes)+1 {
		t.Errorf("%t %+v %q", ok, got.Install[0].Env, got.Notes)
	}
	if loose.Install[0].Env != nil {
		t.Error("the recipe that was given is another one")
	}
	for name, tree := range map[string]tooltest.Tree{
		"a lock file":    {"Cargo.toml": one, "Cargo.lock": "version = 3\n"},
		"vendored":       {"Cargo.toml": one, ".cargo/config.toml": "[source.v]\ndirectory = \"vendor\"\n"},
		"an empty table": {"Cargo.toml": one, "Cargo.lock": "# nothing\n"},
	} {
		if r, ok := (Tool{}).Dated(mustRecipe(t, tree), day); ok {
			t.Errorf("%s: %+v", name, r.Install)
		}
	}
}
