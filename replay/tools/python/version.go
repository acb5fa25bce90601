package python

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"sluice/replay/tools/project"
)

// version is a version of Python: 313 is 3.13.
type version int

func (v version) String() string { return fmt.Sprintf("%d.%d", v/100, v%100) }

// interpreter is a version of Python that an image has.
type interpreter struct {
	version version
	image   string
	// since is when packages came to be built for it: an index of an earlier day has none.
	since time.Time
}

func day(year int, month time.Month) time.Time {
	return time.Date(year, month, 1, 0, 0, 0, 0, time.UTC)
}

// interpreters are those of Debian's releases, the newest first.
var interpreters = []interpreter{
	{313, "sluice/base:trixie", day(2025, time.January)},
	{311, "sluice/python3.11:bookworm", day(2023, time.January)},
	{309, "sluice/python3.9:bullseye", day(2021, time.April)},
	{python2, "sluice/python3.9:bullseye", day(2016, time.July)}, // before it, Linux had no wheels in the index: PEP 513
}

const python2 version = 207

// Images are the images that recipes name.
func (Project) Images() []string {
	var list []string
	for _, i := range interpreters {
		list = append(list, i.image)
	}
	return list
}

// choice is the interpreter for a project, and why not another one.
type choice struct {
	interpreter
	ignore bool // the project's own metadata forbid it
	note   string
}

// maxSpecifier bounds a specifier in bytes. It is read for each version that there may be, and nobody writes one of megabytes.
const maxSpecifier = 4 << 10

// choose takes the newest interpreter that the project allows and is not newer than what it names as tested. If there is none it
// takes the nearest one above, which runs what is older more often than not. Where a project allows none it is the nearest too.
func choose(require string, named []version) choice {
	if len(require) > maxSpecifier {
		require = "" // what cannot be read allows all
	}
	top := version(0)
	if len(named) > 0 {
		top = slices.Max(named)
	}
	three := slices.DeleteFunc(slices.Clone(interpreters), func(i interpreter) bool { return i.version == python2 })
	if highest(require) == 0 && allows(require, python2) {
		top = python2 // "<3" and the like
	}
	if top == python2 && allows(require, python2) {
		return choice{interpreter: interpreters[len(interpreters)-1]}
	}
	allowed := slices.DeleteFunc(slices.Clone(three), func(i interpreter) bool { return !allows(require, i.version) })
	if len(allowed) == 0 {
		c := choice{interpreter: nearest(three, highest(require)), ignore: true}
		c.note = fmt.Sprintf("the project wants Python %q: it is run with %s, the nearest that an image has", clip(require), c.version)
		return c
	}
	c := choice{interpreter: nearest(allowed, top)}
	if top > 0 && c.version > top {
		c.note = fmt.Sprintf("the project names no Python above %s: it is run with %s", top, c.version)
	}
	return c
}

// nearest is the newest of the list that is not above a version, or else the oldest; 0 is no bound.
func nearest(list []interpreter, top version) interpreter {
	for _, i := range list {
		if top == 0 || i.version <= top {
			return i
		}
	}
	return list[len(list)-1]
}

var clause = regexp.MustCompile(`^(===|==|~=|!=|<=|>=|<|>|\^|~)?\s*(\d+)(?:\.(\d+))?((?:\.[\d*]+)*)(?:\.\*)?$`)

// latest is above all versions that there are for some time.
const latest version = 330

// highest is the greatest version 3 that a specifier allows: latest if it has no upper bound, 0 if it allows none.
func highest(require string) version {
	for v := latest; v >= 300; v-- {
		if allows(require, v) {
			return v
		}
	}
	return 0
}

// allows reports whether a specifier (PEP 440's, or Poetry's) admits a minor version, in some patch release of it. What cannot be read
// allows all.
func allows(require string, v version) bool {
	for _, alternative := range strings.Split(require, "||") {
		if allowsAll(alternative, v) {
			return true
		}
	}
	return false
}

func allowsAll(list string, v version) bool {
	for _, c := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		m := clause.FindStringSubmatch(strings.TrimSpace(c))
		if m != nil && !meets(m, v) {
			return false
		}
	}
	return true
}

func meets(m []string, v version) bool {
	major, _ := strconv.Atoi(m[2])
	minor, err := strconv.Atoi(m[3])
	if major > 9 || minor > 99 {
		return true // not a version of Python
	}
	want := version(major*100 + minor)
	whole := err != nil // only a major version
	patch := strings.Trim(m[4], ".*") != ""
	switch m[1] {
	case ">=":
		return v >= want
	case ">":
		return v > want || v == want && patch
	case "<":
		return v < want || v == want && strings.Trim(m[4], ".0*") != ""
	case "<=":
		return v <= want
	case "!=":
		return v != want || patch
	case "~=", "^":
		if m[1] == "~=" && patch {
			return v == want
		}
		return v >= want && int(v)/100 == major
	case "===", "==", "~":
	case "":
		if strings.TrimSpace(m[4]) == "" && whole {
			return int(v)/100 == major
		}
	}
	if whole {
		return int(v)/100 == major
	}
	return v == want
}

