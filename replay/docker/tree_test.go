package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"io"
	"io/fs"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

func text(path, data string) replay.File { return sandboxtest.Text(path, data) }
func link(path, to string) replay.File   { return sandboxtest.Link(path, to) }

// pack returns the tar headers and contents of a tree with overlays, by name without the tree's folder.
func pack(files []replay.File, overlays []replay.Overlay) (map[string]string, []*tar.Header, error) {
	var buf bytes.Buffer
	k := newPacker(&buf)
	if err := k.tree(context.Background(), sandboxtest.NewTree("t", files...), overlays, owner{7, 8}); err != nil {
		return nil, nil, err
	}
	if err := k.tw.Close(); err != nil {
		return nil, nil, err
	}
	got := map[string]string{}
	var headers []*tar.Header
	for tr := tar.NewReader(&buf); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return got, headers, nil
		}
		if err != nil {
			return nil, nil, err
		}
		headers = append(headers, h)
		data, err := io.ReadAll(tr)
		if err != nil {
			return nil, nil, err
		}
		switch h.Typeflag {
		case tar.TypeReg:
			got[strings.TrimPrefix(h.Name, "testbed/")] = string(data)
		case tar.TypeSymlink:
			got[strings.TrimPrefix(h.Name, "testbed/")] = "-> " + h.Linkname
		}
	}
}

func TestOverlays(t *testing.T) {
	t.Parallel()
	over := func(remove []string, files ...replay.File) replay.Overlay {
		return replay.Overlay{Remove: remove, Files: files}
	}
	tests := []struct {
		name     string
		tree     []replay.File
		overlays []replay.Overlay
		want     map[string]string
	}{
		{"none", []replay.File{text("a", "1"), link("l", "../../x")}, nil, map[string]string{"a": "1", "l": "-> ../../x"}},
		{"replace and add", []replay.File{text("a", "1"), text("b", "1")}, []replay.Overlay{over(nil, text("a", "2"), text("c/d", "3"))},
			map[string]string{"a": "2", "b": "1", "c/d": "3"}},
		{"remove", []replay.File{text("a", "1"), text("d/x", "1"), text("dx", "1")}, []replay.Overlay{over([]string{"a", "d", "none"})},
			map[string]string{"dx": "1"}},
		{"remove, then add in one overlay", []replay.File{text("a", "1")}, []replay.Overlay{over([]string{"a"}, text("a", "2"))},
			map[string]string{"a": "2"}},
		{"the later overlay wins", nil, []replay.Overlay{over(nil, text("a", "1"), text("b", "1")), over([]string{"b"}, text("a", "2"))},
			map[string]string{"a": "2"}},
		{"a link on the way is replaced", []replay.File{link("d", "/etc")}, []replay.Overlay{over(nil, text("d/passwd", "x"))},
			map[string]string{"d/passwd": "x"}},
		{"a link at the end is replaced", []replay.File{link("a", "/etc/passwd")}, []replay.Overlay{over(nil, text("a", "x"))},
			map[string]string{"a": "x"}},
		{"an overlay's link on the way is replaced", nil, []replay.Overlay{over(nil, link("d", "/etc")), over(nil, text("d/f", "x"))},
			map[string]string{"d/f": "x"}},
		{"a file for a folder", []replay.File{text("d/a", "1"), text("d/b/c", "1")}, []replay.Overlay{over(nil, text("d", "x"))},
			map[string]string{"d": "x"}},
		{"a file for a folder, and a folder again", []replay.File{text("d/a", "1")},
			[]replay.Overlay{over(nil, text("d", "x")), over(nil, text("d/b", "y"))}, map[string]string{"d/b": "y"}},
		{"what a folder replaced does not come back", []replay.File{text("d", "1")},
			[]replay.Overlay{over(nil, text("d/a", "x")), over([]string{"d/a"})}, map[string]string{}},
		{"bytes that are not text", []replay.File{text("\xff\n'", "\x00\xfe")}, nil, map[string]string{"\xff\n'": "\x00\xfe"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, _, err := pack(tt.tree, tt.overlays)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, got); d != "" {
				t.Errorf("(-want +got):\n%s", d)
			}
		})
	}
}

