package judges_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"sluice/judges"
)

// TestSeverity goes through all combinations of the axes. What is no axis of the rule (security, mechanism, whether the reach is
// estimated) does not move a tier.
func TestSeverity(t *testing.T) {
	t.Parallel()
	const c, M, m = "critical", "major", "minor"
	want := map[string][3]string{ // broad, narrow, rare
		"corruption silent": {c, c, M}, "corruption loud": {c, c, M},
		"broken silent": {M, M, m}, "broken loud": {c, m, m},
		"degraded silent": {M, m, m}, "degraded loud": {M, m, m},
		"cosmetic silent": {m, m, m}, "cosmetic loud": {m, m, m},
	}
	asked := 0
	for pair, tiers := range want {
		impact, detectability, _ := strings.Cut(pair, " ")
		for i, reach := range []string{"broad", "narrow", "rare"} {
			for _, mark := range []bool{false, true} {
				a := judges.Axes{Impact: impact, Detectability: detectability, Reach: reach, Estimated: mark, Security: mark, Mechanism: "regression"}
				for _, table := range []judges.SeverityTable{nil, judges.DefaultSeverity()} {
					if got, err := judges.Severity(a, table); err != nil || got != tiers[i] {
						t.Errorf("%s, %s: %s, %v, want %s", pair, reach, got, err, tiers[i])
					}
				}
				asked++
			}
		}
	}
	if asked != 48 {
		t.Errorf("%d combinations, want 48", asked)
	}
}

func TestSeverityOfUnknownAxes(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		axes judges.Axes
		want string
	}{
		{judges.Axes{}, `severity: impact is "", it must be one of corruption, broken, degraded, cosmetic`},
		{judges.Axes{Impact: "Broken", Detectability: "loud", Reach: "broad"}, `severity: impact is "Broken", it must be one of corruption, broken, degraded, cosmetic`},
		{judges.Axes{Impact: "broken", Reach: "broad"}, `severity: detectability is "", it must be one of silent, loud`},
		{judges.Axes{Impact: "broken", Detectability: "loud", Reach: "wide"}, `severity: reach is "wide", it must be one of broad, narrow, rare`},
	} {
		if tier, err := judges.Severity(tt.axes, nil); err == nil || err.Error() != tt.want || tier != "" {
			t.Errorf("%+v: %q, %v, want %s", tt.axes, tier, err, tt.want)
		}
	}
}

func TestSeverityTables(t *testing.T) {
	t.Parallel()
	whole := judges.DefaultSeverity()
	replaced := func(i int, r judges.SeverityRow) judges.SeverityTable {
		out := append(judges.SeverityTable{}, whole...)
		out[i] = r
		return out
	}
	for _, tt := range []struct {
		name  string
		table judges.SeverityTable
		want  string // lines; "": it is good
	}{
		{"default", whole, ""},
		{"another order", judges.SeverityTable{whole[4], whole[2], whole[0], whole[3], whole[1]}, ""},
		{"a row too few", whole[:4], "severity: cosmetic, silent: 0 rows say its tier, 1 is wanted\nseverity: cosmetic, loud: 0 rows say its tier, 1 is wanted"},
		{"half a row too few", append(append(judges.SeverityTable{}, whole[:2]...), whole[3:]...), "severity: broken, silent: 0 rows say its tier, 1 is wanted"},
		{"a row twice", append(append(judges.SeverityTable{}, whole...), whole[1]), "severity: broken, loud: 2 rows say its tier, 1 is wanted"},
		{"a row over a part", append(append(judges.SeverityTable{}, whole...), judges.SeverityRow{Impact: "cosmetic", Detectability: "loud", Broad: "minor", Narrow: "minor", Rare: "minor"}),
			"severity: cosmetic, loud: 2 rows say its tier, 1 is wanted"},
		{"no tier", replaced(0, judges.SeverityRow{Impact: "corruption", Broad: "critical", Narrow: "critical"}), `severity, row 1: rare is "", it must be one of critical, major, minor`},
		{"an unknown tier", replaced(4, judges.SeverityRow{Impact: "cosmetic", Broad: "none", Narrow: "minor", Rare: "minor"}), `severity, row 5: broad is "none", it must be one of critical, major, minor`},
		{"an unknown detectability", append(append(judges.SeverityTable{}, whole...), judges.SeverityRow{Impact: "broken", Detectability: "quiet", Broad: "minor", Narrow: "minor", Rare: "minor"}),
			`severity, row 6: detectability is "quiet", it must be one of silent, loud`},
		{"an unknown impact", append(append(judges.SeverityTable{}, whole...), judges.SeverityRow{Impact: "fatal", Broad: "critical", Narrow: "critical", Rare: "critical"}),
			`severity, row 6: impact is "fatal", it must be one of corruption, broken, degraded, cosmetic`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := ""
			if err := tt.table.Check(); err != nil {
				got = err.Error()
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			a := judges.Axes{Impact: "broken", Detectability: "loud", Reach: "narrow"}
			if tier, err := judges.Severity(a, tt.table); (err == nil) != (tt.want == "") || err != nil && tier != "" {
				t.Errorf("a tier by this table: %q, %v", tier, err)
			}
		})
	}
}

