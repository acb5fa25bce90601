package maven

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// snapshotsVar is the variable of Install that names versions in the making of other projects', one a line.
const snapshotsVar = "SLUICE_SNAPSHOTS"

// maxSnapshots bounds how many such are looked after: a project that works on with others has a few.
const maxSnapshots = 50

// What a pom may name the kinds of: a pom of which others inherit, or a dependency that has a file.
const (
	inherited = "parent"
	used      = "dependency"
)

// coordinate is a group, an artifact or a version that can be a folder's name, and no other folder's.
var coordinate = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9_.-]*$`)

// snapshots are the versions in the making (SNAPSHOT) that modules want of other projects, as "kind group:artifact:version". Repositories
// remove such some time after they are released, so that old states cannot be resolved.
func snapshots(list []module) []string {
	own := map[[2]string]bool{}
	all := merged(list)
	for _, m := range list {
		own[[2]string{m.pom.group(), m.pom.Artifact}] = true
	}
	found := map[string]bool{}
	add := func(m module, kind, group, artifact, version string) {
		group, artifact, version = m.expand(all, group), m.expand(all, artifact), m.expand(all, version)
		release, ok := strings.CutSuffix(version, "-SNAPSHOT")
		if ok && !own[[2]string{group, artifact}] && coordinate.MatchString(group) && coordinate.MatchString(artifact) && coordinate.MatchString(release) {
			found[fmt.Sprintf("%s %s:%s:%s", kind, group, artifact, version)] = true
		}
	}
	for _, m := range list {
		add(m, inherited, m.pom.Parent.Group, m.pom.Parent.Artifact, m.pom.Parent.Version)
		for _, d := range slices.Concat(m.pom.Dependencies, m.pom.ManagedDependencies) {
			kind := used
			if d.Scope == "import" {
				kind = inherited
			}
			add(m, kind, d.Group, d.Artifact, d.Version)
		}
	}
	var lines []string
	for line := range found {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	return lines[:min(len(lines), maxSnapshots)]
}

// merged are the properties of all modules; those of the outer ones hold.
func merged(list []module) properties {
	all := properties{}
	for _, m := range slices.Backward(list) {
		for k, v := range m.pom.Properties {
			all[k] = v
		}
	}
	return all
}

var reference = regexp.MustCompile(`\$\{([^${}]+)\}`)

// expand replaces a pom's properties in a text, as far as the tree says what they are.
func (m module) expand(all properties, s string) string {
	for range 5 {
		s = reference.ReplaceAllStringFunc(strings.TrimSpace(s), func(ref string) string {
			switch name := reference.FindStringSubmatch(ref)[1]; name {
			case "project.version", "pom.version", "version":
				return m.pom.version()
			case "project.groupId", "pom.groupId":
				return m.pom.group()
			case "project.parent.version":
				return m.pom.Parent.Version
			default:
				return all[name]
			}
		})
	}
	return s
}
