package python

import (
	"archive/zip"
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// wheel is a distribution of one empty module, which may require others.
func wheel(t *testing.T, name, version string, requires ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	meta := fmt.Sprintf("Metadata-Version: 2.1\nName: %s\nVersion: %s\n", name, version)
	for _, r := range requires {
		meta += "Requires-Dist: " + r + "\n"
	}
	for file, text := range map[string]string{
		name + ".py": "", info + "METADATA": meta + "\n", info + "WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py2-none-any\nTag: py3-none-any\n", info + "RECORD": "",
	} {
		w, err := z.Create(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestPipAsOf: pip, where there is no uv, takes what a real index on the loopback had on a day, and nothing from an index without
// times; a proxy that is not for the index is asked for nothing. What a wheel requires is installed one by one if it does not go together.
func TestPipAsOf(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	if err := exec.CommandContext(t.Context(), python, "-m", "pip", "--version").Run(); err != nil {
		t.Skip("no pip here")
	}
	times := map[string]string{"ab-1.0-py2.py3-none-any.whl": "2016-02-01T00:00:00Z", "ab-2.0-py2.py3-none-any.whl": "2019-02-01T00:00:00Z",
		"pytest-2.0-py2.py3-none-any.whl": "2016-02-01T00:00:00Z", "pytest-4.6-py2.py3-none-any.whl": "2019-02-01T00:00:00Z"}
	files := map[string][]byte{}
	for name := range times {
		project, version, _ := strings.Cut(name, "-")
		files[name] = wheel(t, project, strings.Split(version, "-")[0])
	}
	timed := true
	index := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch base := path.Base(r.URL.Path); {
		case r.URL.Path == "/simple/ab/" || r.URL.Path == "/simple/pytest/":
			w.Header().Set("Content-Type", "application/vnd.pypi.simple.v1+json")
			var list []string
			for name, at := range times {
				if !strings.HasPrefix(name, base+"-") {
					continue
				}
				if !timed {
					at = ""
				}
				list = append(list, fmt.Sprintf(`{"filename":%q,"url":"../../files/%s","hashes":{},"upload-time":%q}`, name, name, at))
			}
			fmt.Fprintf(w, `{"meta":{"api-version":"1.1"},"name":%q,"files":[%s]}`, base, strings.Join(list, ","))
		case files[base] != nil:
			_, _ = w.Write(files[base])
		default:
			http.NotFound(w, r)
		}
	}))
	defer index.Close()
	own := filepath.Join(t.TempDir(), "own-1.0-py2.py3-none-any.whl")
	if err := os.WriteFile(own, wheel(t, "own", "1.0", "ab", "gone", `other; extra == "x"`), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, day, want, log string
		timed                bool
		args                 []string
	}{
		{"as of a day", "2017-01-01", "ab-1.0.dist-info", "", true, []string{"ab"}},
		{"the test tool", "2017-01-01", "pytest-4.6.dist-info", "", true, []string{"pytest"}},
		{"a later one", "2020-01-01", "ab-2.0.dist-info", "", true, []string{"ab"}},
		{"before the first that is left", "2015-01-01", "ab-1.0.dist-info", "nothing of before 2015-01-01 is left of ab", true, []string{"ab"}},
		{"without times", "2017-01-01", "", "does not tell when", false, []string{"ab"}},
		{"a wheel's own", "2017-01-01", "ab-1.0.dist-info", "left out, as it does not install: gone", true, []string{own}},
	} {
		timed = c.timed
		dir := t.TempDir()
		cmd := exec.CommandContext(t.Context(), python, append([]string{"-c", program, "nowhere", `{"tool":"pytest"}`, "--"}, c.args...)...)
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "HOME=" + dir, "PIP_TARGET=" + filepath.Join(dir, "got"), "PIP_NO_CACHE_DIR=1",
			"PIP_INDEX_URL=" + strings.Replace(index.URL, "127.0.0.1", "localhost", 1) + "/simple/", "HTTP_PROXY=http://127.0.0.1:1", "NO_PROXY=localhost",
			"UV_EXCLUDE_NEWER=" + c.day, "PIP_ROOT_USER_ACTION=ignore"}
		out, err := cmd.CombinedOutput()
		got, _ := filepath.Glob(filepath.Join(dir, "got", "*.dist-info"))
		names := ""
		if len(got) > 0 {
			names = filepath.Base(got[0])
		}
		if names != c.want || (err == nil) != (c.want != "") || !strings.Contains(string(out), c.log) {
			t.Errorf("%s: %q, %v\n%s", c.name, names, err, out)
		}
	}
}
