package jvm

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"

	"sluice/replay/tools/project"
)

// jdk is a JDK that an image has.
type jdk struct {
	version int
	image   string
}

// jdks are those of Debian's releases, the newest first; newer is one for what needs it, since fewer build tools run on it.
var (
	jdks  = []jdk{{21, Image}, {17, "sluice/jdk17:bookworm"}, {11, "sluice/jdk11:bullseye"}}
	newer = jdk{25, "sluice/jdk25:trixie"}
)

// Images are all images that recipes may name.
func (Project) Images() []string {
	list := []string{newer.image}
	for _, j := range jdks {
		list = append(list, j.image)
	}
	return list
}

// Asked is what a project says of the JDK that it runs on; 0 is nothing.
type Asked struct {
	Level int    // the newest version of the language among its modules
	Most  int    // the newest JDK on which it can run
	Why   string // of Most, in a few words
}

// oldSources is the newest version of the language that the usual JDK's compiler does not know.
const oldSources = 7

// Choose names the image for a project, and says why where it is not the usual one: only what that JDK cannot do has another one.
func Choose(a Asked) (image string, notes []string) {
	if a.Level > jdks[0].version {
		return newer.image, []string{fmt.Sprintf("is for JDK %d: its sources are of Java %d", newer.version, a.Level)}
	}
	most, why := a.Most, a.Why
	if a.Level > 0 && a.Level <= oldSources && (most == 0 || most > oldSources) {
		most, why = oldSources, fmt.Sprintf("its sources are of Java %d", a.Level)
	}
	if most == 0 || most >= jdks[0].version {
		return Image, nil
	}
	j := jdks[0]
	for _, k := range jdks { // the newest that is not too new, else the oldest
		if k.version >= a.Level {
			if j = k; k.version <= most {
				break
			}
		}
	}
	if j.image == Image {
		return Image, nil
	}
	return j.image, []string{fmt.Sprintf("is for JDK %d: %s", j.version, why)}
}

// Files by which tools that change JDKs, and services that build, are told which one to take: jenv, SDKMAN, asdf, Heroku, JitPack.
var naming = []struct {
	file    string
	version *regexp.Regexp
}{
	{".java-version", regexp.MustCompile(`^\s*(?:[a-z]+(?:64)?-)?(?:1\.)?(\d{1,2})\b`)},
	{".sdkmanrc", regexp.MustCompile(`(?m)^\s*java\s*=\s*(?:1\.)?(\d{1,2})\b`)},
	{".tool-versions", regexp.MustCompile(`(?m)^\s*java\s+(?:[a-z-]+-)?(?:1\.)?(\d{1,2})\b`)},
	{"system.properties", regexp.MustCompile(`(?m)^\s*java\.runtime\.version\s*=\s*(?:1\.)?(\d{1,2})\b`)},
	{"jitpack.yml", regexp.MustCompile(`(?m)^\s*(?:jdk\s*:\s*\[?|-)\s*['"]?(?:open|oracle)jdk(\d{1,2})\b`)},
}

// Ask is what a project says of its JDK whatever builds it: the level of its sources, and the files that name a JDK.
func Ask(t *project.Tree, root string, level int) (Asked, error) {
	a := Asked{Level: level}
	version, file, err := named(t, root)
	if err != nil {
		return a, err
	}
	a.Bound(version, fmt.Sprintf("%s names JDK %d", file, version))
	return a, nil
}

// named is the JDK that a file of the project's folder, or of the tree's root, names; 0 if none does.
func named(t *project.Tree, root string) (version int, file string, err error) {
	for _, dir := range slices.Compact([]string{root, ""}) {
		for _, n := range naming {
			text, err := t.Read(path.Join(dir, n.file))
			if err != nil {
				return 0, "", err
			}
			if m := n.version.FindStringSubmatch(text); m != nil {
				v, _ := strconv.Atoi(m[1]) // digits
				return v, path.Join(dir, n.file), nil
			}
		}
	}
	return 0, "", nil
}

// Bound notes a reason to take no newer JDK. Of several the oldest holds.
func (a *Asked) Bound(version int, why string) {
	if version > 0 && (a.Most == 0 || version < a.Most) {
		a.Most, a.Why = version, why
	}
}
