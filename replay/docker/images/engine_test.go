package images

import (
	"archive/tar"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"

	"sluice/replay/docker"
)

func newTest(t *testing.T) *Engine {
	t.Helper()
	e, err := Open(context.Background(), "")
	switch {
	case err == nil:
	case os.Getenv("SLUICE_REQUIRE_DOCKER") == "1":
		t.Fatalf("SLUICE_REQUIRE_DOCKER is set: %v", err)
	default:
		t.Skipf("needs a docker engine: %v", err)
	}
	t.Cleanup(func() { _ = e.Close() })
	return e
}

// plant makes an image of one file, which is gone after the test.
func plant(t *testing.T, e *Engine, name string, size int, labels ...string) {
	t.Helper()
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	err := errors.Join(w.WriteHeader(&tar.Header{Name: "f", Mode: 0o644, Size: int64(size)}))
	if err == nil {
		_, err = w.Write(append(make([]byte, size-len(name)), name...))
	}
	if err = errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	o := image.ImportOptions{Message: "test"}
	for _, l := range labels {
		o.Changes = append(o.Changes, "LABEL "+l)
	}
	r, err := e.api.ImageImport(t.Context(), image.ImportSource{Source: &buf, SourceName: "-"}, name, o)
	if err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, r)
	r.Close()
	t.Cleanup(func() { _, _ = e.api.ImageRemove(context.Background(), name, image.RemoveOptions{Force: true}) })
}

// only leaves the images of a test.
func only(list []Image, prefix string) []Image {
	return slices.DeleteFunc(slices.Clone(list), func(i Image) bool { return !strings.Contains(i.Name, prefix) })
}

