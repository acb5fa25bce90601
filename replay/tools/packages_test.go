package tools_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"

	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/tools"
	"sluice/replay/tools/tooltest"
)

// TestPackages installs a Debian package into an environment, passes over one that Debian has not, and leaves nothing of the
// network's settings behind.
func TestPackages(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from Debian's mirror")
	}
	api, _, err := docker.Connect(t.Context(), "")
	if err == nil {
		defer api.Close()
		_, err = api.ImageInspect(t.Context(), tools.DefaultImage)
	}
	switch {
	case err == nil:
	case os.Getenv("SLUICE_REQUIRE_DOCKER") == "1":
		t.Fatalf("SLUICE_REQUIRE_DOCKER is set: %v", err)
	default:
		t.Skipf("needs a docker engine with %s: %v", tools.DefaultImage, err)
	}
	box, err := docker.New(t.Context(), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer box.Close()
	tree := tooltest.Tree{"README": "x"}
	r := tools.WithPackages(replay.Recipe{Runner: "gotest", Image: tools.DefaultImage}, []string{"no-such-package-anywhere", "libyaml-dev", "libc6."})
	if r, err = tools.Seal(t.Context(), tree, r); err != nil {
		t.Fatal(err)
	}
	forget := func() {
		_, _ = api.ImageRemove(context.Background(), "sluice/env:"+r.Fingerprint, image.RemoveOptions{PruneChildren: true})
	}
	forget()
	t.Cleanup(forget)
	env, err := box.Prepare(t.Context(), r, tree)
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{"no package here: no-such-package-anywhere", "no package here: libc6."} {
		if !strings.Contains(env.Log, line) {
			t.Errorf("the log does not say %q:\n%s", line, env.Log)
		}
	}
	res, err := box.Run(t.Context(), replay.Job{Name: "packages", Tree: tree, Env: env, Steps: []replay.Step{
		{Name: "there", Args: []string{"pkg-config", "--exists", "yaml-0.1"}},
		{Name: "clean", Args: []string{"sh", "-c", "! ls /tmp/sluice.list /var/lib/apt/lists/*Packages* 2>/dev/null"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range res.Steps {
		if s.ExitCode != 0 || s.Stop != replay.Exited {
			t.Errorf("step %s: %s with code %d: %s%s", s.Name, s.Stop, s.ExitCode, s.Stdout, s.Stderr)
		}
	}
}
