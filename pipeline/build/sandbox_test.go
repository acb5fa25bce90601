package build

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/replay/docker"
	"sluice/replay/docker/images"
)

// TestOneLanguagesImageStopsNoOther: a base image that is missing fails those that need it, at once and with the line that makes it; only
// one that all have ends the run. See github.com/multi-swe-bench/multi-swe-bench/issues/50, where one image stopped all.
func TestOneLanguagesImageStopsNoOther(t *testing.T) {
	t.Parallel()
	missing := fmt.Errorf("preparing: %w: sluice/rust:trixie: make it with sluice images build rust", docker.ErrNoImage)
	for name, tt := range map[string]struct {
		image             string
		err               error
		aborts, permanent bool
	}{
		"one language's image":            {"", missing, false, true},
		"the image of all":                {"mine:1", missing, true, false},
		"one language's platform":         {"", docker.ErrPlatform, false, true},
		"the platform of all":             {"mine:1", docker.ErrPlatform, true, false},
		"no engine":                       {"", docker.ErrNoEngine, true, false},
		"no runtime":                      {"", docker.ErrNoRuntime, true, false},
		"a disk that stays full":          {"", docker.ErrNoSpace, true, false},
		"the network":                     {"", docker.ErrNetwork, false, false},
		"an environment that was evicted": {"mine:1", fmt.Errorf("%w: %w", docker.ErrNoEnv, docker.ErrNoImage), false, false},
		"nothing":                         {"", nil, false, false},
	} {
		err := SandboxConfig{Kind: "docker", Image: tt.image}.everyones(tt.err)
		if pipeline.Aborts(err) != tt.aborts || pipeline.IsPermanent(err) != tt.permanent || !errors.Is(err, tt.err) {
			t.Errorf("%s: %v aborts %v, permanent %v", name, err, pipeline.Aborts(err), pipeline.IsPermanent(err))
		}
	}
}

// TestWallsAreInKeys: what ran between other walls is another result.
func TestWallsAreInKeys(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	for _, w := range []docker.WallOptions{{}, {Runtime: "runsc"}, {Security: []string{"seccomp=unconfined"}}, {Runtime: "runsc", Security: []string{"seccomp=unconfined"}}} {
		seen[SandboxConfig{Kind: "docker", Walls: w}.Lazy(t.TempDir()).Name()] = true
	}
	if len(seen) != 4 || !seen["docker"] {
		t.Errorf("names: %v", seen)
	}
}

// TestEvictorPlan: only environments go, those used longest ago first, and none that a run may be about to take.
func TestEvictorPlan(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	image := func(name string, kind images.Kind, own int64, age time.Duration) images.Image {
		return images.Image{Name: name, ID: name, Kind: kind, Own: own, Used: now.Add(-age)}
	}
	base := image("sluice/base:trixie", images.KindToolchain, 1000, 9000*time.Hour)
	base.Stale = true // sluice images gc may remove it; a run does not
	busy := image("busy", images.KindEnvironment, 100, 20*time.Hour)
	busy.InUse = true
	list := []images.Image{
		base, busy, image("new", images.KindEnvironment, 100, time.Minute), image("old", images.KindEnvironment, 100, 10*time.Hour),
		image("older", images.KindEnvironment, 100, 11*time.Hour), image("unnamed", images.KindUnnamed, 100, 12*time.Hour),
	}
	for _, tt := range []struct {
		name  string
		marks DiskMarks
		need  int64
		want  []string
	}{
		{"below the mark", DiskMarks{High: 500, Low: 400}, 0, nil},
		{"above the mark", DiskMarks{High: 499, Low: 300}, 0, []string{"unnamed", "older"}},
		{"no more than may go", DiskMarks{High: 1, Low: 0}, 0, []string{"unnamed", "older", "old"}},
		{"for so many bytes", DiskMarks{High: 9999, Low: 9999}, 101, []string{"unnamed", "older"}},
		{"for more than there is", DiskMarks{}, 1 << 40, []string{"unnamed", "older", "old"}},
	} {
		e := &evictor{marks: tt.marks, clock: func() time.Time { return now }}
		var got []string
		for _, i := range e.plan(list, tt.need) {
			got = append(got, i.Name)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, d)
		}
	}
}