// findVersion tells which interpreter a project is for.
func findVersion(t *project.Tree, root string, p *info) (choice, error) {
	named := slices.Clone(p.versions)
	for _, source := range versionFiles(t, root) {
		text, err := t.Read(source.file)
		if err != nil {
			return choice{}, err
		}
		named = append(named, source.find(text)...)
	}
	least, err := refuses(t, root, named)
	if err != nil {
		return choice{}, err
	}
	if least > 0 {
		named = []version{least}
	}
	if len(named) == 0 {
		limit, err := era(t, root)
		if err != nil {
			return choice{}, err
		}
		if limit > 0 {
			named = append(named, limit)
		}
	}
	named, err = lost(t, root, named)
	return choose(p.python, named), err
}

type versionSource struct {
	file string
	find func(text string) []version
}

// versionFiles are the files that name versions besides the metadata.
func versionFiles(t *project.Tree, root string) []versionSource {
	list := []versionSource{
		{path.Join(root, ".python-version"), firstVersions}, {path.Join(root, "runtime.txt"), firstVersions},
		{path.Join(root, "tox.ini"), toxVersions}, {path.Join(root, "setup.cfg"), toxVersions},
		{path.Join(root, "pyproject.toml"), classified}, {path.Join(root, "setup.py"), classified}, {path.Join(root, "setup.cfg"), classified},
		{path.Join(root, "noxfile.py"), pythonKey}, {path.Join(root, ".travis.yml"), pythonKey}, {path.Join(root, "Pipfile"), pythonKey},
		{".travis.yml", pythonKey}, {".python-version", firstVersions},
	}
	var workflows []string
	for f := range t.Files() {
		if ext := path.Ext(f); path.Dir(f) == ".github/workflows" && (ext == ".yml" || ext == ".yaml") {
			workflows = append(workflows, f)
		}
	}
	slices.Sort(workflows)
	for _, f := range workflows {
		list = append(list, versionSource{f, pythonKey})
	}
	return list
}

var (
	someVersion = regexp.MustCompile(`(?:^|[^0-9.])(2\.7|3\.\d{1,2})(?:[^0-9]|$)`)
	classifier  = regexp.MustCompile(`Programming Language :: Python :: (2\.7|3\.\d{1,2})\b`)
	toxFactors  = regexp.MustCompile(`\bpy(27|3\d{1,2})\b`)
	toxGroups   = regexp.MustCompile(`\bpy(3?)\{([^}]*)\}`)
	toxShort    = regexp.MustCompile(`^(?:27|3\d{1,2})$`)
	keyLine     = regexp.MustCompile(`(?i)^[\s-]*["']?(?:python|python[-_]version[s]?|py|pythons|python_full_version)["']?\s*[:=](.*)$|python\s*=\s*[\["'](.*)$`)
)

// firstVersions is the version on the first line: what developers use.
func firstVersions(text string) []version { return versionsIn(project.FirstLine(text)) }

func versionsIn(text string) []version {
	var list []version
	for _, m := range someVersion.FindAllStringSubmatch(strings.ReplaceAll(text, ",", " , "), -1) {
		list = append(list, parseVersion(m[1]))
	}
	return list
}

// parseVersion reads "3.10" or tox's "310".
func parseVersion(s string) version {
	s = strings.ReplaceAll(s, ".", "")
	major, _ := strconv.Atoi(s[:1])
	minor, _ := strconv.Atoi(s[1:])
	return version(major*100 + minor)
}

func classified(text string) []version {
	var list []version
	for _, m := range classifier.FindAllStringSubmatch(text, -1) {
		list = append(list, parseVersion(m[1]))
	}
	return list
}

// toxVersions are those of tox's environments.
func toxVersions(text string) []version {
	var list []version
	envs := parseINI(text)["tox"]["envlist"]
	if envs == "" {
		envs = parseINI(text)["tox"]["env_list"]
	}
	for _, m := range toxFactors.FindAllStringSubmatch(envs, -1) {
		list = append(list, parseVersion(m[1]))
	}
	for _, g := range toxGroups.FindAllStringSubmatch(envs, -1) {
		for _, short := range strings.Split(g[2], ",") {
			if short = g[1] + strings.TrimSpace(short); toxShort.MatchString(short) {
				list = append(list, parseVersion(short))
			}
		}
	}
	return list
}

// pythonKey finds versions in the values of keys that are named for Python, in YAML or the like, with the list's lines that follow.
func pythonKey(text string) []version {
	var list []version
	open := false
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n\t ")
		if m := keyLine.FindStringSubmatch(line); m != nil {
			value := m[1] + m[2]
			list = append(list, versionsIn(value)...)
			open = strings.TrimSpace(value) == "" || strings.Contains(value, "[") && !strings.Contains(value, "]")
			continue
		}
		trimmed := strings.TrimSpace(line)
		isItem := strings.HasPrefix(trimmed, "-") || strings.HasPrefix(trimmed, `"`) || strings.HasPrefix(trimmed, "'") || trimmed == "["
		if open = open && (isItem || trimmed == ""); open {
			list = append(list, versionsIn(strings.TrimPrefix(trimmed, "-"))...)
		}
	}
	return list
}

// wantsPython reads the versions that metadata require.
func wantsPython(doc table) string {
	if s := doc.table("project").str("requires-python"); s != "" {
		return s
	}
	if s := doc.table("tool").table("flit").table("metadata").str("requires-python"); s != "" {
		return s
	}
	return doc.table("tool").table("poetry").table("dependencies").str("python")
}

// decode reads TOML that nobody has checked; what cannot be read is empty.
func decode(text string) table {
	var doc table
	if err := project.DecodeTOML(text, &doc); err != nil {
		return nil
	}
	return doc
}
