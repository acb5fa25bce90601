package python

import (
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay/tools/project"
)

// reqList gathers requirements: what the installer is told, in order, without doubles; and why others were dropped.
type reqList struct {
	items  []string
	seen   map[string]bool
	selves []string // extras of the project itself that were asked for
	notes  []string
	// constraints are versions that the files name for what others may ask for.
	constraints []string
	constrained map[string]bool // the files that name them
	locked      []string        // constraints with those of a lock file
	inner       bool            // this is a file of constraints, which names no other
	over        int             // requirements that were too many
}

// maxRequirements bounds what one project can ask for, maxFiles the files that one file includes.
const (
	maxRequirements = 500
	maxFiles        = 20
)

var (
	reqForm = regexp.MustCompile(
		`^([A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)\s*(?:\[([A-Za-z0-9._,\s-]*)\])?\s*` +
			`(\(?\s*(?:(?:===|~=|==|!=|<=|>=|<|>)\s*[A-Za-z0-9.*+!_-]+\s*,?\s*)*\)?)\s*(;.*)?$`)
	reqHash     = regexp.MustCompile(`\s--hash[= ]\S+`)
	reqSelf     = regexp.MustCompile(`^\.(?:\[([A-Za-z0-9._,\s-]*)\])?$`)
	reqMarker   = regexp.MustCompile(`^;[\sA-Za-z0-9_.,'"<>=!~()*+-]*$`)
	reqComment  = regexp.MustCompile(`(^|\s)#.*$`)
	reqContinue = regexp.MustCompile(`\\\r?\n\s*`)
)

// add takes one requirement as PEP 508 has it. Everything that is not a plain name with versions and a marker is
// dropped: addresses, paths, options.
func (l *reqList) add(text, from string) {
	text = strings.TrimSpace(reqHash.ReplaceAllString(text, ""))
	if m := reqSelf.FindStringSubmatch(text); m != nil {
		l.selves = append(l.selves, splitNames(m[1])...)
		return
	}
	m := reqForm.FindStringSubmatch(text)
	if m == nil || m[4] != "" && !reqMarker.MatchString(m[4]) || len(text) > 300 {
		l.note("dropped %q of %s: only names and versions are installed", text, from)
		return
	}
	if len(l.items) >= maxRequirements {
		l.over++
		l.note("dropped %q of %s: too many requirements", text, from)
		return
	}
	if l.seen == nil {
		l.seen = map[string]bool{}
	}
	if text = strings.Join(strings.Fields(text), " "); !l.seen[text] {
		l.seen[text] = true
		l.items = append(l.items, text)
	}
}

func (l *reqList) addAll(list []string, from string) {
	for _, r := range list {
		l.add(r, from)
	}
}

func (l *reqList) note(format string, text, from string) {
	if len(l.notes) < 50 {
		l.notes = append(l.notes, strings.ToValidUTF8(sprintf(format, clip(text), from), "\uFFFD"))
	}
}

// names tells whether a distribution is asked for, whatever its version.
func (l *reqList) names(dist string) bool {
	return slices.ContainsFunc(l.items, func(r string) bool { return reqName(r) == normal(dist) })
}

// reqName is the normalised name of a requirement that add took.
func reqName(r string) string {
	if m := reqForm.FindStringSubmatch(r); m != nil {
		return normal(m[1])
	}
	return ""
}

// reqExtras are the extras that a requirement names.
func reqExtras(r string) []string {
	if m := reqForm.FindStringSubmatch(r); m != nil {
		return splitNames(m[2])
	}
	return nil
}

var nameRuns = regexp.MustCompile(`[-_.]+`)

// normal is the form of a distribution's, extra's or group's name in which two spellings are equal (PEP 503).
func normal(name string) string {
	return nameRuns.ReplaceAllString(strings.ToLower(strings.TrimSpace(name)), "-")
}

func splitNames(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == ',' || r == ' ' || r == '\t' })
}

// requirementsFile reads a requirements file with those that it includes.
func requirementsFile(t *project.Tree, name string, l *reqList) error {
	return includeFile(t, name, l, map[string]bool{})
}

func includeFile(t *project.Tree, name string, l *reqList, seen map[string]bool) error {
	if seen[name] || len(seen) > maxFiles {
		return nil
	}
	seen[name] = true
	text, err := t.Read(name)
	if err != nil {
		return err
	}
	for line := range strings.Lines(reqContinue.ReplaceAllString(text, " ")) {
		line = strings.TrimSpace(reqComment.ReplaceAllString(strings.TrimRight(line, "\r\n"), ""))
		if line == "" || len(seen) > maxFiles {
			continue
		}
		if err := requirementLine(t, name, line, l, seen); err != nil {
			return err
		}
	}
	return nil
}

var reqOption = regexp.MustCompile(`^(--?[A-Za-z][A-Za-z-]*)[\s=]*(.*)$`)

func requirementLine(t *project.Tree, file, line string, l *reqList, seen map[string]bool) error {
	m := reqOption.FindStringSubmatch(line)
	if m == nil {
		l.add(line, file)
		return nil
	}
	option, value := m[1], m[2]
	if strings.HasPrefix(option, "-r") && !strings.HasPrefix(option, "--") { // also "-rfile"
		option, value = "-r", strings.TrimSpace(strings.TrimPrefix(line, "-r"))
	}
	switch option {
	case "-r", "--requirement":
		included, ok := project.Inside(path.Dir(file), value)
		if !ok || !t.Has(included) {
			l.note("dropped %q of %s: no such file in the repository", line, file)
			return nil
		}
		return includeFile(t, included, l, seen)
	case "-c", "--constraint":
		return constraintFile(t, path.Dir(file), value, l)
	case "-e", "--editable":
		if reqSelf.MatchString(value) {
			l.add(value, file)
			return nil
		}
	}
	l.note("dropped %q of %s: options of the installer are not taken over", line, file)
	return nil
}

// constraintFile takes the plain versions of a file of constraints.
func constraintFile(t *project.Tree, dir, name string, l *reqList) error {
	file, ok := project.Inside(dir, name)
	if l.constrained[file] {
		return nil
	}
	if !ok || !t.Has(file) || l.inner || len(l.constrained) >= maxFiles {
		l.note("dropped the constraints %q of %s: no such file in the repository", name, path.Join(dir, "."))
		return nil
	}
	if l.constrained == nil {
		l.constrained = map[string]bool{}
	}
	l.constrained[file] = true
	c := reqList{inner: true}
	if err := requirementsFile(t, file, &c); err != nil {
		return err
	}
	c.items = slices.DeleteFunc(c.items, func(r string) bool { return len(reqExtras(r)) > 0 })
	kept := min(len(c.items), maxConstraints-len(l.constraints))
	l.constraints = append(l.constraints, c.items[:kept]...)
	if over := c.over + len(c.items) - kept; over > 0 {
		l.note("dropped the last %s constraints of %s: too many", strconv.Itoa(over), file)
	}
	return nil
}
