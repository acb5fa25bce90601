package node

import (
	"cmp"
	"fmt"
	"path"
	"regexp"
	"strconv"
	"strings"

	"golang.org/x/mod/semver"

	"sluice/replay/tools/project"
)

// manager is a package manager of a certain version.
type manager struct {
	name    string // npm, pnpm, yarn (classic) or berry
	install string // what to install it as from the registry; "" for the npm that comes with node
	frozen  bool   // there is a lock file
	note    string
}

var lockFiles = []string{"pnpm-lock.yaml", "yarn.lock", "package-lock.json", "npm-shrinkwrap.json", "bun.lock", "bun.lockb"}

// The versions that a lock file's format speaks of, where the project names none. They are the last that write that format, so that a
// later release changes nothing.
var (
	pnpmByLock = map[string]string{"5.1": "4", "5.2": "5", "5.3": "6", "5.4": "7", "6.0": "8", "6.1": "8", "7.0": "9", "9.0": "9"}
	yarnByLock = map[string]string{"4": lastOfBerry2, "5": "3.0.2", "6": "3.8.7", "7": "4.0.0", "8": "4.9.4"}
)

const (
	yarnClassic = "1.22.22"
	npmOfOldest = "6.14.18" // of lock files of version 1, which later ones resolve anew
)

var (
	declared    = regexp.MustCompile(`^(npm|pnpm|yarn)@(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)`)
	plainRange  = regexp.MustCompile(`^[\^~>=<]*\s*\d+(?:\.(?:\d+|x))*(?:\.(?:\d+|x))*$`)
	pnpmLock    = regexp.MustCompile(`(?m)^lockfileVersion:\s*'?"?(\d+(?:\.\d+)?)`)
	berryLock   = regexp.MustCompile(`(?m)^__metadata:\s*\n(?:\s+.*\n)*?\s+version:\s*(\d+)`)
	npmLock     = regexp.MustCompile(`"lockfileVersion":\s*(\d+)`)
	yarnRelease = regexp.MustCompile(`yarn-(\d+\.\d+\.\d+)[^/]*\.c?js$`)
)

// findManager tells which package manager a workspace is installed with: the one that its manifest declares, else its lock file's.
func findManager(t *project.Tree, dir string, m *manifest) (manager, error) {
	var got manager
	if d := declared.FindStringSubmatch(m.PackageManager); d != nil {
		got = pinned(d[1], d[2])
	}
	for _, name := range []string{"pnpm", "yarn", "npm"} {
		if v := m.Volta[name]; got.name == "" && plainRange.MatchString(v) {
			got = pinned(name, v)
		}
	}
	return byLock(t, dir, m, got)
}

// pinned is a manager whose version the project names.
func pinned(name, version string) manager {
	switch {
	case name == "yarn" && !strings.HasPrefix(version, "1.") && version != "1":
		return berry(version)
	default:
		return manager{name: name, install: name + "@" + version}
	}
}

// lastOfBerry2 is the last version 2 that the registry has as a package with the whole program; of older ones it has none.
const lastOfBerry2 = "2.4.2"

// unpacked are the versions since then of which the registry has no such package, and the next ones that it has:
// https://www.npmjs.com/package/@yarnpkg/cli-dist
var unpacked = map[string]string{"3.8.4": "3.8.5", "4.10.0": "4.10.1"}

// berry is yarn from version 2 on.
func berry(version string) manager {
	has := cmp.Or(unpacked[version], version)
	if strings.HasPrefix(version, "2.") {
		has = lastOfBerry2
	}
	m := manager{name: "berry", install: "@yarnpkg/cli-dist@" + has}
	if has != version {
		m.note = "yarn " + version + " is no package of the registry: " + has + " is used"
	}
	return m
}

