package docker

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/api/types/image"
	"github.com/docker/docker/api/types/system"

	"sluice/replay"
)

func TestNoEngine(t *testing.T) {
	t.Parallel()
	_, err := New(context.Background(), Options{Host: "unix://" + filepath.Join(t.TempDir(), "none.sock")})
	if !errors.Is(err, ErrNoEngine) {
		t.Errorf("got %v", err)
	}
}

// fakeEngine answers what a test says, by the method and the end of the path.
func fakeEngine(t *testing.T, answers map[string]http.HandlerFunc) *Sandbox {
	t.Helper()
	info := func(w http.ResponseWriter, _ *http.Request) {
		json.NewEncoder(w).Encode(system.Info{OSType: "linux", Architecture: "x86_64", NCPU: 2})
	}
	empty := func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("[]")) }
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Api-Version", "1.41")
		for end, h := range answers {
			if strings.HasSuffix(r.Method+" "+r.URL.Path, end) {
				h(w, r)
				return
			}
		}
		switch {
		case strings.HasSuffix(r.URL.Path, "/info"):
			info(w, r)
		case strings.HasSuffix(r.URL.Path, "/volumes"):
			w.Write([]byte("{}"))
		case strings.Contains(r.URL.Path, "/images/"+envRepository):
			refuse(404, "No such image")(w, r)
		default:
			empty(w, r)
		}
	}))
	t.Cleanup(srv.Close)
	s, err := New(context.Background(), Options{
		Host: "tcp://" + strings.TrimPrefix(srv.URL, "http://"), Clock: &fastClock{now: time.Unix(1e9, 0)},
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func refuse(code int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(code)
		json.NewEncoder(w).Encode(map[string]string{"message": message})
	}
}

func say(v any) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { json.NewEncoder(w).Encode(v) }
}

func TestPrepareErrors(t *testing.T) {
	t.Parallel()
	missing := refuse(404, "No such image: some/image:1")
	here := say(image.InspectResponse{ID: "sha256:1", Os: "linux", Architecture: "amd64"})
	tests := []struct {
		name    string
		image   string
		answers map[string]http.HandlerFunc
		want    error
	}{
		{"pull limit", "some/image:1", map[string]http.HandlerFunc{"some/image:1/json": missing,
			"POST /v1.41/images/create": refuse(500, "toomanyrequests: You have reached your pull rate limit")}, ErrNetwork},
		{"pull breaks off", "some/image:1", map[string]http.HandlerFunc{"some/image:1/json": missing,
			"POST /v1.41/images/create": say(map[string]string{"error": "net/http: TLS handshake timeout"})}, ErrNetwork},
		{"no manifest", "some/image:1", map[string]http.HandlerFunc{"some/image:1/json": missing,
			"POST /v1.41/images/create": refuse(404, "manifest for some/image:1 not found: manifest unknown")}, ErrNoImage},
		{"our base image is not built", "sluice/base:none", map[string]http.HandlerFunc{
			"sluice/base:none/json": refuse(404, "No such image: sluice/base:none")}, ErrNoImage},
		{"another platform", "some/image:1", map[string]http.HandlerFunc{
			"some/image:1/json": say(image.InspectResponse{ID: "sha256:1", Os: "linux", Architecture: "arm64"})}, ErrPlatform},
		{"full disk", "some/image:1", map[string]http.HandlerFunc{"some/image:1/json": here,
			"env:fp/json":                   refuse(404, "No such image: sluice/env:fp"),
			"POST /v1.41/containers/create": refuse(500, "mkdir /var/lib/docker/x: no space left on device")}, ErrNoSpace},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := fakeEngine(t, tt.answers)
			_, err := s.Prepare(context.Background(), replay.Recipe{Image: tt.image, Fingerprint: "fp"}, noTree{})
			var install *replay.InstallError
			if !errors.Is(err, tt.want) || errors.As(err, &install) {
				t.Errorf("got %v", err)
			}
		})
	}
}

func TestRunWithoutImage(t *testing.T) {
	t.Parallel()
	s := fakeEngine(t, map[string]http.HandlerFunc{"POST /v1.41/containers/create": refuse(404, "No such image: sha256:gone")})
	_, err := s.Run(context.Background(), replay.Job{Env: replay.Env{ID: "sha256:gone"}, Tree: noTree{}})
	if !errors.Is(err, ErrNoEnv) {
		t.Errorf("got %v", err)
	}
}

func TestFingerprintIsATag(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]bool{
		"0123abcd": true, "a_b.c-d": true, "": false, "a/b": false, "-a": false, "a:b": false, strings.Repeat("a", 129): false,
	} {
		if got := isTag(s); got != want {
			t.Errorf("%q: %v", s, got)
		}
	}
}

func TestSameArch(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		image, kernel string
		want          bool
	}{{"amd64", "x86_64", true}, {"arm64", "aarch64", true}, {"arm64", "x86_64", false}, {"riscv64", "riscv64", true}} {
		if got := sameArch(tt.image, tt.kernel); got != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}

// TestLongErrors: hostile code chooses paths that engines name in errors, of megabytes.
func TestLongErrors(t *testing.T) {
	t.Parallel()
	long := errors.New("openfdat " + strings.Repeat("d/", 1<<20) + ": too many open files")
	err := engineError("removing x", long)
	if msg := err.Error(); len(msg) > 3<<10 || !strings.HasPrefix(msg, "removing x: openfdat d/") || !strings.HasSuffix(msg, ": too many open files") || !errors.Is(err, long) {
		t.Errorf("%d bytes: %.100s", len(msg), msg)
	}
}

// TestLeftoversStopNoWork: a container that the engine does not remove is told of, and tried again by the next process.
func TestLeftoversStopNoWork(t *testing.T) {
	t.Parallel()
	_, gone, _ := ids(t)
	var said []string
	s := fakeEngine(t, map[string]http.HandlerFunc{
		"GET /v1.41/containers/json": say([]container.Summary{{ID: "bad", Names: []string{"/" + namePrefix + randomName()},
			Labels: map[string]string{LabelOurs: "1", labelOwner: gone.String()}}}),
		"DELETE /v1.41/containers/bad": refuse(500, "driver failed to remove root filesystem"),
	})
	s.o.Warn = func(line string) { said = append(said, line) }
	if err := s.Close(); err == nil { // the fake lists it as this Sandbox's too
		t.Error("what a Sandbox leaves itself is an error")
	}
	if len(said) != 1 || !strings.Contains(said[0], "removing bad") {
		t.Errorf("said %q", said)
	}
}