// TestGC plants images of ours and of a bystander, and lets everything of ours go that may.
func TestGC(t *testing.T) {
	ctx := t.Context()
	e := newTest(t)
	prefix := fmt.Sprintf("imagestest-%d-", os.Getpid())
	ours := func(n string) []string { return []string{docker.LabelOurs + "=1", docker.LabelEnv + "=" + prefix + n} }
	plant(t, e, "sluice/env:"+prefix+"idle", 2000, ours("idle")...)
	plant(t, e, "sluice/env:"+prefix+"busy", 3000, ours("busy")...)
	plant(t, e, "sluice/env:"+prefix+"named", 4000, ours("named")...)
	plant(t, e, "bystander:"+prefix+"his", 5000)
	if err := e.api.ImageTag(ctx, "sluice/env:"+prefix+"named", "mine:"+prefix+"x"); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = e.api.ImageRemove(context.Background(), "mine:"+prefix+"x", image.RemoveOptions{}) })
	c, err := e.api.ContainerCreate(ctx, &container.Config{Image: "sluice/env:" + prefix + "busy", Cmd: []string{"x"}}, nil, nil, nil, "")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.api.ContainerRemove(context.Background(), c.ID, container.RemoveOptions{Force: true}) })

	list, err := e.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	list = only(list, prefix)
	if len(list) != 3 {
		t.Fatalf("listed %+v", list)
	}
	later := time.Now().Add(time.Hour)
	if plan := Plan(list, Policy{Older: time.Minute, Keep: 2 * time.Hour}, later); len(plan) != 0 {
		t.Errorf("what was used within --keep goes: %+v", plan)
	}
	plan := Plan(list, Policy{Older: time.Minute}, later)
	removed, err := e.Remove(ctx, plan)
	if err != nil || len(removed) != 1 || removed[0].Name != "sluice/env:"+prefix+"idle" || removed[0].Own != 2000 {
		t.Errorf("removed %+v, %v", removed, err)
	}
	// Even a plan that is wrong, or that was made before a container was, removes nothing that is in use.
	for n := range list {
		list[n].InUse = false
	}
	busy := only(list, prefix+"busy")
	if removed, err := e.Remove(ctx, busy); err != nil || len(removed) != 0 {
		t.Errorf("removed %+v, %v", removed, err)
	}
	for name, want := range map[string]bool{
		"sluice/env:" + prefix + "idle": false, "sluice/env:" + prefix + "busy": true, "sluice/env:" + prefix + "named": true, "bystander:" + prefix + "his": true,
	} {
		if _, err := e.api.ImageInspect(ctx, name); (err == nil) != want {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestUsedSince: an image that was taken for a job after the plan was made stays.
func TestUsedSince(t *testing.T) {
	ctx := t.Context()
	e := newTest(t)
	prefix := fmt.Sprintf("imagestest-since-%d", os.Getpid())
	name := "sluice/env:" + prefix
	plant(t, e, name, 2000, docker.LabelOurs+"=1", docker.LabelEnv+"="+prefix)
	list, err := e.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	list = only(list, prefix)
	if err := e.api.ImageTag(ctx, list[0].ID, name); err != nil { // as the sandbox does
		t.Fatal(err)
	}
	if removed, err := e.Remove(ctx, list); err != nil || len(removed) != 0 {
		t.Errorf("removed %+v, %v", removed, err)
	}
}

// TestGCOfARun: what one run added goes, at once; what others added stays. See github.com/ROCm/ATOM/issues/1826, where hundreds of
// gigabytes stayed after a job.
func TestGCOfARun(t *testing.T) {
	ctx := t.Context()
	e := newTest(t)
	prefix := fmt.Sprintf("imagestest-run-%d-", os.Getpid())
	for n, labels := range map[string][]string{
		"mine": {docker.LabelRun + "=" + prefix}, "another": {docker.LabelRun + "=" + prefix + "x"}, "old": nil,
	} {
		plant(t, e, "sluice/env:"+prefix+n, 2000, append(labels, docker.LabelOurs+"=1", docker.LabelEnv+"="+prefix+n)...)
	}
	list, err := e.List(ctx)
	if err != nil {
		t.Fatal(err)
	}
	removed, err := e.Remove(ctx, Plan(list, Policy{Run: prefix, Keep: 24 * time.Hour}, time.Now()))
	if err != nil || len(removed) != 1 || removed[0].Name != "sluice/env:"+prefix+"mine" {
		t.Errorf("removed %+v, %v", removed, err)
	}
	if list, err = e.List(ctx); err != nil || len(only(list, prefix)) != 2 {
		t.Errorf("left %+v, %v", only(list, prefix), err)
	}
}

// TestUpToDate: with every image there, making them does nothing, whoever asks.
func TestUpToDate(t *testing.T) {
	e := newTest(t)
	list, err := e.List(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	// One for each language. The others are for states that these are too old or too new for: who tests sluice need not have them.
	usual, err := Select([]string{"node", "rust", "jvm", "c"})
	if err != nil {
		t.Fatal(err)
	}
	wanted := func(c Toolchain) bool {
		return slices.ContainsFunc(usual, func(u Toolchain) bool { return u.Name == c.Name })
	}
	if m := slices.DeleteFunc(Missing(list), func(c Toolchain) bool { return !wanted(c) }); len(m) > 0 {
		if os.Getenv("SLUICE_REQUIRE_DOCKER") == "1" {
			t.Fatalf("SLUICE_REQUIRE_DOCKER is set, and %s is missing", m[0].Image())
		}
		t.Skipf("needs the images: sluice images build all")
	}
	built, err := e.Build(t.Context(), usual, BuildOptions{Mirror: "http://127.0.0.1:9/none"})
	if err != nil || len(built) != len(usual) {
		t.Fatalf("%+v, %v", built, err)
	}
	for _, b := range built {
		if b.Done || b.Err != nil {
			t.Errorf("%s: %+v", b.Toolchain.Name, b)
		}
	}
	base := slices.IndexFunc(list, func(i Image) bool { return i.Name == toolchains[0].Image() })
	for _, c := range usual[1:] {
		k := slices.IndexFunc(list, func(i Image) bool { return i.Name == c.Image() })
		if !on(list[k], list[base]) || len(list[k].layers) != len(list[base].layers)+1 || list[k].Own != list[k].Size-list[base].Size {
			t.Errorf("%s is not one layer on base", c.Name)
		}
		if list[k].Own > c.Bytes*5/4 {
			t.Errorf("%s takes %d bytes, more than the %d that are looked for before it is made", c.Name, list[k].Own, c.Bytes)
		}
	}
}
