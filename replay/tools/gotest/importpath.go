package gotest

import (
	"encoding/json"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"sluice/replay/tools/project"
)

// importPath is the path under which old code imports its own packages: what a file says, else what most imports of the code agree on.
// Code of one package may not tell, and does not care: it gets a name of its own.
func importPath(t *project.Tree, s *source) (string, error) {
	if p := s.comments[""]; p != "" {
		return p, nil
	}
	for _, dir := range slices.Sorted(maps.Keys(s.comments)) {
		if p, ok := strings.CutSuffix(s.comments[dir], "/"+dir); ok {
			return p, nil
		}
	}
	if p := s.ownPath(t); p != "" {
		return p, nil
	}
	if p, err := declaredPath(t); p != "" || err != nil {
		return p, err
	}
	name := s.names[""]
	if name == "" || name == "main" {
		name = "project"
	}
	return "old.invalid/" + name, nil
}

// ownPath counts for which prefix the imports name folders of the tree. What is vendored is somebody else's, even if its
// folders have the same names.
func (s *source) ownPath(t *project.Tree) string {
	votes := map[string]int{}
	roots := vendorRoots(t)
	for p := range s.imports {
		if !isForeign(p, nil) || isVendored(t, roots, s, p) {
			continue
		}
		for dir := p; strings.Contains(dir, "/"); {
			_, dir, _ = strings.Cut(dir, "/")
			prefix := strings.TrimSuffix(p, "/"+dir)
			if s.dirs[dir] && strings.Contains(prefix, "/") {
				votes[prefix] += 1 + strings.Count(dir, "/")
			}
		}
	}
	for _, p := range s.external[""] { // tests of the root's package import it by its full name
		if isForeign(p, nil) && !isVendored(t, roots, s, p) && packageName(p) == s.names[""] {
			votes[p]++
		}
	}
	best := ""
	for p, n := range votes {
		if best == "" || n > votes[best] || n == votes[best] && p < best {
			best = p
		}
	}
	return best
}

var goImportPath = regexp.MustCompile(`(?m)^go_import_path:\s*["']?([^\s"'#]+)`)

// declaredPath is what files for other tools call the project.
func declaredPath(t *project.Tree) (string, error) {
	var found []string
	for _, f := range []struct{ name, key string }{{"Godeps/Godeps.json", "ImportPath"}, {"vendor/vendor.json", "rootPath"}} {
		text, err := t.Read(f.name)
		if err != nil {
			return "", err
		}
		var fields map[string]json.RawMessage
		var p string
		if json.Unmarshal([]byte(text), &fields) == nil && json.Unmarshal(fields[f.key], &p) == nil {
			found = append(found, p)
		}
	}
	for _, f := range []struct {
		name string
		line *regexp.Regexp
	}{{"glide.yaml", regexp.MustCompile(`(?m)^package:\s*["']?([^\s"'#]+)`)}, {".travis.yml", goImportPath}} {
		text, err := t.Read(f.name)
		if err != nil {
			return "", err
		}
		if m := f.line.FindStringSubmatch(text); m != nil {
			found = append(found, m[1])
		}
	}
	for _, p := range found {
		if module.CheckImportPath(p) == nil && strings.Contains(path.Dir(p), ".") {
			return p, nil
		}
	}
	return "", nil
}
