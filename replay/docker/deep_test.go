package docker

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// deepEngine refuses to remove the container "deep" until a helper has emptied it, and notes what it was asked.
func deepEngine(t *testing.T, driver, upper string) (*Sandbox, *[]string, *container.HostConfig) {
	t.Helper()
	var asked []string
	var host container.HostConfig
	flat := false
	s := fakeEngine(t, map[string]http.HandlerFunc{
		"DELETE /v1.41/containers/deep": func(w http.ResponseWriter, r *http.Request) {
			asked = append(asked, "remove")
			if flat {
				w.WriteHeader(204)
				return
			}
			refuse(500, "driver failed to remove root filesystem: openfdat /x/d/d: too many open files")(w, r)
		},
		"GET /v1.41/containers/deep/json": say(map[string]any{
			"Id": "deep", "Image": "sha256:i", "Config": map[string]any{"Labels": map[string]string{LabelBase: "sha256:base"}}, "GraphDriver": map[string]any{"Name": driver, "Data": map[string]string{"UpperDir": upper}},
		}),
		"POST /v1.41/containers/create": func(w http.ResponseWriter, r *http.Request) {
			var made struct {
				container.Config
				HostConfig container.HostConfig
			}
			decode(t, r, &made)
			host = made.HostConfig
			if made.Image != "sha256:base" {
				t.Errorf("the helper is made of %q, where a repository's code may have been", made.Image)
			}
			if made.Labels[LabelOurs] != "1" || made.Labels[labelOwner] == "" || !ourName.MatchString("/"+r.URL.Query().Get("name")) {
				t.Errorf("nobody would remove the helper: %v", made.Labels)
			}
			asked = append(asked, "create")
			w.WriteHeader(201)
			say(container.CreateResponse{ID: "helper"})(w, r)
		},
		"/helper/start": func(w http.ResponseWriter, _ *http.Request) { asked = append(asked, "start"); w.WriteHeader(204) },
		"/helper/wait": func(w http.ResponseWriter, r *http.Request) {
			asked, flat = append(asked, "wait"), true
			say(container.WaitResponse{})(w, r)
		},
		"DELETE /v1.41/containers/helper": func(w http.ResponseWriter, _ *http.Request) {
			asked = append(asked, "remove helper")
			w.WriteHeader(204)
		},
	})
	return s, &asked, &host
}

// TestDeepFolders: what an engine cannot remove for its depth, a helper empties that sees these files and nothing else.
func TestDeepFolders(t *testing.T) {
	t.Parallel()
	s, asked, host := deepEngine(t, "overlay2", "/var/lib/docker/overlay2/x/diff")
	if err := s.removeContainer(t.Context(), "deep"); err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]string{"remove", "create", "start", "wait", "remove helper", "remove"}, *asked); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	got := container.HostConfig{NetworkMode: host.NetworkMode, Binds: host.Binds, CapDrop: host.CapDrop, CapAdd: host.CapAdd, SecurityOpt: host.SecurityOpt, Privileged: host.Privileged}
	want := container.HostConfig{NetworkMode: "none", Binds: []string{"/var/lib/docker/overlay2/x/diff:/deep"}, CapDrop: []string{"ALL"},
		CapAdd: []string{"CAP_DAC_OVERRIDE", "CAP_FOWNER"}, SecurityOpt: []string{"no-new-privileges"}}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("the helper (-want +got):\n%s", d)
	}
}

// TestDeepFoldersElsewhere: a storage driver that does not say where the files are is named, and nothing is mounted.
func TestDeepFoldersElsewhere(t *testing.T) {
	t.Parallel()
	s, asked, _ := deepEngine(t, "btrfs", "")
	err := s.removeContainer(t.Context(), "deep")
	if err == nil || !strings.Contains(err.Error(), "the engine's storage driver btrfs does not say") {
		t.Errorf("got %v", err)
	}
	if d := cmp.Diff([]string{"remove"}, *asked); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestFlatten empties a real container, whatever its code did to the modes of its folders.
func TestFlatten(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newTest(t, Options{})
	o, err := s.Open(ctx, replay.SessionSpec{Tree: sandboxtest.NewTree("t"), Recipe: replay.Recipe{Image: testImage}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(o.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	made, err := o.Exec(ctx, sh("nest", `mkdir -p closed/x && ln -s /etc link && chmod 0 closed/x closed && python3 -c '
import os
for i in range(3000):
    os.mkdir("d"); os.chdir("d")
'`))
	if err != nil || !made.Passed() {
		t.Fatalf("%+v, %v", made, err)
	}
	b := o.(*session).b
	if err := errors.Join(b.halt(ctx), s.flatten(ctx, b.id)); err != nil {
		t.Fatal(err)
	}
	changed, err := s.api.ContainerDiff(ctx, b.id)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range changed {
		if strings.HasPrefix(c.Path, treeDir+"/") {
			t.Errorf("%s is left", c.Path)
		}
	}
}
