package sandboxtest

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"sluice/replay"
)

func treeChecks() []check {
	return []check{
		{name: "tree then overlays in order", run: checkOverlays},
		{name: "an overlay replaces files, folders and links", run: checkReplace},
		{name: "names need not be text", run: checkNames},
		{name: "a link of the tree is not written through", run: checkLinks},
		{name: "a path that leaves the tree is refused", run: checkTraversal},
		{name: "each job has a fresh state", needs: "isolation", run: checkFresh},
	}
}

func checkOverlays(t *testing.T, s *suite) {
	j := s.job(t, []replay.File{Text("a", "a"), Text("gone", "x"), Text("d/keep", "k"), Text("d/gone", "x"), Script("run", "#!/bin/sh\ncat a b; ls d\n")},
		replay.Step{Name: "run", Args: []string{"./run"}})
	j.Overlays = []replay.Overlay{
		{Remove: []string{"gone", "d/gone", "never/there"}, Files: []replay.File{Text("b", "1"), Text("a", "1")}},
		{Remove: []string{"b"}, Files: []replay.File{Text("b", "2")}},
	}
	r := s.run(t, j).Steps[0]
	wantExit(t, r, 0)
	wantOut(t, r, "12keep\n")
}

func checkReplace(t *testing.T, s *suite) {
	j := s.job(t, []replay.File{Text("dir/f", "x"), Text("file", "x"), Link("link", "file"), Link("linkdir", "dir")},
		sh("step", `cat dir file/x link linkdir/f && test ! -L link && test ! -L linkdir && ls linkdir`))
	j.Overlays = []replay.Overlay{{Files: []replay.File{Text("dir", "1"), Text("file/x", "2"), Text("link", "3"), Text("linkdir/f", "4")}}}
	r := s.run(t, j).Steps[0]
	wantExit(t, r, 0)
	wantOut(t, r, "1234f\n")
}

func checkNames(t *testing.T, s *suite) {
	name := "odd \xff\n'name"
	r := s.run(t, s.job(t, []replay.File{Text(name, "data"), Link("l", name)}, sh("step", `cat l; cat odd*`))).Steps[0]
	wantExit(t, r, 0)
	wantOut(t, r, "datadata")
}

func checkLinks(t *testing.T, s *suite) {
	victim := t.TempDir()
	if err := os.WriteFile(filepath.Join(victim, "file"), []byte("mine"), 0o644); err != nil {
		t.Fatal(err)
	}
	j := s.job(t, []replay.File{Link("dir", victim), Link("file", filepath.Join(victim, "file")), Link("up", "../../../../../../../..")},
		sh("step", `cat dir/x file`))
	j.Overlays = []replay.Overlay{
		{Files: []replay.File{Text("dir/x", "x"), Text("file", "y")}},
		{Remove: []string{"up" + victim + "/file"}},
	}
	r := s.run(t, j).Steps[0]
	wantExit(t, r, 0)
	wantOut(t, r, "xy")
	wantVictim(t, victim)
}

// wantVictim fails the test unless the folder holds its one file, unchanged.
func wantVictim(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(filepath.Join(dir, "file"))
	if err != nil || string(data) != "mine" || len(entries) != 1 {
		t.Errorf("the folder outside was changed: %v %q %v", entries, data, err)
	}
}

func checkTraversal(t *testing.T, s *suite) {
	outside := filepath.Join(t.TempDir(), "escaped")
	bad := []string{"../escaped", "a/../../escaped", outside, "", ".", "a//b", "a/./b", "nul\x00byte"}
	for _, path := range bad {
		tree := s.job(t, []replay.File{Text(path, "x")}, sh("step", "true"))
		over := s.job(t, nil, sh("step", "true"))
		over.Overlays = []replay.Overlay{{Files: []replay.File{Text(path, "x")}}}
		remove := s.job(t, nil, sh("step", "true"))
		remove.Overlays = []replay.Overlay{{Remove: []string{path}}}
		for kind, j := range map[string]replay.Job{"tree": tree, "overlay": over, "remove": remove} {
			if _, err := s.box.Run(context.Background(), j); err == nil {
				t.Errorf("%s with path %q was accepted", kind, path)
			}
		}
	}
	if _, err := os.Lstat(outside); err == nil {
		t.Error("a file was written outside")
	}
}

func checkFresh(t *testing.T, s *suite) {
	script := `ls -A; ls -A /tmp "$HOME" | grep leftover; touch leftover /tmp/leftover "$HOME/leftover"; echo over >> ../leftover; true`
	first, second := s.script(t, script), s.script(t, script)
	wantExit(t, first, 0)
	wantOut(t, second, "")
}
