package judging

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"sluice/judges"
	"sluice/judges/model"
)

const whole = `disagree = "hold"

[[endpoint]]
name = "lab"
url = "http://127.0.0.1:8080/v1"
key_env = "LAB_KEY"
silence = "90s"

[[model]]
name = "small"
endpoint = "lab"
max_output = 2000
input_usd = "0.25"
output_usd = "1"
[model.extra]
top_k = 1
reasoning = { effort = "low", levels = [1, 2] }

[[model]]
name = "large"
endpoint = "lab"
max_output = 4000
input_usd = "3"
output_usd = "15"

[panel.default]
models = ["small"]

[panel.szz-attribution]
models = ["small", "large"]
samples = 3
rule = "majority"

[budget]
run_usd = 2.5
run_tokens = 1000000
candidate_usd = "0.30"
store_usd = 100
stage_usd = { judge = 0.000001, leak = "7" }
`

func TestParse(t *testing.T) {
	t.Parallel()
	c, err := Parse(whole)
	ok(t, err)
	tokens := int64(1_000_000)
	same(t, "budget", c.Budget, Budget{
		RunUSD: usd(2_500_000), RunTokens: &tokens, CandidateUSD: usd(300_000), StoreUSD: usd(100_000_000),
		StageUSD: map[string]USD{"judge": 1, "leak": 7_000_000},
	})
	same(t, "disagree", c.Disagree, DisagreeHolds)
	same(t, "silence", c.Endpoints[0].Silence, 90*time.Second)
	same(t, "extra", c.Models[0].Extra, map[string]any{"top_k": int64(1), "reasoning": map[string]any{"effort": "low", "levels": []any{int64(1), int64(2)}}})
	same(t, "panel of its own", c.Panel("szz-attribution"), judges.Panel{Models: []string{"small", "large"}, Samples: 3, Rule: judges.Majority})
	same(t, "default panel", c.Panel("clarity"), judges.Panel{Models: []string{"small"}, Samples: 1, Rule: judges.All})
	same(t, "panel of no model", Config{}.Panel("clarity"), judges.Panel{Samples: 1, Rule: judges.All})
	c, err = Parse("")
	ok(t, err)
	same(t, "nothing", c, Config{})
}

// The documentation shows a configuration that works.
func TestDocumentedConfig(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/judging.md")
	ok(t, err)
	_, text, _ := strings.Cut(string(page), "```toml\n")
	text, _, found := strings.Cut(text, "```")
	c, err := Parse(text)
	ok(t, err)
	if !found || len(c.Models) == 0 || c.Budget.RunUSD == nil || c.Budget.StoreUSD == nil || c.Budget.StageUSD == nil || c.Budget.RunTokens == nil {
		t.Errorf("it does not show everything: %+v", c)
	}
	same(t, "severity", c.Severity, judges.DefaultSeverity())
}

// One model needs no panel.
func TestPanelOfTheOnlyModel(t *testing.T) {
	t.Parallel()
	from, to := strings.Index(whole, `[[model]]`+"\n"+`name = "large"`), strings.Index(whole, "[budget]")
	c, err := Parse(whole[:from] + whole[to:])
	ok(t, err)
	same(t, "panel", c.Panel("clarity"), judges.Panel{Models: []string{"small"}, Samples: 1, Rule: judges.All})
}

func TestLoadSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name     string
		old, new string // what is replaced in the whole configuration
		want     string
	}{
		{"no TOML", "[budget]", "[budget", "line 35, near panel.szz-attribution: expected"},
		{"unknown table", "[budget]", "[money]\na = 1\n[budget]", "line 34: nothing is called money"},
		{"unknown key", "run_usd", "runs_usd", "line 35: nothing is called budget.runs_usd"},
		{"unknown key of the second model", "max_output = 4000", "max_output = 4000\ntop_p = 1", "line 23: nothing is called model.top_p"},
		{"unknown key of a panel", "samples", "votes", "line 31: nothing is called panel.szz-attribution.votes"},
		{"a key in the wrong place", `key_env = "LAB_KEY"`, `key = "sk-canary-1"`, "line 6: nothing is called endpoint.key"},
		{"wrong type", "samples = 3", `samples = "3"`, "samples"},
		{"no amount", "run_usd = 2.5", "run_usd = -2.5", `line 35, near budget.run_usd: "-2.5" is no amount`},
		{"no amount either", "run_usd = 2.5", "run_usd = true", "line 35, near budget.run_usd: want dollars like 2.5"},
		{"too exact", "run_usd = 2.5", "run_usd = 0.0000001", "with six decimals at most"},
		{"too much", "run_usd = 2.5", "run_usd = 9000000000000000000", "more than a budget can be"},
		{"negative tokens", "run_tokens = 1000000", "run_tokens = -1", "budget.run_tokens: may not be negative"},
		{"disagree", `"hold"`, `"maybe"`, `disagree: must be "reject" or "hold"`},
		{"no default panel", "[panel.default]", "[panel.severity]", "panel.default: is missing; say which of the 2 models judge"},
		{"a judge that is not there", "[panel.szz-attribution]", "[panel.szz]", "panel.szz: no judge is called so"},
		{"severity", "[budget]", "[[severity]]\nimpact = \"broken\"\n[budget]", "severity, row 1: broad"},
		{"unknown model of a panel", `models = ["small"]`, `models = ["tiny"]`, `panel.default: models: there is no model "tiny"`},
		{"empty panel", `models = ["small"]`, `models = []`, "panel.default: models: is empty"},
		{"model twice", `["small", "large"]`, `["small", "small"]`, `"small" stands twice`},
		{"samples", "samples = 3", "samples = 300", "panel.szz-attribution: samples: must be between 1 and 25"},
		{"rule", `"majority"`, `"most"`, `panel.szz-attribution: rule: must be "all", "majority" or "any"`},
		{"what the client checks", "max_output = 2000", "max_output = 0", "model 1 (small): max_output"},
		{"time without a unit", "[budget]", "[agent]\nmodel = \"small\"\ntime = 30\n[budget]", "agent.time: 30ns is too short"},
		{"longer than a request may live", `silence = "90s"`, `total = "6h"`, "endpoint 1 (lab): total: must be less than 6h"},
		{"too long", "[budget]", strings.Repeat("#", configBytes), "longer than"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "models.toml")
			if strings.Count(whole, tc.old) != 1 {
				t.Fatalf("%q stands %d times", tc.old, strings.Count(whole, tc.old))
			}
			ok(t, os.WriteFile(path, []byte(strings.Replace(whole, tc.old, tc.new, 1)), 0o644))
			_, err := Load(path)
			if !errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), path) || !strings.Contains(err.Error(), tc.want) {
				t.Fatalf("got %v, want %q", err, tc.want)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error shows a key: %v", err)
			}
		})
	}
	if _, err := Load(filepath.Join(t.TempDir(), "none")); !errors.Is(err, os.ErrNotExist) || !errors.Is(err, model.ErrConfig) {
		t.Errorf("got %v", err)
	}
}

// A file may be anything: a pipe that nobody writes to is empty, and thousands of keys that nothing reads are no quadratic work.
func TestLoadEndsSoon(t *testing.T) {
	t.Parallel()
	pipe := filepath.Join(t.TempDir(), "pipe")
	ok(t, syscall.Mkfifo(pipe, 0o600))
	c, err := Load(pipe)
	ok(t, err)
	same(t, "an empty pipe", c, Config{})
	var many strings.Builder
	for i := range 50_000 {
		fmt.Fprintf(&many, "k%d = 1\n", i)
	}
	_, err = Parse(many.String())
	if err == nil || strings.Count(err.Error(), "nothing is called") != mostUnknown || !strings.Contains(err.Error(), "there are 49980 more keys that nothing reads") {
		t.Errorf("got %.2000v", err)
	}
}

func FuzzParse(f *testing.F) {
	f.Add(whole)
	f.Add("[[model]]\nextra = { a = 1 }\nb.c = 2")
	f.Add("[budget]\nrun_usd = 1e300")
	f.Fuzz(func(t *testing.T, text string) {
		c, err := Parse(text)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without a text")
			}
			return
		}
		if err := c.Check(); err != nil {
			t.Errorf("parsed what does not pass its check: %v", err)
		}
	})
}

func FuzzUSD(f *testing.F) {
	for _, s := range []string{"0", "2.5", "0.000001", "1125899906.842624", "-1", "1e3", "1.", ".5", "0.0000001", "+1", "1_000"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := ParseUSD(text)
		if err != nil {
			return
		}
		again, err := ParseUSD(u.String())
		if err != nil || again != u || u < 0 || u > most {
			t.Errorf("%q is %d, written %s, read as %d: %v", text, u, u, again, err)
		}
	})
}

func TestUSD(t *testing.T) {
	t.Parallel()
	for u, want := range map[USD]string{0: "0.000000", 1: "0.000001", 2_500_000: "2.500000", -1_500_000: "-1.500000", -1 << 63: "-9223372036854.775808"} {
		same(t, want, u.String(), want)
	}
}
