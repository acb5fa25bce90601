package docker

import (
	"context"
	"os"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/filters"
	"github.com/docker/docker/api/types/image"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

const testImage = "sluice/base:trixie"

// newTest returns a Sandbox, or skips the test where no engine or base image is; SLUICE_REQUIRE_DOCKER=1 makes that fail.
func newTest(t *testing.T, o Options) *Sandbox {
	t.Helper()
	s, err := New(context.Background(), o)
	if err == nil {
		_, err = s.api.ImageInspect(context.Background(), testImage)
	}
	switch {
	case err == nil:
	case os.Getenv("SLUICE_REQUIRE_DOCKER") == "1":
		t.Fatalf("SLUICE_REQUIRE_DOCKER is set: %v", err)
	default:
		t.Skipf("needs a docker engine with %s (sluice images build): %v", testImage, err)
	}
	return s
}

// forget removes the environments that earlier test runs left: their recipes may have changed.
func forget(t *testing.T, s *Sandbox, prefix string) {
	t.Helper()
	ctx := context.Background()
	if err := s.gone.wait(ctx); err != nil { // an image that a container uses stays
		t.Fatal(err)
	}
	all, err := s.api.ImageList(ctx, image.ListOptions{Filters: filters.NewArgs(filters.Arg("reference", envRepository))})
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range all {
		for _, tag := range i.RepoTags {
			if !strings.HasPrefix(tag, envRepository+":"+prefix) {
				continue
			}
			if _, err := s.api.ImageRemove(ctx, tag, image.RemoveOptions{PruneChildren: true}); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestConformance(t *testing.T) {
	s := newTest(t, Options{})
	forget(t, s, "sandboxtest-")
	t.Cleanup(func() { forget(t, newTest(t, Options{}), "sandboxtest-") })
	sandboxtest.Exercise(t, func(*testing.T) replay.Sandbox { return s }, sandboxtest.Options{
		Recipe: replay.Recipe{Image: testImage},
	})
}
