// Package node is what the test tools of JavaScript and TypeScript share: what a package declares, its package manager, the recipe
// that brings its dependencies to a state without changing the state's files, the program that starts a tool with a reporter of
// ours, and how that reporter's lines are read.
//
// It knows no test tool, runs nothing, and takes what manifests say as data: words of a script are arguments, never a shell's text.
package node

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/project"
)

// Language is JavaScript and TypeScript: one, since one package holds both.
var Language = project.Language{
	Name:       "JavaScript",
	Extensions: []string{".js", ".mjs", ".cjs", ".jsx", ".ts", ".mts", ".cts", ".tsx", ".svelte", ".vue"},
}

// Image is the base image of the language's recipes.
const Image = "sluice/node:trixie"

const manifestFile = "package.json"

// manifest is what a package.json declares, as far as it can be read.
type manifest struct {
	Name           string
	Main           string
	PackageManager string
	Scripts        map[string]string
	Engines        map[string]string
	Volta          map[string]string
	Deps           map[string]string // of all kinds: a package's specifier by its name
	Workspaces     []string
	keys           map[string]json.RawMessage
	parsed         map[string][]command // of scripts by their names
}

// readManifest reads a folder's package.json; nil if there is none that is an object. A field of a type that nobody expects counts
// as absent.
func readManifest(t *project.Tree, dir string) (*manifest, error) {
	text, err := t.Read(path.Join(dir, manifestFile))
	if err != nil {
		return nil, fmt.Errorf("reading a manifest: %w", err)
	}
	m := manifest{Deps: map[string]string{}}
	if json.Unmarshal([]byte(strings.TrimPrefix(text, "\uFEFF")), &m.keys) != nil || m.keys == nil {
		return nil, nil
	}
	for key, field := range map[string]any{
		"name": &m.Name, "main": &m.Main, "packageManager": &m.PackageManager, "scripts": &m.Scripts, "engines": &m.Engines, "volta": &m.Volta,
	} {
		m.field(key, field)
	}
	for _, key := range []string{"peerDependencies", "optionalDependencies", "dependencies", "devDependencies"} {
		var list map[string]string
		m.field(key, &list)
		maps.Copy(m.Deps, list)
	}
	var wrapped struct{ Packages []string }
	if m.field("workspaces", &m.Workspaces); len(m.Workspaces) == 0 {
		m.field("workspaces", &wrapped)
		m.Workspaces = wrapped.Packages
	}
	return &m, nil
}

func (m *manifest) field(key string, into any) {
	if raw, ok := m.keys[key]; ok {
		_ = json.Unmarshal(raw, into) // what has another type is left as it was
	}
}

// has reports whether the manifest has a field of that name.
func (m *manifest) has(key string) bool { return m.keys[key] != nil }

// Names are the names under which the registry would have the packages of a change.
func Names(t *project.Tree, paths []string) ([]string, error) {
	var names []string
	dir, _ := t.Nearest(paths, manifestFile)
	for _, d := range []string{dir, ""} {
		m, err := readManifest(t, d)
		if err != nil {
			return nil, err
		}
		if m != nil {
			names = append(names, m.Name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// workspace finds the folder that a package is installed from: the nearest above it that lists it as a workspace, or that holds
// the lock file where the package's own folder has none; else its own.
func workspace(t *project.Tree, dir string) (string, error) {
	if t.HasAny(dir, lockFiles) {
		return dir, nil
	}
	for up := parent(dir); dir != ""; up = parent(up) {
		globs, err := workspaces(t, up)
		if err != nil {
			return "", err
		}
		rel := strings.TrimPrefix(strings.TrimPrefix(dir, up), "/")
		if globs.member(rel) {
			return up, nil
		}
		if up == "" {
			break
		}
	}
	return dir, nil
}

func parent(dir string) string { return project.Dir(dir) }

// What is read of the patterns of workspaces: how many, and how long one may be. Each is held against each package of the tree.
const (
	maxPatterns  = 1000
	patternBytes = 300
)

// workspaces are the patterns of a folder's workspaces.
func workspaces(t *project.Tree, dir string) (patterns, error) {
	m, err := readManifest(t, dir)
	if err != nil || m == nil {
		return nil, err
	}
	text, err := t.Read(path.Join(dir, "pnpm-workspace.yaml"))
	if err != nil {
		return nil, fmt.Errorf("reading the workspaces: %w", err)
	}
	globs := append(yamlList(text, "packages"), m.Workspaces...)
	if len(globs) > maxPatterns || slices.ContainsFunc(globs, func(g string) bool { return len(g) > patternBytes }) {
		return nil, project.ErrNoRecipe{Reason: "the workspace has too many patterns, or too long ones"}
	}
	return compile(globs), nil
}

var yamlKey = regexp.MustCompile(`^([A-Za-z]+):\s*(?:\[(.*)\])?\s*(?:#.*)?$`)

// yamlList reads a list of plain strings at the top of a document: enough for the files that package managers write.
func yamlList(text, key string) []string {
	var list []string
	in := false
	add := func(s string) {
		s, _, _ = strings.Cut(strings.TrimSpace(s), " #")
		if s = strings.Trim(strings.TrimSpace(s), `'"`); s != "" {
			list = append(list, s)
		}
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		if m := yamlKey.FindStringSubmatch(line); m != nil {
			in = m[1] == key
			if in {
				for _, s := range strings.Split(m[2], ",") {
					add(s)
				}
			}
			continue
		}
		if item, ok := strings.CutPrefix(strings.TrimSpace(line), "-"); ok && in {
			add(item)
		} else if in && strings.TrimSpace(line) != "" && line[0] != ' ' && line[0] != '#' {
			in = false
		}
	}
	return list
}

// patterns say which folders are workspaces.
type patterns []pattern

type pattern struct {
	fits *regexp.Regexp
	not  bool // what fits is none
}

// compile reads patterns; with a "!" in front they name what is none.
func compile(globs []string) patterns {
	var list patterns
	for _, g := range globs {
		g, not := strings.CutPrefix(g, "!")
		list = append(list, pattern{glob(strings.TrimSuffix(strings.TrimPrefix(g, "./"), "/")), not})
	}
	return list
}

// member reports whether a folder is one of the workspaces; the last pattern that fits decides.
func (list patterns) member(dir string) bool {
	is := false
	for _, p := range list {
		if p.fits.MatchString(dir) {
			is = !p.not
		}
	}
	return is
}

var globParts = regexp.MustCompile(`/\*\*$|\*\*/|\*\*|\*|\{[^{}]*\}|[^*{]+|.`)

// glob makes an expression of a pattern as package managers read them.
func glob(pattern string) *regexp.Regexp {
	e := globParts.ReplaceAllStringFunc(pattern, func(p string) string {
		switch {
		case p == "/**":
			return "(?:/.*)?"
		case p == "**/":
			return "(?:.*/)?"
		case p == "**":
			return ".*"
		case p == "*":
			return "[^/]*"
		case len(p) > 1 && p[0] == '{':
			parts := strings.Split(p[1:len(p)-1], ",")
			for i := range parts {
				parts[i] = regexp.QuoteMeta(parts[i])
			}
			return "(?:" + strings.Join(parts, "|") + ")"
		}
		return regexp.QuoteMeta(p)
	})
	re, err := regexp.Compile("^(?s:" + e + ")$")
	if err != nil {
		return regexp.MustCompile("$.") // fits nothing
	}
	return re
}
