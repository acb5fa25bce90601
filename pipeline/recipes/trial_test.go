package recipes

import (
	"errors"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/replay"
)

// TestInstallFaultsAreNotKept: what the network or the time limit ended says nothing about a recipe. The next look installs again, and what fails
// on its own account is kept. A time limit is not waited for twice in one run.
func TestInstallFaultsAreNotKept(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		fault     error
		permanent bool
	}{
		"network":    {fmt.Errorf("%w: step pip", replay.ErrNetwork), false},
		"time limit": {replay.InstallFault(replay.StepResult{Name: "pip", Stop: replay.Timeout}), true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := &box{name: "docker", fault: tt.fault}
			l, r := ladder(t, b, "commit one \"1\"\n"+code+"-- one/go.mod --\nmodule m\n")
			q := Request{Once: (&memo{kept: map[string][]byte{}}).once, Commit: r.IDs["one"]}
			if _, err := l.Find(t.Context(), q); !errors.Is(err, errors.Unwrap(tt.fault)) && !errors.Is(err, tt.fault) || pipeline.IsPermanent(err) != tt.permanent {
				t.Fatalf("got %v", err)
			}
			b.fault = nil
			for range 2 {
				f, err := l.Find(t.Context(), q)
				if err != nil || !f.OK {
					t.Fatalf("%+v, %v", f.Tries, err)
				}
			}
			if d := cmp.Diff([]string{"prepare ", "prepare ", "prepare ", "run "}, b.calls); d != "" {
				t.Errorf("calls (-want +got):\n%s", d)
			}
		})
	}
}

// TestInstalledIsKept: what a state's environment has stands beside what its tests did, also when both come out of a store.
func TestInstalledIsKept(t *testing.T) {
	t.Parallel()
	b := &box{name: "docker"}
	l, r := ladder(t, b, "commit one \"1\"\n"+code+"-- one/go.mod --\nmodule m\n")
	q := Request{Once: (&memo{kept: map[string][]byte{}}).once, Commit: r.IDs["one"]}
	for range 2 {
		f, err := l.Find(t.Context(), q)
		if err != nil || f.Trial.Image != "sha256:"+f.Recipe.Fingerprint || f.Trial.Installed != "fine" || len(f.Trial.Report.Tests) == 0 {
			t.Errorf("%+v, %v", f.Trial, err)
		}
	}
}
