package docker

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/docker/docker/api/types/container"
	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// TestAddOnlyTestsKeepTheTree: tests that only add files undo no other change of the tree; see github.com/SWE-bench/SWE-bench/pull/518.
func TestAddOnlyTestsKeepTheTree(t *testing.T) {
	t.Parallel()
	tree := []replay.File{text("tox.ini", "old"), text("src/a.py", "a"), text("tests/test_a.py", "a")}
	fix := replay.Overlay{Files: []replay.File{text("tox.ini", "edited")}}
	tests := replay.Overlay{Files: []replay.File{text("tests/test_b.py", "b")}}
	got, _, err := pack(tree, []replay.Overlay{fix, tests})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"tox.ini": "edited", "src/a.py": "a", "tests/test_a.py": "a", "tests/test_b.py": "b"}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestLimitsAreAlwaysSet: whatever a job and a Sandbox leave open, each container has its limits; see
// github.com/SWE-agent/SWE-agent/issues/1074, where steps got stuck until there was one of memory.
func TestLimitsAreAlwaysSet(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		draw := func(name string) int64 { return rapid.Int64Range(0, 1<<40).Draw(t, name) }
		job := replay.Limits{Memory: draw("memory"), Pids: draw("pids"), CPUs: rapid.Float64Range(0, 64).Draw(t, "cpus"), Disk: draw("disk")}
		box := replay.Limits{Memory: draw("memory of all"), Pids: draw("pids of all")}
		l := job.Or(box.Or(defaultLimits()))
		h := hostConfig(boxSpec{network: "none", limits: l})
		if h.Memory <= 0 || h.MemorySwap != h.Memory || h.PidsLimit == nil || *h.PidsLimit <= 0 || l.CPUs <= 0 || l.Wall <= 0 || l.Output <= 0 || l.Disk <= 0 {
			t.Fatalf("%+v", l)
		}
	})
}

// TestManySandboxesMakeNoNetwork: engines have about thirty networks, so that a network for each job would be the end of the
// thirty-first; see github.com/elitan/frost/issues/259. 200 jobs at once ask for none, and their containers have different names.
func TestManySandboxesMakeNoNetwork(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	names, networks, modes := map[string]bool{}, 0, map[string]int{}
	stat := base64.StdEncoding.EncodeToString([]byte(`{"name":"x","mode":2147484141}`))
	s := fakeEngine(t, map[string]http.HandlerFunc{
		"POST /v1.41/networks/create": func(http.ResponseWriter, *http.Request) { mu.Lock(); networks++; mu.Unlock() },
		"POST /v1.41/containers/create": func(w http.ResponseWriter, r *http.Request) {
			var asked struct{ HostConfig container.HostConfig }
			decode(t, r, &asked)
			mu.Lock()
			names[r.URL.Query().Get("name")] = true
			modes[string(asked.HostConfig.NetworkMode)]++
			mu.Unlock()
			w.WriteHeader(201)
			say(container.CreateResponse{ID: "c"})(w, r)
		},
		"/c/archive":                 archived(stat),
		"/c/exec":                    say(map[string]string{"Id": "e"}),
		"POST /v1.41/exec/e/start":   func(http.ResponseWriter, *http.Request) {},
		"/exec/e/json":               say(container.ExecInspect{ExecID: "e"}),
		"/c/top":                     say(container.TopResponse{}),
		"/c/stats":                   say(map[string]string{}),
		"/c/start":                   func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
		"DELETE /v1.41/containers/c": func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(204) },
	})
	var wg sync.WaitGroup
	for n := range 200 {
		wg.Go(func() {
			j := replay.Job{Name: fmt.Sprint(n), Tree: sandboxtest.NewTree("t"), Env: replay.Env{ID: "i"}, Steps: []replay.Step{sh("s", "true")}}
			if _, err := s.Run(t.Context(), j); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(map[string]int{"none": 200}, modes); d != "" || networks != 0 || len(names) != 200 {
		t.Errorf("%d networks, %d names, modes (-want +got):\n%s", networks, len(names), d)
	}
}

// archived answers requests for a container's files: it takes any, and has none.
func archived(stat string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodGet {
			w.Header().Set("X-Docker-Container-Path-Stat", stat)
			_, _ = w.Write(archive())
		}
	}
}

// TestLoopback: jobs have both addresses that localhost names, as in the local sandbox, and that is recorded; see
// github.com/NVIDIA-NeMo/Gym/pull/2853.
func TestLoopback(t *testing.T) {
	t.Parallel()
	s, run := jobs(t, Options{})
	st := run(replay.Limits{}, sh("bind", `python3 -c '
import socket
for family, address in ((socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1")):
    try:
        socket.socket(family).bind((address, 0))
        print(address)
    except OSError: pass
'`)).Steps[0]
	if got := strings.Fields(string(st.Stdout)); !cmp.Equal(got, s.Walls().Loopback) {
		t.Errorf("jobs have %q, recorded is %q", got, s.Walls().Loopback)
	}
}

func decode(t *testing.T, r *http.Request, v any) {
	t.Helper()
	if err := json.NewDecoder(r.Body).Decode(v); err != nil {
		t.Error(err)
	}
}
