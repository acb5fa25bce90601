//go:build linux

package local

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestEnvironInheritsNothing(t *testing.T) {
	t.Parallel()
	p := places{tree: "/t", out: "/o", env: "/e", home: "/h", tmp: "/tmp", goCache: "/h/c"}
	got := p.environ("/bin", map[string]string{"A": "{tree}/x:{env}", "LANG": "de"}, map[string]string{"A": "{out}"})
	want := []string{
		"A=/o", "GIT_CEILING_DIRECTORIES=/", "GOCACHE=/h/c", "GOMODCACHE=/e/home/go/pkg/mod", "GOTELEMETRY=off", "GOTOOLCHAIN=local", "HOME=/h", "LANG=de", "PATH=/bin",
		"PIP_DISABLE_PIP_VERSION_CHECK=1", "PIP_NO_CACHE_DIR=1", "PYTHONHASHSEED=0", "SHELL=/bin/sh", "TMPDIR=/tmp", "TZ=UTC", "USER=root",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestNetworkVariables(t *testing.T) {
	t.Parallel()
	host := []string{"HTTPS_PROXY=p", "no_proxy=n", "PIP_INDEX_URL=i", "GOPROXY=g", "SSL_CERT_FILE=/c", "REQUESTS_CA_BUNDLE=/c",
		"AWS_SECRET_ACCESS_KEY=s", "GITHUB_TOKEN=s", "PATH=/x", "HOME=/h", "OTEL_SERVICE_NAME=o", "MYPIP_X=1", "UV_PUBLISH_TOKEN=s"}
	want := map[string]string{"HTTPS_PROXY": "p", "no_proxy": "n", "PIP_INDEX_URL": "i", "GOPROXY": "g", "SSL_CERT_FILE": "/c",
		"REQUESTS_CA_BUNDLE": "/c"}
	if d := cmp.Diff(want, pick(host, networkNames)); d != "" {
		t.Errorf("picked (-want +got):\n%s", d)
	}
	n := Network{Vars: map[string]string{"GOPROXY": "mirror"}, CABundle: "/ca.pem"}
	got := n.vars()
	if got["GOPROXY"] != "mirror" || got["PIP_CERT"] != "/ca.pem" || got["SSL_CERT_FILE"] != "/ca.pem" {
		t.Errorf("variables %v", got)
	}
	if len(n.Vars) != 1 {
		t.Error("the caller's map was changed")
	}
}

func TestFilesOfVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	ca := filepath.Join(dir, "ca.pem")
	if err := os.WriteFile(ca, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	got := files(map[string]string{"A": ca, "B": dir + ":/no/such", "C": "https://proxy:8080", "D": "/", "E": "relative"})
	if d := cmp.Diff([]string{ca, dir}, got); d != "" {
		t.Errorf("files (-want +got):\n%s", d)
	}
}

func TestFindHost(t *testing.T) {
	t.Parallel()
	tool := t.TempDir()
	if err := os.Mkdir(filepath.Join(tool, "bin"), 0o755); err != nil {
		t.Fatal(err)
	}
	h := findHost([]string{tool, "/usr", tool})
	if got := strings.Split(h.path, ":"); got[0] != filepath.Join(tool, "bin") || !slices.Contains(got, "/usr/bin") {
		t.Errorf("PATH is %s", h.path)
	}
	if n := strings.Count(h.path, tool); n != 1 || h.tools[0] != tool {
		t.Errorf("the tool is %d times in PATH; tools %v", n, h.tools)
	}
}

// TestViewHidesTheHost checks the plan of a root: nothing outside of the state can be written to, and no home folder,
// socket folder or disk is in it.
func TestViewHidesTheHost(t *testing.T) {
	t.Parallel()
	v := view{state: state{dir: "/root-folder/states/s", name: "s", outName: "secret"}, env: "/root-folder/envs/e/content",
		isolated: true, overlay: true}
	for _, m := range v.mounts(host{}) {
		inState := covered(m.Source, []string{v.state.dir})
		device := m.Kind == "rw" && filepath.Dir(m.Source) == "/dev"
		if m.Kind == "rw" && !inState && !device {
			t.Errorf("%s can be written to at %s", m.Source, m.Target)
		}
		for _, hidden := range []string{"/", "/root", "/home", "/run", "/var", "/tmp", "/dev", "/proc"} {
			if m.Source == hidden {
				t.Errorf("%s is shown at %s", m.Source, m.Target)
			}
		}
	}
	if p := v.places(); p.home != envAt+"/home" || p.out != "/sluice/secret" {
		t.Errorf("places %+v", p)
	}
	v.overlay = false
	if p := v.places(); p.home != homeAt || p.goCache != homeAt+"/.cache/go-build" || !v.readOnlyEnv() {
		t.Errorf("places without an overlay %+v", p)
	}
}

func TestVisibleIsReadOnlyAndModest(t *testing.T) {
	t.Parallel()
	tool := t.TempDir()
	v := view{isolated: true, visible: []string{"/", "/proc/1", "/dev/sda", "/run", "/no/such", "/usr/share", tool}}
	var shown []string
	for _, m := range v.mounts(host{tools: []string{tool}}) {
		if slices.Contains(v.visible, m.Source) {
			shown = append(shown, m.Kind+" "+m.Source)
		}
	}
	if d := cmp.Diff([]string{"ro " + tool}, shown); d != "" {
		t.Errorf("shown (-want +got):\n%s", d)
	}
}

func TestLookPath(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, mode := range map[string]os.FileMode{"tool": 0o755, "data": 0o644} {
		if err := os.WriteFile(filepath.Join(dir, name), nil, mode); err != nil {
			t.Fatal(err)
		}
	}
	env := []string{"X=/usr/bin", "PATH=.:/no/such:" + dir}
	for _, c := range []struct {
		name, want string
		ok         bool
	}{
		{"tool", filepath.Join(dir, "tool"), true}, {"data", "", false}, {"none", "", false},
		{"./data", "./data", true}, {"./none", "./none", false}, {dir + "/tool", dir + "/tool", true},
	} {
		if got, ok := lookPath(c.name, dir, env); got != c.want || ok != c.ok {
			t.Errorf("%s: got %q %v", c.name, got, ok)
		}
	}
}

func TestMissingWords(t *testing.T) {
	t.Parallel()
	all := Capabilities{Namespaces: true, Overlay: true, Memory: "cgroup v2", Pids: "cgroup v2", CPU: "cgroup v2"}
	if got := all.missing(refusals{}); got != nil {
		t.Errorf("nothing is missing, but: %q", got)
	}
	none := Capabilities{Memory: "rlimit"}
	got := strings.Join(none.missing(refusals{namespaces: os.ErrPermission}), "\n")
	for _, want := range []string{"no namespaces", "permission", "memory is limited per process", "processes are not limited", "CPU"} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is not in:\n%s", want, got)
		}
	}
	var r refusals
	for _, m := range modes {
		r.add(m, os.ErrInvalid)
	}
	if r.groups == nil || r.overlay == nil || r.namespaces == nil {
		t.Errorf("a refusal got lost: %+v", r)
	}
}
