package tooltest

import (
	"context"
	"errors"
	"os"
	"slices"
	"testing"

	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/docker/images"
)

// Box is a sandbox that knows which environments a test had in it, by their ids.
type Box struct {
	replay.Sandbox
	Made map[string]bool
}

// Prepare notes the environment.
func (b Box) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	env, err := b.Sandbox.Prepare(ctx, r, t)
	if err == nil {
		b.Made[env.ID] = true
	}
	return env, err
}

// Report prepares the environment of a state, runs the tests of a target over it, and reads what they left. A test whose environment does not
// install ends with the log.
func (b Box) Report(t *testing.T, run replay.Runner, r replay.Recipe, tree replay.Tree, target replay.Target) replay.Report {
	t.Helper()
	env, err := b.Prepare(t.Context(), r, tree)
	if failed := new(replay.InstallError); errors.As(err, &failed) {
		t.Fatalf("%v\n%s", err, failed.Log)
	}
	if err != nil {
		t.Fatal(err)
	}
	res, err := b.Run(t.Context(), replay.Job{Name: "state", Tree: tree, Env: env, Steps: run.Steps(r, target)})
	if err != nil {
		t.Fatal(err)
	}
	return run.Parse(r, target, res)
}

// Docker is a sandbox of the engine that is there, if it has the image; the environments of the test are removed at its end.
func Docker(t *testing.T, image string) Box {
	t.Helper()
	skip := func(err error) {
		if os.Getenv("SLUICE_REQUIRE_DOCKER") == "1" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	engine, err := images.Open(t.Context(), "")
	if err != nil {
		skip(err)
	}
	list, err := engine.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(list, func(i images.Image) bool { return i.Name == image }) {
		skip(docker.ErrNoImage)
	}
	s, err := docker.New(t.Context(), docker.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := Box{s, map[string]bool{}}
	t.Cleanup(func() {
		_ = s.Close()
		list, err := engine.List(context.Background())
		if err != nil {
			t.Error(err)
		}
		list = slices.DeleteFunc(list, func(i images.Image) bool { return !b.Made[i.ID] })
		if _, err := engine.Remove(context.Background(), list); err != nil {
			t.Error(err)
		}
		_ = engine.Close()
	})
	return b
}
