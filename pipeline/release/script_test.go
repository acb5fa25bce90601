package release

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
)

// TestEvalScriptKeepsWhatIsThere: tests that only add files undo no other edit of the tree, neither while they run nor after; see
// github.com/SWE-bench/SWE-bench/issues/518, where a checkout without paths undid what the build had made.
func TestEvalScriptKeepsWhatIsThere(t *testing.T) {
	t.Parallel()
	for name, added := range map[string][]string{"one file is added": {"tests/test_new.py"}, "a folder too": {"new/deep/test_x.py", "tests/test_new.py"}, "none": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			tree, seen := filepath.Join(dir, "tree"), filepath.Join(dir, "seen")
			inst := pyInstance("x")
			c := pipeline.Check{Name: "task", Resolves: true, FailToPass: inst.Checks[0].FailToPass}
			want := []string{" M tox.ini", "?? built.txt"}
			for _, p := range added {
				c.Files = append(c.Files, pipeline.OverlayFile{Path: p, Mode: "100644", Data: pipeline.Text("x\n")})
			}
			script, err := evalScript(inst, c, parserOf["pytest"])
			if err != nil || strings.Contains(script, "\r") { // see github.com/SWE-bench/SWE-bench/issues/372
				t.Fatalf("%v, or a carriage return in %q", err, script)
			}
			// A stand-in for Python notes what the tests see.
			const setUp = `set -e; mkdir -p bin tree/tests; cd tree; git init -q; echo old >tox.ini; echo old >tests/test_old.py; git add .
				git -c user.name=a -c user.email=a@example.com commit -qm base; echo edited >tox.ini; echo built >built.txt
				printf '#!/bin/sh\ngit -C "$TREE" status --porcelain -uall >"$SEEN"; cat "$TREE/tox.ini" >>"$SEEN"\n' >../bin/python; chmod +x ../bin/python`
			for _, text := range []string{setUp, strings.ReplaceAll(script, "/testbed", tree)} {
				cmd := exec.CommandContext(t.Context(), "bash", "-c", text)
				cmd.Dir = dir
				cmd.Env = append(os.Environ(), "HOME="+dir, "PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "GIT_CONFIG_NOSYSTEM=1", "TREE="+tree, "SEEN="+seen)
				if out, err := cmd.CombinedOutput(); err != nil && text == setUp {
					t.Fatalf("%v: %s", err, out)
				}
			}
			during := want
			for _, p := range added {
				during = append(during[:len(during):len(during)], "?? "+p)
			}
			got, err := os.ReadFile(seen)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(strings.Join(append(during, "edited", ""), "\n"), string(got)); d != "" {
				t.Errorf("while the tests ran (-want +got):\n%s", d)
			}
			cmd := exec.CommandContext(t.Context(), "git", "-C", tree, "status", "--porcelain", "-uall")
			cmd.Env = append(os.Environ(), "HOME="+dir)
			after, err := cmd.Output()
			if d := cmp.Diff(strings.Join(append(want, ""), "\n"), string(after)); d != "" || err != nil {
				t.Errorf("afterwards (-want +got):\n%s%v", d, err)
			}
			if edit, err := os.ReadFile(filepath.Join(tree, "tox.ini")); string(edit) != "edited\n" {
				t.Errorf("tox.ini holds %q, %v", edit, err)
			}
		})
	}
}
