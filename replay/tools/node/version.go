package node

import (
	_ "embed"
	"fmt"
	"iter"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// choice is the version of node for a package, and why it is not another one. No version: the usual one will do.
type choice struct {
	version release
	note    string
}

// old reports whether the version is older than the usual one. Then the usual one starts the package manager and our programs, of
// which an old one could run none.
func (c choice) old() bool { return c.version != release{} && c.version.compare(usual) < 0 }

func alternatives(text string) iter.Seq[string] { return strings.SplitSeq(text, "||") }

var plainVersion = regexp.MustCompile(`^v?(\d+)(?:\.[\dxX*]+)*\s*$`)

// findNode tells which version of node a package is for: what the project pins for its own development; else one that its manifest
// allows; the newest one that its continuous integration names, if that is older than the usual one; one that still runs what it needs.
func findNode(t *project.Tree, dirs []string, manifests ...*manifest) (choice, error) {
	for _, dir := range dirs {
		for _, name := range []string{".nvmrc", ".node-version"} {
			text, err := t.Read(path.Join(dir, name))
			if err != nil {
				return choice{}, err
			}
			if major := pinnedMajor(text); major > 0 {
				return ofMajor(major, path.Join(dir, name)), nil
			}
		}
	}
	for _, m := range manifests {
		if major := pinnedMajor(m.Volta["node"]); major > 0 {
			return ofMajor(major, "the manifest"), nil
		}
	}
	tested, err := testedOn(t, dirs)
	if err != nil {
		return choice{}, err
	}
	var allows []span
	text := ""
	for _, m := range slices.Backward(manifests) {
		if s := spans(m.Engines["node"]); len(s) > 0 {
			allows, text = s, m.Engines["node"]
		}
	}
	limit := 0
	for _, m := range manifests {
		limit = least(limit, m.outgrown())
	}
	return chooseRelease(allows, text, tested, limit), nil
}

// pinnedMajor reads what a file pins; 0 if that is no version.
func pinnedMajor(text string) int {
	text = strings.ToLower(strings.TrimSpace(project.FirstLine(text)))
	if m := plainVersion.FindStringSubmatch(text); m != nil {
		n, err := strconv.Atoi(m[1])
		if err != nil {
			return 0
		}
		return max(n, 1) // 0.10 and the like
	}
	return names[strings.TrimPrefix(text, "lts/")]
}

// ofMajor is the last release of a major version, or the nearest above it that there is.
func ofMajor(major int, who string) choice {
	if major == usual[0] {
		return choice{}
	}
	sorted := slices.SortedFunc(slices.Values(releases), release.compare)
	i := slices.IndexFunc(sorted, func(r release) bool { return r[0] >= major })
	if i < 0 {
		return choice{note: fmt.Sprintf("%s wants node %d, which no package is known to hold: it is run with the usual one", who, major)}
	}
	c := choice{version: sorted[i]}
	if sorted[i][0] != major {
		c.note = fmt.Sprintf("%s wants an older node: it is run with %s, the oldest one that can be", who, sorted[i])
	}
	return c
}

// chooseRelease finds a release that the manifest allows. tested are major versions that continuous integration names, limit is the greatest
// one that runs what the package needs; 0 is none. Neither counts against the manifest.
func chooseRelease(allows []span, text string, tested []int, limit int) choice {
	top := limit
	if len(tested) > 0 {
		top = least(top, slices.Max(tested))
	}
	if top > 0 && top < usual[0] {
		best := ofMajor(top, "continuous integration")
		if allowed(allows, best.version) {
			return best
		}
	}
	if len(tested) > 0 && slices.Min(tested) > usual[0] && len(allows) == 0 {
		return ofMajor(slices.Min(tested), "continuous integration")
	}
	if allowed(allows, usual) {
		return choice{}
	}
	for _, r := range inOrder() {
		if allowed(allows, r) {
			return choice{version: r}
		}
	}
	first := releases[0]
	if slices.ContainsFunc(allows, func(s span) bool { return s.low.compare(first) > 0 }) {
		return choice{note: fmt.Sprintf("the manifest wants node %q, which no package is known to hold: it is run with the usual one", clip(text))}
	}
	return choice{first, fmt.Sprintf("the manifest wants node %q, whose versions are too old: it is run with %s", clip(text), first)}
}

func least(a, b int) int {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

func clip(s string) string { return project.FirstLine(strings.ToValidUTF8(s[:min(len(s), 80)], "")) }

// outgrew are packages whose versions up to a major one no node runs that is newer than the one named here. gulp 3 and graceful-fs 3 use
// what node 12 no longer has (https://github.com/gulpjs/gulp/issues/2324); webpack 4 wants a digest that OpenSSL 3
// does not make (https://github.com/webpack/webpack/issues/14532).
var outgrew = map[string][2]int{"gulp": {3, 10}, "graceful-fs": {3, 10}, "webpack": {4, 16}}

var rangeStart = regexp.MustCompile(`^[\^~=v]*\s*(\d{1,4})(?:\.|$)`)

// outgrown is the greatest major version of node that runs what a package depends on; 0 if nothing is known.
func (m *manifest) outgrown() int {
	limit := 0
	for name, o := range outgrew {
		if v := rangeStart.FindStringSubmatch(m.Deps[name]); v != nil {
			if n, err := strconv.Atoi(v[1]); err == nil && n <= o[0] {
				limit = least(limit, o[1])
			}
		}
	}
	return limit
}

const (
	nodeHome   = "{env}/node"
	nodeScript = `PATH="$1/bin:$2:$PATH"; export PATH; shift 2; exec "$@"`
	homeVar    = "SLUICE_NODE_HOME" // the folder of node, unless it is the usual one
	oldVar     = "SLUICE_NODE_OLD"  // the same, if it is an older one
)

//go:embed fetch.js
var fetchProgram string

// nodeGyp is a version that runs on the usual node and with Python 3.13.
const nodeGyp = "11.5.0"

// base is the environment with a version of node alone, which all states share that want the same one; nil for the usual one.
func (c choice) base(runner string) *replay.Recipe {
	if c.version == (release{}) {
		return nil
	}
	step := replay.Step{Name: "node " + c.version.String(), MustPass: true, Env: quiet}
	step.Args = []string{"node", "-e", fetchProgram, "--", nodeHome, c.version.String(), nodeGyp}
	if c.old() {
		step.Args = append(step.Args, "npm", "npx", "pnpm", "pnpx")
	}
	if c.old() && c.version[0] < firstOfYarn {
		step.Args = append(step.Args, "yarn")
	}
	return &replay.Recipe{Runner: runner, Install: []replay.Step{step}}
}

// firstOfYarn is the first major version of node that runs yarn, which gives what it starts no other node than its own. The other managers
// leave it to PATH which one the programs below them find.
const firstOfYarn = 8

// use gives a recipe the version.
func (c choice) use(r *replay.Recipe) {
	r.Base = c.base(r.Runner)
	if r.Base != nil {
		r.Env[homeVar] = nodeHome
	}
	if c.old() {
		r.Env[oldVar] = nodeHome
	}
	if c.note != "" {
		r.Notes = append(r.Notes, c.note)
	}
}

// with gives a command the recipe's node and package manager.
func with(env map[string]string, args ...string) []string {
	home := env[homeVar]
	if home == "" {
		home = tools
	}
	return append([]string{"sh", "-c", nodeScript, "sh", home, tools + "/node_modules/.bin"}, args...)
}

// ours is a command of one of our programs, which an old node could not run.
func ours(env map[string]string, args ...string) []string {
	if env[oldVar] != "" {
		env = nil
	}
	return with(env, args...)
}

// Clock is a command that prints the time in seconds, as the recipe's Node has it.
func (Package) Clock(r replay.Recipe) []string {
	return with(r.Env, "node", "-e", "console.log(Math.floor(Date.now() / 1000))")
}
