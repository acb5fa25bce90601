package docker

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// layersOf are the digests of an image's layers, the lowest first.
func layersOf(t *testing.T, s *Sandbox, ref string) []string {
	t.Helper()
	in, err := s.api.ImageInspect(context.Background(), ref)
	if err != nil {
		t.Fatal(err)
	}
	return in.RootFS.Layers
}

// TestLayers: base, toolchain, dependencies and source lie on each other. An environment is one layer on its image, or on the environment
// of its base; states that differ in their source only share it, and so do recipes that differ above a common base.
func TestLayers(t *testing.T) {
	ctx := t.Context()
	s := newTest(t, Options{})
	forget(t, s, "layerstest-")
	t.Cleanup(func() { forget(t, s, "layerstest-"); s.Close() })
	image := testImage
	if _, err := s.api.ImageInspect(ctx, "sluice/node:trixie"); err == nil {
		image = "sluice/node:trixie" // itself a layer on the base
		if base, node := layersOf(t, s, testImage), layersOf(t, s, image); len(node) != len(base)+1 || !slices.Equal(node[:len(base)], base) {
			t.Errorf("the toolchain is not one layer on the base: %d on %d", len(node), len(base))
		}
	}
	install := func(what string) []replay.Step { return []replay.Step{sh("install", "echo "+what+" >{env}/"+what)} }
	std := &replay.Recipe{Image: image, Fingerprint: "layerstest-std", Install: install("std")}
	one := replay.Recipe{Image: image, Fingerprint: "layerstest-one", Base: std, Install: install("one"), Inputs: []string{"lock"}}
	two := replay.Recipe{Image: image, Fingerprint: "layerstest-two", Base: std, Install: install("two"), Inputs: []string{"lock"}}

	state := func(source string) replay.Tree {
		return sandboxtest.NewTree(source, sandboxtest.Text("lock", "x"), sandboxtest.Text("a", source))
	}
	first, err := s.Prepare(ctx, one, state("first"))
	if err != nil || first.Log == "" {
		t.Fatalf("%+v, %v", first, err)
	}
	second, err := s.Prepare(ctx, one, state("second"))
	if err != nil || second.ID != first.ID || second.Log != "" {
		t.Errorf("a state with other source was built anew: %+v, %v", second, err)
	}
	other, err := s.Prepare(ctx, two, state("first"))
	if err != nil {
		t.Fatal(err)
	}
	below, shared := layersOf(t, s, image), layersOf(t, s, envRepository+":"+std.Fingerprint)
	for _, env := range []replay.Env{first, other} {
		if l := layersOf(t, s, env.ID); len(l) != len(below)+2 || !slices.Equal(l[:len(below)], below) || !slices.Equal(l[:len(shared)], shared) {
			t.Errorf("%s has %d layers on %d", env.Recipe.Fingerprint, len(l), len(below))
		}
	}
	for _, source := range []string{"first", "second"} {
		res, err := s.Run(ctx, replay.Job{Tree: state(source), Env: first, Steps: []replay.Step{sh("look", "cat a {env}/std {env}/one; echo used >{env}/one")}})
		if err != nil || string(res.Steps[0].Stdout) != source+"std\none\n" {
			t.Errorf("%s: %q, %v", source, res.Steps[0].Stdout, err)
		}
	}
}

// TestNoRoom: before the disk is full no environment is begun; see github.com/SWE-bench/SWE-bench/issues/144.
func TestNoRoom(t *testing.T) {
	t.Parallel()
	s := newTest(t, Options{Clock: &fastClock{}})
	defer s.Close()
	s.free = func() (uint64, bool) { return 100e6, true }
	_, err := s.Prepare(t.Context(), replay.Recipe{Image: testImage, Fingerprint: "layerstest-room"}, noTree{})
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "it has 100 MB") {
		t.Errorf("got %v", err)
	}
}

// TestRoomThatCannotBe: a demand that no disk can meet is told before anything is removed for it.
func TestRoomThatCannotBe(t *testing.T) {
	t.Parallel()
	newTest(t, Options{}).Close() // an engine answers
	_, err := New(t.Context(), Options{Disk: DiskOptions{Least: 1 << 60, Evict: func(context.Context, int64) (int64, error) {
		t.Error("environments were to be removed")
		return 0, nil
	}}})
	if !errors.Is(err, ErrNoSpace) || !strings.Contains(err.Error(), "in all, and 1.2 EB are to be free") {
		t.Errorf("got %v", err)
	}
}

// TestMissingImage: the line names the command that makes it, and no registry is asked for it.
func TestMissingImage(t *testing.T) {
	t.Parallel()
	s := newTest(t, Options{})
	defer s.Close()
	_, err := s.Prepare(t.Context(), replay.Recipe{Image: "sluice/cobol:trixie", Fingerprint: "layerstest-none"}, noTree{})
	if !errors.Is(err, ErrNoImage) || !strings.HasSuffix(err.Error(), "sluice/cobol:trixie: make it with sluice images build cobol") {
		t.Errorf("got %v", err)
	}
}
