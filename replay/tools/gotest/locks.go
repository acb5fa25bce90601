package gotest

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"

	"golang.org/x/mod/module"
	"golang.org/x/mod/semver"

	"sluice/replay/tools/project"
)

// pin is a version of a repository in a lock file of the time before modules.
type pin struct {
	path     string // of the repository, or of a package in it
	version  string // a tag
	revision string
	at       time.Time // of the revision; zero if the file does not say
}

// lockFiles are read in this order; the first that pins something counts.
var lockFiles = []struct {
	name string
	read func(text string) []pin
}{
	{"Gopkg.lock", readDep}, {"glide.lock", readGlide}, {"vendor/vendor.json", readGovendor}, {"Godeps/Godeps.json", readGodeps},
	{"vendor.conf", readConf}, {"vendor/manifest", readManifest}, {"Godeps", readConf},
}

// pins reads the lock file of a tree; name is "" if there is none.
func pins(t *project.Tree) (list []pin, name string, err error) {
	for _, f := range lockFiles {
		text, err := t.Read(f.name)
		if err != nil {
			return nil, "", err
		}
		if list := f.read(text); len(list) > 0 {
			return list, f.name, nil
		}
	}
	return nil, "", nil
}

// maxPins bounds the command line that asks for them.
const maxPins = 1000

// queries are what the go command is asked for, sorted: one for each repository. What is no sound path or version is left out. all is
// how many there are; the first maxPins are returned.
func queries(list []pin) (out []string, all int) {
	byPath := map[string]string{}
	for _, p := range list {
		root, v := repository(p.path), p.query()
		if v != "" && byPath[root] == "" && isForeign(root, nil) {
			byPath[root] = root + "@" + v
		}
	}
	for _, q := range byPath {
		out = append(out, q)
	}
	slices.Sort(out)
	return out[:min(len(out), maxPins)], len(out)
}

var commit = regexp.MustCompile(`^[0-9a-f]{40}$`)

// query names the version: its tag; else, if its time is known, what the module proxy calls the commit; else the commit.
func (p pin) query() string {
	switch {
	case semver.IsValid(p.version) && semver.Build(p.version) == "":
		return p.version
	case commit.MatchString(p.revision) && !p.at.IsZero():
		return module.PseudoVersion("", "", p.at.UTC(), p.revision[:12])
	case commit.MatchString(p.revision):
		return p.revision
	}
	return ""
}

// depths are how many elements the paths of a host's repositories have; others have as many as the path.
var depths = map[string]int{
	"github.com": 3, "bitbucket.org": 3, "gitlab.com": 3, "golang.org": 3, "code.google.com": 3, "google.golang.org": 2,
	"cloud.google.com": 2, "k8s.io": 2, "sigs.k8s.io": 2, "go.uber.org": 2, "labix.org": 3, "launchpad.net": 2, "bazil.org": 2,
}

func repository(p string) string {
	parts := strings.Split(p, "/")
	n := depths[parts[0]]
	if parts[0] == "gopkg.in" && len(parts) > 1 {
		n = 3
		if dotVersion.MatchString(parts[1]) {
			n = 2
		}
	}
	if n == 0 || n > len(parts) {
		return p
	}
	return strings.Join(parts[:n], "/")
}

func readDep(text string) (list []pin) {
	var f struct {
		Projects []struct{ Name, Version, Revision string }
	}
	if err := project.DecodeTOML(text, &f); err != nil {
		return nil
	}
	for _, p := range f.Projects {
		list = append(list, pin{path: p.Name, version: p.Version, revision: p.Revision})
	}
	return list
}

var glideLine = regexp.MustCompile(`^(?:- |  )(name|version):\s*["']?([^\s"'#]+)`)

// readGlide reads the two keys of glide.lock by their lines: glide itself writes the file, always in one form.
func readGlide(text string) (list []pin) {
	for line := range strings.Lines(text) {
		m := glideLine.FindStringSubmatch(line)
		switch {
		case m == nil:
		case m[1] == "name":
			list = append(list, pin{path: m[2]})
		case len(list) > 0:
			list[len(list)-1].version, list[len(list)-1].revision = m[2], m[2]
		}
	}
	return list
}

func readGovendor(text string) (list []pin) {
	var f struct {
		Package []struct {
			Path, Revision, VersionExact string
			RevisionTime                 time.Time
		}
	}
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	for _, p := range f.Package {
		list = append(list, pin{path: p.Path, version: p.VersionExact, revision: p.Revision, at: p.RevisionTime})
	}
	return list
}

func readGodeps(text string) (list []pin) {
	var f struct {
		Deps []struct{ ImportPath, Comment, Rev string }
	}
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	for _, d := range f.Deps {
		p := pin{path: d.ImportPath, revision: d.Rev}
		if !strings.Contains(d.Comment, "-") { // else the commit is that many after the tag
			p.version = d.Comment
		}
		list = append(list, p)
	}
	return list
}

func readManifest(text string) (list []pin) {
	var f struct {
		Dependencies []struct{ ImportPath, Revision string }
	}
	if json.Unmarshal([]byte(text), &f) != nil {
		return nil
	}
	for _, d := range f.Dependencies {
		list = append(list, pin{path: d.ImportPath, revision: d.Revision})
	}
	return list
}

// readConf reads "path version" lines.
func readConf(text string) (list []pin) {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		if words := strings.Fields(line); len(words) > 1 {
			list = append(list, pin{path: words[0], version: words[1], revision: words[1]})
		}
	}
	return list
}