// byLock completes what the project declares with what its lock files tell. A lock file of another manager than the declared one does
// not count.
func byLock(t *project.Tree, dir string, m *manifest, got manager) (manager, error) {
	read := func(name string) (string, error) {
		text, err := t.Read(path.Join(dir, name))
		if err != nil {
			return "", fmt.Errorf("reading a lock file: %w", err)
		}
		return text, nil
	}
	has := func(name string) bool { return t.Has(path.Join(dir, name)) }
	switch {
	case has("pnpm-lock.yaml") && (got.name == "" || got.name == "pnpm"):
		text, err := read("pnpm-lock.yaml")
		return pnpmOf(got, m, text), err
	case has("yarn.lock") && (got.name == "" || got.name == "yarn" || got.name == "berry"):
		text, err := read("yarn.lock")
		return yarnOf(t, dir, got, text), err
	case has("package-lock.json"), has("npm-shrinkwrap.json"):
		if got.name != "" && got.name != "npm" {
			return got, nil
		}
		name := "package-lock.json"
		if has("npm-shrinkwrap.json") {
			name = "npm-shrinkwrap.json"
		}
		text, err := read(name)
		return npmOf(got, m, text), err
	}
	if has("bun.lock") || has("bun.lockb") {
		got.note = "the lock file is bun's, which sluice does not run: versions are not locked"
	}
	if got.name == "" {
		got.name = "npm"
	}
	return got, nil
}

func pnpmOf(got manager, m *manifest, lock string) manager {
	got.name, got.frozen = "pnpm", lock != ""
	if got.install != "" {
		return got
	}
	version := "9"
	if l := pnpmLock.FindStringSubmatch(lock); l != nil && pnpmByLock[l[1]] != "" {
		version = pnpmByLock[l[1]]
	}
	if r := m.Engines["pnpm"]; version == "9" && plainRange.MatchString(r) && strings.HasPrefix(strings.TrimLeft(r, "^~>="), "10") {
		version = "10" // both write the same format
	}
	got.install = "pnpm@" + version
	got.note = "the version of pnpm is told by the lock file only: " + version
	return got
}

func yarnOf(t *project.Tree, dir string, got manager, lock string) manager {
	got.frozen = true
	b := berryLock.FindStringSubmatch(lock)
	if got.install != "" {
		return got
	}
	if b == nil {
		got.name, got.install = "yarn", "yarn@"+yarnClassic
		return got
	}
	version := yarnByLock[b[1]]
	if version == "" {
		version = yarnByLock["8"]
	}
	brought := ""
	for f := range t.Files() {
		r := yarnRelease.FindStringSubmatch(f)
		if r != nil && path.Dir(f) == path.Join(dir, ".yarn/releases") && !strings.HasPrefix(r[1], "1.") && semver.Compare("v"+r[1], "v"+brought) > 0 {
			brought = r[1] // of several the greatest, which is the one in use more often than not
		}
	}
	if brought != "" {
		version, got.note = brought, "yarn is the release that the project brings"
	}
	made := berry(version)
	made.frozen = true
	made.note = cmp.Or(made.note, got.note)
	return made
}

// npmOfImage is the major version of the npm that the base image has.
const npmOfImage = 9

var leadingMajor = regexp.MustCompile(`^[\^~>=]*\s*(\d+)`)

// npmOf is the image's npm, but for lock files that it would resolve anew: those of version 1, and those of projects that want a later npm, which
// leaves out optional peers that the image's says are missing.
func npmOf(got manager, m *manifest, lock string) manager {
	got.name, got.frozen = "npm", true
	if got.install != "" {
		return got
	}
	if l := npmLock.FindStringSubmatch(lock); l != nil && l[1] == "1" {
		got.install = "npm@" + npmOfOldest
	} else if r := m.Engines["npm"]; plainRange.MatchString(r) {
		if v := leadingMajor.FindStringSubmatch(r); v != nil {
			if n, _ := strconv.Atoi(v[1]); n > npmOfImage { // digits
				got.install = fmt.Sprintf("npm@%d", n)
			}
		}
	}
	return got
}
