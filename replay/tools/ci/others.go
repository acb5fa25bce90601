package ci

import (
	"path"
	"regexp"
	"strings"

	"go.yaml.in/yaml/v3"
)

// travisVersions are Travis' keys for languages.
var travisVersions = map[string]string{"python": "python", "node_js": "node", "go": "go", "jdk": "java"}

// travis reads .travis.yml with the jobs that it includes.
func (r *reader) travis() error {
	const name = ".travis.yml"
	text, err := r.text(name)
	if err != nil || text == "" {
		return err
	}
	d := parse(text)
	var f found
	d.travisJob(&f, d.root)
	for _, key := range []string{"matrix", "jobs"} {
		for _, job := range d.items(d.get(d.root, key, "include")) {
			if on := d.str(d.get(job, "os")); on == "" || on == "linux" {
				d.travisJob(&f, job)
			}
		}
	}
	r.take(f, name)
	return nil
}

func (d *doc) travisJob(f *found, n *yaml.Node) {
	for _, at := range []*yaml.Node{d.get(n, "addons", "apt"), d.get(n, "apt"), d.get(n, "addons", "apt_packages")} {
		f.debian(d.strs(d.get(at, "packages"))...)
		f.debian(d.strs(at)...)
	}
	for key, language := range travisVersions {
		f.version(language, d.strs(d.get(n, key))...)
	}
	for _, service := range d.strs(d.get(n, "services")) {
		f.hint.Unused = add(f.hint.Unused, "service "+clip(service))
	}
	for _, key := range []string{"global", "jobs", "matrix", ""} {
		env := d.get(n, "env")
		if key != "" {
			env = d.get(env, key)
		}
		for _, line := range d.strs(env) {
			d.script(f, line) // "A=b C=d" is a command of assignments only
		}
		d.variables(f, env)
	}
	for _, key := range []string{"before_install", "install", "before_script", "script"} {
		for _, command := range d.strs(d.get(n, key)) {
			d.script(f, command)
		}
	}
}

var (
	toxSection = regexp.MustCompile(`^\[(?:testenv|testenv:(?:py|test|unit|pypy)[^\]]*)\]\s*$`)
	iniSection = regexp.MustCompile(`^\[.*\]\s*$`)
	iniKey     = regexp.MustCompile(`^([A-Za-z_]+)\s*=\s*(.*)$`)
	toxFactor  = regexp.MustCompile(`^[A-Za-z0-9_.!,{}-]+:\s+`)
	toxDir     = regexp.MustCompile(`\{(?:toxinidir|tox_root)\}/?`)
	toxOther   = regexp.MustCompile(`\{[^{}]*\}`)
)

// tox reads the plain environments of tox.ini: their deps, extras, variables and commands.
func (r *reader) tox() error {
	name := path.Join(r.root, "tox.ini")
	text, err := r.text(name)
	if err != nil || text == "" {
		return err
	}
	var f found
	inside, key := false, ""
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n \t")
		switch m := iniKey.FindStringSubmatch(line); {
		case iniSection.MatchString(line):
			inside, key = toxSection.MatchString(line), ""
		case m != nil:
			if key = m[1]; inside {
				f.toxLine(key, m[2])
			}
		case inside && strings.TrimLeft(line, " \t") != line:
			f.toxLine(key, strings.TrimSpace(line))
		}
	}
	r.take(f, name)
	return nil
}

func (f *found) toxLine(key, line string) {
	if line == "" || strings.HasPrefix(line, "#") || len(line) > 1000 {
		return
	}
	line = toxOther.ReplaceAllString(toxDir.ReplaceAllString(line, ""), marker)
	switch key {
	case "deps":
		line = toxFactor.ReplaceAllString(line, "")
		if strings.HasPrefix(line, "-") {
			f.pip(strings.Fields(line))
			return
		}
		text, _, _ := strings.Cut(line, " #")
		f.requirement(strings.TrimSpace(text))
	case "extras":
		f.extras(strings.ReplaceAll(line, marker, ""))
	case "setenv", "set_env":
		k, v, _ := strings.Cut(toxFactor.ReplaceAllString(line, ""), "=")
		f.env(strings.TrimSpace(k), strings.TrimSpace(v))
	case "commands", "commands_pre":
		f.script(strings.TrimPrefix(line, "-"))
	}
}

// goals are the targets of a Makefile that run tests.
var (
	goals    = regexp.MustCompile(`^(?:tests?|check|unittests?|unit-?tests?|test-unit|ci)$`)
	makeRule = regexp.MustCompile(`^([A-Za-z0-9_.-][A-Za-z0-9_. -]*?)\s*::?(?:[^=]|$)`)
	makeVar  = regexp.MustCompile(`\$\([^()]*\)|\$\{[^{}]*\}|\$[A-Za-z@<^]`)
)

// makefile reads the commands of the targets that run tests, and of what these need.
func (r *reader) makefile() error {
	for _, base := range []string{"GNUmakefile", "makefile", "Makefile"} {
		name := path.Join(r.root, base)
		text, err := r.text(name)
		if err != nil {
			return err
		}
		if text != "" {
			r.take(makeGoals(text), name)
			return nil
		}
	}
	return nil
}

// rule is a target's.
type rule struct{ needs, lines []string }

// What is kept of a Makefile: targets, and words and lines of all of them. A line may name thousands of targets, each of which has the lines below.
const (
	maxRules = 2000
	maxKept  = 20000
)

func makeGoals(text string) found {
	rules := map[string]*rule{}
	var order []string
	var now []*rule
	kept := 0
	for line := range strings.Lines(strings.ReplaceAll(text, "\\\n", " ")) {
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "\t") {
			if kept += len(now); kept > maxKept {
				break
			}
			for _, r := range now {
				r.lines = append(r.lines, strings.TrimLeft(line, "\t @+-"))
			}
			continue
		}
		m := makeRule.FindStringSubmatch(line)
		if m == nil || len(rules) > maxRules {
			continue
		}
		_, rest, _ := strings.Cut(line, ":")
		targets, needs := strings.Fields(m[1]), strings.Fields(strings.Trim(rest, ":"))
		if kept += len(targets) * (1 + len(needs)); kept > maxKept {
			break
		}
		now = nil
		for _, target := range targets {
			if rules[target] == nil {
				rules[target] = &rule{}
				order = append(order, target)
			}
			now = append(now, rules[target])
			rules[target].needs = append(rules[target].needs, needs...)
		}
	}
	var f found
	seen := map[string]bool{}
	for _, target := range order {
		if goals.MatchString(target) {
			f.goal(rules, target, seen, 5)
		}
	}
	return f
}

func (f *found) goal(rules map[string]*rule, target string, seen map[string]bool, depth int) {
	r := rules[target]
	if r == nil || seen[target] || depth == 0 || len(seen) > 50 {
		return
	}
	seen[target] = true
	for _, need := range r.needs {
		f.goal(rules, need, seen, depth-1)
	}
	text := makeVar.ReplaceAllString(strings.Join(r.lines, "\n"), marker)
	f.script(strings.ReplaceAll(text, "$$", "$"))
}