// TestSeverityFromConfiguration reads the table as the configuration has it.
func TestSeverityFromConfiguration(t *testing.T) {
	t.Parallel()
	var c struct {
		Severity judges.SeverityTable `toml:"severity"`
	}
	meta, err := toml.Decode(`
[[severity]]
impact = "corruption"
broad = "critical"
narrow = "critical"
rare = "critical"
[[severity]]
impact = "broken"
broad = "major"
narrow = "major"
rare = "major"
[[severity]]
impact = "degraded"
broad = "minor"
narrow = "minor"
rare = "minor"
[[severity]]
impact = "cosmetic"
broad = "minor"
narrow = "minor"
rare = "minor"
`, &c)
	if err != nil || len(meta.Undecoded()) > 0 {
		t.Fatal(err, meta.Undecoded())
	}
	got, err := judges.Severity(judges.Axes{Impact: "broken", Detectability: "silent", Reach: "rare"}, c.Severity)
	if err != nil || got != "major" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestPanelAxes: an axis has a value only if more than half of the valid votes agree on it.
func TestPanelAxes(t *testing.T) {
	t.Parallel()
	vote := func(impact, reach string, estimated bool) judges.Vote {
		fields, err := json.Marshal(map[string]any{
			"impact": map[string]string{"value": impact}, "detectability": map[string]string{"value": "silent"},
			"reach": map[string]any{"value": reach, "estimated": estimated}, "security": map[string]string{"value": "no"},
			"mechanism": map[string]string{"value": "regression"},
		})
		if err != nil {
			t.Fatal(err)
		}
		return judges.Vote{Verdict: &judges.Verdict{Code: "described", Fields: fields}}
	}
	failed := judges.Vote{Failed: "no valid reply"}
	for _, tt := range []struct {
		name  string
		votes []judges.Vote
		want  judges.Axes
		err   string
	}{
		{"one vote", []judges.Vote{vote("broken", "narrow", true)}, judges.Axes{Impact: "broken", Detectability: "silent", Reach: "narrow", Estimated: true, Mechanism: "regression"}, ""},
		{"two of three, axis by axis", []judges.Vote{vote("broken", "rare", false), vote("degraded", "rare", false), vote("broken", "broad", false)},
			judges.Axes{Impact: "broken", Detectability: "silent", Reach: "rare", Mechanism: "regression"}, ""},
		{"support for the reach is split", []judges.Vote{vote("broken", "narrow", true), vote("broken", "narrow", false)},
			judges.Axes{Impact: "broken", Detectability: "silent", Reach: "narrow", Estimated: true, Mechanism: "regression"}, ""},
		{"a failed vote does not count", []judges.Vote{failed, vote("broken", "narrow", false)}, judges.Axes{Impact: "broken", Detectability: "silent", Reach: "narrow", Mechanism: "regression"}, ""},
		{"split", []judges.Vote{vote("broken", "rare", false), vote("cosmetic", "broad", false)}, judges.Axes{}, "severity: the votes have no majority on impact, reach"},
		{"no vote", []judges.Vote{failed}, judges.Axes{}, "severity: no valid vote"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := judges.PanelAxes(judges.Ruling{Votes: tt.votes})
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if said := errorText(err); said != tt.err {
				t.Errorf("error %q, want %q", said, tt.err)
			}
		})
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
