package ci

import (
	"path"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// place is a job with where it stands.
type place struct {
	found
	where string
	score int
}

// workflows reads GitHub's, in the order of their names. Jobs that run tests count; if there are none, all do whose name speaks of
// nothing else. Packages, variables and versions are those of all these jobs; requirements are only those of the job that speaks most of
// tests: those of several contradict each other.
func (r *reader) workflows() error {
	var names []string
	for f := range r.tree.Files() {
		if path.Dir(f) == ".github/workflows" && (path.Ext(f) == ".yml" || path.Ext(f) == ".yaml") {
			names = append(names, f)
		}
	}
	slices.Sort(names)
	var all []place
	for _, name := range names[:min(len(names), maxFiles)] {
		text, err := r.text(name)
		if err != nil {
			return err
		}
		d := parse(text)
		for _, job := range d.pairs(d.get(d.root, "jobs")) {
			if f, ok := d.job(job); ok && !otherwise.MatchString(path.Base(name)) {
				all = append(all, place{f, name + ": " + job.key, score(path.Base(name), job.key)})
			}
		}
	}
	if slices.ContainsFunc(all, func(p place) bool { return p.tests }) {
		all = slices.DeleteFunc(all, func(p place) bool { return !p.tests })
	}
	best := -1
	for i, p := range all {
		h := p.hint
		if len(h.Requirements)+len(h.Files)+len(h.Extras) > 0 && (best < 0 || p.score > all[best].score) {
			best = i
		}
	}
	for i, p := range all {
		if i != best {
			p.hint.Requirements, p.hint.Files, p.hint.Extras = nil, nil, nil
		}
		r.take(p.found, p.where)
	}
	return nil
}

var (
	ofTests   = regexp.MustCompile(`(?i)tests?(?:$|[^a-z])`)
	ofCI      = regexp.MustCompile(`(?i)^(?:ci|main|build|python|unit)`)
	ofSpecial = regexp.MustCompile(`(?i)min|old|dev|pre|vm|latest|asan|integration|e2e|bench|cron|weekly|canary|wheel|package|s390|arm|big`)
)

// score says how much a job's name speaks of the usual tests.
func score(file, job string) int {
	n := 0
	for _, name := range []string{file, job} {
		if ofTests.MatchString(name) {
			n += 2
		}
		if ofCI.MatchString(name) {
			n++
		}
		if ofSpecial.MatchString(name) {
			n -= 2
		}
	}
	return n
}

// otherwise are names of jobs and files that are for something else than tests.
var otherwise = regexp.MustCompile(`(?i)(?:^|[^a-z])(?:lint|docs?|documentation|release|publish|deploy|pypi|codeql|stale|labell?er|labels|format|style|pages|changelog|mypy|spell|benchmark|fuzz|scorecard|dependabot|nightly|website|update)(?:$|[^a-z])`)

// notLinux are runners that have no Debian packages.
var notLinux = regexp.MustCompile(`(?i)windows|macos|freebsd|self-hosted`)

// job reads one job. ok is false for those that run elsewhere or are for something else.
func (d *doc) job(p pair) (f found, ok bool) {
	if otherwise.MatchString(p.key) {
		return f, false
	}
	on := strings.Join(d.strs(d.get(p.value, "runs-on")), " ")
	if on == "" || notLinux.MatchString(on) {
		return f, false
	}
	matrix := d.get(p.value, "strategy", "matrix")
	d.variables(&f, d.get(d.root, "env"))
	d.variables(&f, d.get(p.value, "env"))
	for _, service := range d.pairs(d.get(p.value, "services")) {
		f.hint.Unused = add(f.hint.Unused, "service "+clip(service.key))
	}
	for _, step := range d.items(d.get(p.value, "steps")) {
		if s := d.str(d.get(step, "shell")); strings.HasPrefix(s, "pwsh") || strings.HasPrefix(s, "powershell") || strings.HasPrefix(s, "cmd") {
			continue
		}
		if only := d.str(d.get(step, "if")); notLinux.MatchString(only) && !strings.Contains(only, "!=") {
			continue
		}
		d.variables(&f, d.get(step, "env"))
		d.script(&f, d.str(d.get(step, "run")))
		d.action(&f, step, matrix)
	}
	return f, true
}

func (d *doc) variables(f *found, n *yaml.Node) {
	for _, p := range d.pairs(n) {
		f.env(p.key, expression.ReplaceAllString(d.str(p.value), marker))
	}
}

// versioned are the inputs of actions that name a language's version.
var versioned = map[string]string{"python-version": "python", "node-version": "node", "go-version": "go", "java-version": "java"}

// packaged are actions that install Debian packages, with the input that names them.
var packaged = map[string]string{
	"awalsh128/cache-apt-pkgs-action": "packages", "daaku/gh-action-apt-install": "packages", "ConorMacBride/install-package": "apt",
	"tecolicom/actions-use-apt-tools": "tools", "gerlero/apt-install": "packages", "eifinger/actions-apt-install": "packages",
}

// action reads what a step asks an action for, of those that are known.
func (d *doc) action(f *found, step, matrix *yaml.Node) {
	uses, _, _ := strings.Cut(d.str(d.get(step, "uses")), "@")
	with := d.get(step, "with")
	if input := packaged[uses]; input != "" {
		f.debian(strings.Fields(d.str(d.get(with, input)))...)
	}
	for _, p := range d.pairs(with) {
		if language := versioned[p.key]; language != "" {
			for _, line := range d.strs(p.value) {
				f.version(language, d.values(matrix, line)...)
			}
		}
	}
}

var matrixKey = regexp.MustCompile(`^\$\{\{\s*matrix\.([A-Za-z0-9_-]+)\s*\}\}$`)

// values are a text's lines, or all that a key of the matrix takes.
func (d *doc) values(matrix *yaml.Node, text string) []string {
	m := matrixKey.FindStringSubmatch(strings.TrimSpace(text))
	if m == nil {
		return strings.Split(text, "\n")
	}
	out := d.strs(d.get(matrix, m[1]))
	for _, more := range d.items(d.get(matrix, "include")) {
		out = append(out, d.strs(d.get(more, m[1]))...)
	}
	return out
}
