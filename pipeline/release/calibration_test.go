package release

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/judges"
	"sluice/pipeline"
	"sluice/pipeline/calibration"
)

// public is what settings say of a configuration with one model that judges alone.
const public = `{"Models":{"Models":{"m":{"id":"m-1","max_output":100,"temperature":0}},"Panels":{"default":{"models":["m"],"samples":1,"rule":"all"}}}}`

// ruling is one on attribution.
func ruling(model string, version int) judges.Ruling {
	return judges.Ruling{Judge: judges.Attribution, Prompt: judges.Attribution, Version: version, Code: "A", Keeps: true, Votes: []judges.Vote{{Model: model, Calls: []string{}}}}
}

// judgedInstance is an instance that a model attributed.
func judgedInstance(t *testing.T, id, repo string, r ...judges.Ruling) pipeline.Instance {
	t.Helper()
	inst := goInstance(id)
	inst.Repo = repo
	b, err := json.Marshal(map[string]any{"judgement": map[string]any{"pair": r}})
	if err != nil {
		t.Fatal(err)
	}
	inst.Description = b
	return inst
}

// calibrate leaves a table of that maker in the ledger: 3 right and 2 wrong proposals, one of each rejected; one abstention, one failure.
func (l *ledger) calibrate(t *testing.T, repo string, m *calibration.Maker) {
	t.Helper()
	chain := func(proposed, code string, keeps bool) calibration.Chain {
		return calibration.Chain{Candidate: "none", Repo: repo, Truth: "a", Proposed: proposed, Judged: true, Code: code, Keeps: keeps}
	}
	chains := []calibration.Chain{
		chain("a", "A", true), chain("a", "A", true), chain("a", "C3", false), chain("b", "A", true), chain("b", "C2", false),
		{Candidate: "none", Repo: repo, Truth: "a", Why: "add-only"}, {Candidate: "none", Repo: repo, Truth: "a", Proposed: "b", Failed: "no-verdict"},
	}
	name := calibration.RulesName
	if m != nil {
		name = judges.Attribution
	}
	b, err := json.Marshal(calibration.Kept{Schema: "sluice.calibration/1", Family: "foresight", Repo: repo, Judges: []calibration.KeptJudge{{Judge: name, Maker: m, Chains: chains}}})
	if err != nil {
		t.Fatal(err)
	}
	digest, err := l.Put(t.Context(), b)
	if err != nil {
		t.Fatal(err)
	}
	l.marks["calibration:foresight:"+repo] = digest
}

func maker() *calibration.Maker {
	return &calibration.Maker{Prompt: judges.Attribution, Version: 2, Voters: []string{"m/0"}, Rule: judges.All, Models: json.RawMessage(`{"m":{"id":"m-1","max_output":100,"temperature":0}}`)}
}

// TestCardCalibration: a table is shown where it belongs to whoever judged, and nowhere else.
func TestCardCalibration(t *testing.T) {
	t.Parallel()
	l := newLedger()
	settings := map[string]string{}
	add := func(repo, public string, measured *calibration.Maker, r ...judges.Ruling) {
		settings[repo] = public
		l.admit(t, judgedInstance(t, fmt.Sprintf("i-%d", len(settings)), repo, r...))
		if measured != nil {
			l.calibrate(t, repo, measured)
		}
	}
	add("a/measured", public, maker(), ruling("m", 2))
	add("b/measured too", public, maker()) // by testimony: nobody ruled on its attribution
	add("c/older prompt", public, maker(), ruling("m", 1))
	add("d/other model", public, maker(), ruling("n", 2))
	add("e/other parameters", strings.Replace(public, "m-1", "m-2", 1), maker(), ruling("m", 2))
	add("f/never", public, nil, ruling("m", 2))
	add("g/other rule", strings.Replace(public, `"rule":"all"`, `"rule":"any"`, 1), maker(), ruling("m", 2))
	add("h/rules", "{}", nil)
	l.calibrate(t, "h/rules", nil)
	add("i/rules, but models were measured", "{}", maker())
	add("j/stale", public, maker(), ruling("m", 2))
	l.marks["calibration:foresight:j/stale"] = l.stale(t, l.marks["calibration:foresight:j/stale"])
	c, err := collect(t.Context(), Options{Store: l, Family: "foresight", Settings: settings})
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	cardCalibration(&b, c.calibrated)
	golden(t, "calibration.md", []byte(b.String()))
}

// stale alters a kept calibration so that its chains were read from other evidence.
func (l *ledger) stale(t *testing.T, digest string) string {
	t.Helper()
	b := strings.ReplaceAll(string(l.blobs[digest]), `"link":""`, `"link":"sha256:older"`)
	d, err := l.Put(t.Context(), []byte(b))
	if err != nil {
		t.Fatal(err)
	}
	return d
}