func TestHostilePaths(t *testing.T) {
	t.Parallel()
	for _, p := range []string{"", ".", "..", "../x", "/etc/passwd", "a/../../x", "a//b", "a/", "./a", "a\x00b"} {
		file := []replay.File{text(p, "x")}
		if _, _, err := pack(file, nil); err == nil {
			t.Errorf("a tree with %q was packed", p)
		}
		if _, _, err := pack(nil, []replay.Overlay{{Files: file}}); err == nil {
			t.Errorf("an overlay with %q was packed", p)
		}
		if _, _, err := pack(nil, []replay.Overlay{{Remove: []string{p}}}); err == nil {
			t.Errorf("an overlay that removes %q was packed", p)
		}
	}
	for name, tree := range map[string][]replay.File{
		"a file below a link":        {link("d", "/etc"), text("d/passwd", "x")},
		"a link in a folder's place": {text("d/x", "x"), link("d", "/etc")},
		"the same path twice":        {text("a", "1"), link("a", "/etc")},
	} {
		k := newPacker(io.Discard)
		var err error
		for _, f := range tree {
			if err == nil {
				err = k.file("testbed", f, owner{})
			}
		}
		if err == nil {
			t.Errorf("%s was packed", name)
		}
	}
}

func TestHeaders(t *testing.T) {
	t.Parallel()
	run := replay.File{Path: "bin/run", Mode: 0o777}
	_, headers, err := pack([]replay.File{run, {Path: "plain", Mode: fs.ModeSetuid | 0o640}}, nil)
	if err != nil {
		t.Fatal(err)
	}
	modes := map[string]int64{}
	for _, h := range headers {
		modes[h.Name] = h.Mode
		if h.Uid != 7 || h.Gid != 8 || h.ModTime.Year() < 1980 {
			t.Errorf("%s belongs to %d:%d, time %v", h.Name, h.Uid, h.Gid, h.ModTime)
		}
	}
	want := map[string]int64{"testbed/": 0o755, "testbed/bin/": 0o755, "testbed/bin/run": 0o755, "testbed/plain": 0o644}
	if d := cmp.Diff(want, modes); d != "" {
		t.Errorf("modes (-want +got):\n%s", d)
	}
}

// naive applies overlays to a map, one by one: what the streaming plan must agree with.
func naive(files []replay.File, overlays []replay.Overlay) map[string]string {
	all := map[string]string{}
	drop := func(p string) {
		maps.DeleteFunc(all, func(k, _ string) bool { return k == p || strings.HasPrefix(k, p+"/") })
	}
	for _, f := range files {
		all[f.Path] = string(f.Data)
	}
	for _, o := range overlays {
		for _, r := range o.Remove {
			drop(r)
		}
		for _, f := range o.Files {
			drop(f.Path)
			parents(f.Path, func(d string) bool { delete(all, d); return true })
			all[f.Path] = string(f.Data)
		}
	}
	return all
}

func TestPlanAgreesWithNaive(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		path := rapid.StringMatching(`[ab](/[ab]){0,3}`)
		data := rapid.StringMatching(`[xy]`)
		tree := map[string]string{}
		for range rapid.IntRange(0, 6).Draw(t, "files") {
			p := path.Draw(t, "path")
			ok := true
			for k := range tree { // a real tree has no file below a file
				ok = ok && !strings.HasPrefix(k+"/", p+"/") && !strings.HasPrefix(p+"/", k+"/")
			}
			if ok {
				tree[p] = data.Draw(t, "data")
			}
		}
		var files []replay.File
		for _, p := range slices.Sorted(maps.Keys(tree)) {
			files = append(files, text(p, tree[p]))
		}
		var overlays []replay.Overlay
		for range rapid.IntRange(0, 3).Draw(t, "overlays") {
			o := replay.Overlay{Remove: rapid.SliceOfN(path, 0, 2).Draw(t, "remove")}
			for range rapid.IntRange(0, 3).Draw(t, "adds") {
				o.Files = append(o.Files, text(path.Draw(t, "path"), data.Draw(t, "data")))
			}
			overlays = append(overlays, o)
		}
		got, headers, err := pack(files, overlays)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(naive(files, overlays), got); d != "" {
			t.Fatalf("(-want +got):\n%s", d)
		}
		wantSafe(t, headers)
	})
}

// wantSafe checks that unpacking in order never writes below something that is not a folder.
func wantSafe(t *rapid.T, headers []*tar.Header) {
	dirs := map[string]bool{}
	for _, h := range headers {
		name := strings.TrimSuffix(h.Name, "/")
		parents(name, func(d string) bool {
			if !dirs[d] {
				t.Fatalf("%s comes before its folder %s", h.Name, d)
			}
			return true
		})
		if h.Typeflag == tar.TypeDir {
			dirs[name] = true
		}
	}
}

func TestParseOwner(t *testing.T) {
	t.Parallel()
	if o, err := parseOwner(defaultUser); err != nil || o != (owner{10001, 10001}) {
		t.Errorf("got %v, %v", o, err)
	}
	for _, s := range []string{"", "1000", "user:group", "1:"} {
		if _, err := parseOwner(s); err == nil {
			t.Errorf("%q was taken for a user", s)
		}
	}
}
