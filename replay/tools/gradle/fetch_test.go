package gradle

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

func archive(t *testing.T, name string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	w, err := z.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Write([]byte("x")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestFetch: an archive is unpacked only if it is the one whose digest lies beside it, and into its folder only.
func TestFetch(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts Java")
	}
	java, err := exec.LookPath("java")
	if err != nil && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
		t.Fatal(err)
	} else if err != nil {
		t.Skip(err) // the image has it
	}
	good, outside := archive(t, "gradle-1/bin/gradle"), archive(t, "../out")
	sum := func(data []byte) string { return fmt.Sprintf("%x", sha256.Sum256(data)) }
	files := map[string]string{
		"/good": string(good), "/good.sha256": sum(good), "/other": string(good), "/other.sha256": sum(outside),
		"/outside": string(outside), "/outside.sha256": sum(outside), "/unsigned": string(good),
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text, ok := files[r.URL.Path]
		if r.URL.Path == "/moved" || r.URL.Path == "/moved.sha256" {
			http.Redirect(w, r, "/good"+r.URL.Path[len("/moved"):], http.StatusFound)
		} else if r.URL.Path == "/busy.sha256" {
			w.WriteHeader(http.StatusServiceUnavailable)
		} else if !ok {
			http.NotFound(w, r)
		} else {
			fmt.Fprint(w, text)
		}
	}))
	defer server.Close()
	for name, want := range map[string]bool{"good": true, "moved": true, "other": false, "outside": false, "unsigned": false, "missing": false} {
		top := t.TempDir()
		out, err := exec.CommandContext(t.Context(), java, "Fetch.java", server.URL+"/"+name, filepath.Join(top, "dist")).CombinedOutput()
		_, there := os.Stat(filepath.Join(top, "dist/gradle-1/bin/gradle"))
		if (err == nil) != want || (there == nil) != want {
			t.Errorf("%s: %v, there: %v\n%s", name, err, there, out)
		}
		if _, err := os.Stat(filepath.Join(top, "out")); err == nil {
			t.Errorf("%s: a file lies outside of the folder", name)
		}
	}
	unreachable := httptest.NewServer(nil)
	unreachable.Close()
	for _, c := range []struct {
		address, mirror string
		code            int
	}{
		{unreachable.URL + "/good", "", 3}, {server.URL + "/busy", "", 3}, {server.URL + "/missing", "", 1},
		{unreachable.URL + "/distributions/good", server.URL + "/", 0},
	} {
		cmd := exec.CommandContext(t.Context(), java, "Fetch.java", c.address, filepath.Join(t.TempDir(), "dist"))
		cmd.Env = append(os.Environ(), "GRADLE_DISTRIBUTIONS_URL="+c.mirror)
		if out, _ := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != c.code {
			t.Errorf("%+v: exit code %d\n%s", c, cmd.ProcessState.ExitCode(), out)
		}
	}
}
