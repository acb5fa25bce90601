package node

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestDated(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		tree tooltest.Tree
		ok   bool
	}{
		{"npm", tooltest.Tree{"package.json": `{"devDependencies": {"mocha": "*"}}`}, true},
		{"npm with a lock file", tooltest.Tree{"package.json": `{}`, "package-lock.json": `{"lockfileVersion": 1}`}, true},
		{"pnpm", tooltest.Tree{"package.json": `{}`, "pnpm-lock.yaml": "lockfileVersion: '9.0'"}, false},
		{"yarn", tooltest.Tree{"package.json": `{}`, "yarn.lock": ""}, false},
	} {
		r, err := Recipe(scan(t, c.tree), "", Extra{Runner: "mocha"})
		if err != nil {
			t.Fatal(err)
		}
		dated, ok := Package{}.Dated(r, time.Date(2019, 5, 1, 0, 0, 0, 0, time.UTC))
		if ok != c.ok {
			t.Errorf("%s: %v", c.name, ok)
		}
		for i, s := range dated.Install {
			want := ""
			if s.Name == stepDependencies {
				want = "2019-07-01"
			}
			if s.Env["npm_config_before"] != want || r.Install[i].Env["npm_config_before"] != "" {
				t.Errorf("%s: step %s has %q, and had %q", c.name, s.Name, s.Env, r.Install[i].Env)
			}
		}
		if ok && !strings.Contains(dated.Notes[len(dated.Notes)-1], "2019-07-01") {
			t.Errorf("%s: notes %q", c.name, dated.Notes)
		}
	}
	if _, ok := (Package{}).Dated(replay.Recipe{Install: []replay.Step{{Name: stepDependencies, Args: []string{"npm ci"}}}}, time.Time{}); ok {
		t.Error("another's step has a date")
	}
}

// registry has one package in two versions, and one that needs it. untold are versions whose times it does not tell.
func registry(t *testing.T, untold ...string) string {
	t.Helper()
	var tarball bytes.Buffer
	zip := gzip.NewWriter(&tarball)
	w := tar.NewWriter(zip)
	const manifest = "{}"
	err := errors.Join(w.WriteHeader(&tar.Header{Name: "package/package.json", Mode: 0o644, Size: int64(len(manifest))}), func() error {
		_, err := w.Write([]byte(manifest))
		return err
	}(), w.Close(), zip.Close())
	if err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	type object = map[string]any
	for name, needs := range map[string]object{"@x/old": {}, "top": {"@x/old": "*"}} {
		times, versions := object{}, object{}
		for v, at := range map[string]string{"1.0.0": "2018-01-01T00:00:00.000Z", "2.0.0": "2024-01-01T00:00:00.000Z"} {
			if !slices.Contains(untold, name+" "+v) {
				times[v] = at
			}
			versions[v] = object{"name": name, "version": v, "dependencies": needs, "dist": object{"tarball": server.URL + "/x.tgz"}}
		}
		answer, err := json.Marshal(object{"name": name, "dist-tags": object{"latest": "2.0.0"}, "versions": versions, "time": times})
		if err != nil {
			t.Fatal(err)
		}
		mux.HandleFunc("/"+strings.ReplaceAll(name, "/", "%2F"), func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			w.Header().Set("Cache-Control", "public, max-age=300")
			w.Write(answer)
		})
	}
	mux.HandleFunc("/x.tgz", func(rw http.ResponseWriter, _ *http.Request) { rw.Write(tarball.Bytes()) })
	return server.URL
}

// TestDatedInstall runs this machine's npm against a registry: a version without a time makes the step fail if it is taken, and only then.
func TestDatedInstall(t *testing.T) {
	t.Parallel()
	for _, program := range []string{"node", "npm"} {
		if _, err := exec.LookPath(program); err != nil {
			t.Skip(err)
		}
	}
	for _, c := range []struct {
		name   string
		untold []string
		before string
		want   string // what is said of the packages; "" if they are installed
	}{
		{"all is told", nil, "2019-07-01", ""},
		{"one that is needed is not told", []string{"@x/old 2.0.0"}, "2019-07-01", "published before 2019-07-01: @x/old 2.0.0\n"},
		{"nothing is told", []string{"@x/old 1.0.0", "@x/old 2.0.0", "top 1.0.0", "top 2.0.0"}, "2019-07-01", "published before 2019-07-01: @x/old 2.0.0, top 2.0.0\n"},
		{"what is not told is not taken", []string{"@x/old 1.0.0"}, "2025-07-01", ""},
		{"no day", []string{"@x/old 2.0.0"}, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tooltest.Write(t, dir, tooltest.Tree{"p/package.json": `{"dependencies": {"top": "*"}}`})
			cmd := exec.CommandContext(t.Context(), "node", "-e", installProgram, "--", dir+"/p", dir+"/bin", "", `[["npm","install","--no-package-lock"]]`)
			cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "npm_config_registry=" + registry(t, c.untold...)}
			for k, v := range quiet {
				cmd.Env = append(cmd.Env, k+"="+v)
			}
			cmd.Env = append(cmd.Env, "npm_config_cache="+dir+"/cache")
			if c.before != "" {
				cmd.Env = append(cmd.Env, "npm_config_before="+c.before)
			}
			out, err := cmd.CombinedOutput()
			if (err == nil) != (c.want == "") || !strings.Contains(string(out), c.want) {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
}
