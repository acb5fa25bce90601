package foresight

import (
	"encoding/json"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/miners/gitrepo"
	"sluice/pipeline"
	"sluice/pipeline/recipes"
	"sluice/replay"
	"sluice/replay/narrow"
)

func files(pairs ...string) (out []replay.File) {
	for i := 0; i < len(pairs); i += 2 {
		out = append(out, replay.File{Path: pairs[i], Mode: 0o644, Data: []byte(pairs[i+1])})
	}
	return out
}

// What difference keeps is enough for apply to make the narrowed overlay again, also after it was stored.
func TestNarrowedRoundTrip(t *testing.T) {
	t.Parallel()
	full := replay.Overlay{Files: files("a_test.go", "whole", "b_test.go", "gone", "c_test.go", "kept"), Remove: []string{"d_test.go"}}
	for name, narrowed := range map[string]replay.Overlay{
		"nothing":       full,
		"edit, removal": {Files: files("a_test.go", "part", "c_test.go", "kept"), Remove: []string{"d_test.go"}},
		"emptied file":  {Files: files("a_test.go", "", "b_test.go", "gone", "c_test.go", "kept"), Remove: []string{"d_test.go"}},
	} {
		var n, stored Narrowed
		n.difference(full, narrowed)
		b, err := json.Marshal(n)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(b, &stored); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(narrowed, stored.apply(full)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	if string(full.Files[0].Data) != "whole" {
		t.Error("the overlay itself was changed")
	}
}

func TestLacks(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		tests map[string]string
		want  bool
	}{
		"all ran and failed":  {map[string]string{"a": "assertion", "b": "assertion"}, false},
		"passed and skipped":  {map[string]string{"a": "pass", "b": "skip"}, false},
		"one is missing":      {map[string]string{"a": "assertion"}, true},
		"one did not build":   {map[string]string{"a": "assertion", "b": "build"}, true},
		"one not collected":   {map[string]string{"a": "collection", "b": "pass"}, true},
		"another one is gone": {map[string]string{"a": "pass", "b": "pass", "c": "build"}, false},
	} {
		r := FixRuns{FailToPass: []string{"a", "b"}}
		if got := r.lacks(report(tt.tests)); got != tt.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

func TestInstanceID(t *testing.T) {
	t.Parallel()
	for repo, want := range map[string]string{
		"o/r": "o__r-0123456789ab", "demo": "local__demo-0123456789ab", "a b/ü": "a-b__--0123456789ab",
	} {
		if got := instanceID(repo, "fs-0123456789ab"); got != want {
			t.Errorf("%s: %s, want %s", repo, got, want)
		}
	}
}

func TestOverlayFiles(t *testing.T) {
	t.Parallel()
	o := replay.Overlay{Files: []replay.File{
		{Path: "z", Mode: 0o755, Data: []byte("x")}, {Path: "l", Mode: fs.ModeSymlink | 0o777, Data: []byte("z")}, {Path: "a", Mode: 0o644},
	}}
	want := []pipeline.OverlayFile{{Path: "a", Mode: "100644"}, {Path: "l", Mode: "120000", Data: []byte("z")}, {Path: "z", Mode: "100755", Data: []byte("x")}}
	if diff := cmp.Diff(want, overlayFiles(o)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestLabels(t *testing.T) {
	t.Parallel()
	day := time.Date(2024, 1, 1, 0, 0, 0, 0, time.UTC)
	r := record{
		proposal: Proposal{Fix: gitrepo.Change{Committed: day.Add(50 * time.Hour)}},
		link:     Link{Method: "szz", Intro: &gitrepo.Change{Committed: day}},
		origin:   OriginRuns{Achievable: Unclear, Mechanism: Regression},
		gold:     Gold{Clock: ClockUnknown},
	}
	want := map[string]string{"clock_sensitive": "unknown", "achievable": "unknown", "gold": "none", "mechanism": "regression", "linked": "szz", "statement": "original", "days": "2", "narrowed": "false"}
	if diff := cmp.Diff(want, r.labels()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.origin.Gold, r.origin.Achievable = pipeline.Text("diff"), Proven
	r.fixRuns.Narrowed.Dropped = []narrow.Drop{{File: "a_test.go", Name: "TestX"}}
	want["gold"], want["achievable"], want["narrowed"] = "full", "proven", "true"
	if diff := cmp.Diff(want, r.labels()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The key of a run tells apart what makes other trees or other commands.
func TestRunInputs(t *testing.T) {
	t.Parallel()
	key := func(repeat int, os ...replay.Overlay) string {
		b, err := json.Marshal(recipes.Run{Recipe: replay.Recipe{Fingerprint: "f"}, Job: replay.Job{Tree: fakeTree{}, Overlays: os}}.Work("local", "", repeat).Inputs)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	write, remove := replay.Overlay{Files: files("a", "1")}, replay.Overlay{Remove: []string{"a"}}
	keys := map[string]bool{}
	all := []string{key(1), key(2), key(1, write), key(1, remove), key(1, write, remove), key(1, remove, write), key(1, replay.Overlay{Files: files("a", "2")})}
	for _, k := range all {
		keys[k] = true
	}
	if len(keys) != len(all) {
		t.Errorf("%d keys for %d jobs:\n%s", len(keys), len(all), strings.Join(all, "\n"))
	}
}

type fakeTree struct{ replay.Tree }

func (fakeTree) ID() string { return "tree" }
