package python

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"sluice/replay/tools/tooltest"
)

// TestInstallNetwork: where the network ended any way to install, if only once, nothing is left out, whatever the later ways say.
func TestInstallNetwork(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	const refused, missing = "error sending request for url", "No matching distribution"
	for _, c := range []struct {
		name, uv, pip string
		leaves        bool // requirements are tried one by one
	}{
		{"the network in uv, then another failure in pip", refused, missing, false},
		{"the network in pip", missing, refused, false},
		{"no network words", missing, missing, true},
	} {
		dir := t.TempDir()
		tooltest.Write(t, dir, tooltest.Tree{"bin/uv": "#!/bin/sh\n[ -e \"$0.again\" ] && echo '" + missing + "' || echo '" + c.uv + "'\n: >\"$0.again\"\nexit 1\n", "lib/pip.py": "print('" + c.pip + "')\nraise SystemExit(1)\n"})
		if err := os.Chmod(filepath.Join(dir, "bin/uv"), 0o755); err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", program, dir, "{}", "--", "one", "two")
		cmd.Env = []string{"PATH=/usr/bin:/bin", "TMPDIR=" + dir, "PYTHONPATH=" + filepath.Join(dir, "lib"), "PYTHONDONTWRITEBYTECODE=1"}
		out, err := cmd.CombinedOutput()
		leaves := strings.Contains(string(out), "left out, as it does not install: one")
		blames := strings.Contains(string(out), "the network or the index failed")
		if err == nil || leaves != c.leaves || blames == c.leaves {
			t.Errorf("%s: %v\n%s", c.name, err, out)
		}
	}
}
