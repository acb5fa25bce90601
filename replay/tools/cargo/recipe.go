package cargo

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// maxStubs bounds the bytes of the manifests that a step carries, maxArg those of one of its arguments: Linux takes 128 KiB.
const (
	maxStubs = 1 << 20
	maxArg   = 100 << 10
)

// Recipe makes the recipe of a workspace.
//
// Install sees the lock file alone. What manifests say about dependencies is part of its steps, as the manifests of a workspace without code:
// there the dependencies are brought and compiled, and what was made of the stubs is removed, so that a state compiles its own
// packages and nothing else. So states share an environment that have one lock file and ask for the same dependencies, whatever else
// their manifests say. Where there is no lock file, that of the installation counts for all states that share it.
//
// States are compiled with --offline and without --locked: a lock file that lags behind its manifests is completed from what there is.
func (Tool) Recipe(t *project.Tree, root string) (replay.Recipe, error) {
	w, err := readWorkspace(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	tc, err := toolchain(t, w)
	if err != nil {
		return replay.Recipe{}, err
	}
	conf, err := readConfig(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	r := replay.Recipe{Runner: Name, Root: root, Module: strings.Join(w.names(), " "), Env: environment(conf.flags(tc))}
	if conf.linker {
		for _, triple := range []string{"X86_64", "AARCH64"} {
			r.Env["CARGO_TARGET_"+triple+"_UNKNOWN_LINUX_GNU_LINKER"] = "cc"
		}
	}
	r.Base = tc.base()
	r.Notes = w.notes(tc, conf)
	if t.Has(path.Join(root, nextestFile)) {
		maps.Copy(r.Env, nextest)
		r.Notes = append(r.Notes, "the project has settings for nextest: each test runs in a process of its own; its retries, groups and set-up scripts are not taken over")
	}
	if conf.vendored {
		return r, nil
	}
	files, err := w.stubs(t)
	if err != nil {
		return replay.Recipe{}, err
	}
	r.Inputs = []string{path.Join(root, lockFile)}
	r.Install, err = installSteps(w, files)
	r.Build = []replay.Step{{
		Name: "lock file", MustPass: true,
		Args: []string{"sh", "-c", `[ ! -e "$1" ] || cp "$1" "$2"`, "sh", "{env}/lock/" + lockFile, path.Join("{tree}", root, lockFile)},
	}}
	return r, err
}

// stubbed is what the program that makes environments is told of a workspace.
type stubbed struct {
	Root   string            `json:"root"`
	Locked bool              `json:"locked"` // the tree has a lock file
	Files  map[string]string `json:"files"`
}

// Steps of Install.
const (
	stepDependencies = "dependencies"
	stepCompile      = "compile dependencies"
)

func installSteps(w *workspace, files map[string]string) ([]replay.Step, error) {
	size := 0
	for name, text := range files {
		size += len(name) + len(text)
	}
	if size > maxStubs {
		return nil, project.ErrNoRecipe{Reason: fmt.Sprintf("the manifests of the workspace have %d bytes, more than %d", size, maxStubs)}
	}
	return []replay.Step{
		{Name: stepDependencies, MustPass: true, Args: install("fetch", stubbed{w.root, w.locked, files})},
		{Name: stepCompile, Warm: true, Args: install("compile", stubbed{w.root, w.locked, nil})},
	}, nil
}

// installArgs is how many arguments come before what is told.
const installArgs = 6

// install is the command of one way to make an environment.
func install(way string, what any) []string {
	text, _ := json.Marshal(what) // texts: it cannot fail
	return append([]string{"python3", "-c", installProgram, way, "{env}", "{tree}"}, pieces(string(text))...)
}

// pieces cuts a text into arguments that are not too long. No letter is cut.
func pieces(s string) []string {
	var out []string
	for len(s) > maxArg {
		n := maxArg
		for !utf8.RuneStart(s[n]) {
			n--
		}
		out, s = append(out, s[:n]), s[n:]
	}
	return append(out, s)
}

// environment is for every step. A linter's "deny" of an older day must not stop a newer compiler; wrappers and colours are the
// author's own; debug information is what backtraces need.
func environment(flags string) map[string]string {
	return map[string]string{
		"CARGO_HOME": "{env}/cargo", "CARGO_TARGET_DIR": "{env}/target", "CARGO_TERM_COLOR": "never", "CARGO_INCREMENTAL": "0",
		"CARGO_NET_RETRY": "3", "CARGO_PROFILE_DEV_DEBUG": "1", "CARGO_PROFILE_TEST_DEBUG": "1", "RUSTC_WRAPPER": "",
		"RUSTC_WORKSPACE_WRAPPER": "", "CARGO_RESOLVER_INCOMPATIBLE_RUST_VERSIONS": "fallback",
		"RUSTFLAGS": strings.TrimSpace("--cap-lints=warn " + flags),
	}
}

// nextestFile holds the settings of nextest (https://nexte.st/docs/configuration/): a project that has it has tests that may need a
// process each.
const nextestFile = ".config/nextest.toml"

// nextest is what nextest tells the tests that it runs (https://nexte.st/docs/configuration/env-vars/). The program that runs them goes by it too.
var nextest = map[string]string{"NEXTEST": "1", "NEXTEST_EXECUTION_MODE": "process-per-test"}

func (w *workspace) notes(tc chosen, conf config) []string {
	var list []string
	if tc.note != "" {
		list = append(list, tc.note)
	}
	if conf.vendored {
		list = append(list, "dependencies come from the tree, and are compiled in each state")
	} else if !w.locked {
		list = append(list, "no lock file is in the tree: versions are those of the day of the installation")
	}
	var fromGit []string
	for _, m := range w.members {
		for _, d := range w.dependencies(m) {
			if d.spec["git"] != nil && !slices.Contains(fromGit, d.name) {
				fromGit = append(fromGit, d.name)
			}
		}
	}
	slices.Sort(fromGit)
	for _, name := range fromGit {
		list = append(list, fmt.Sprintf("%s comes from no registry", report80(name)))
	}
	return list
}

// config is what .cargo/config.toml says that bears on compiling.
type config struct {
	rustflags []string
	linker    bool // another linker than the system's is asked for
	vendored  bool // sources lie in the tree
}

// readConfig reads the files of the folder and those above it, the nearest first. Of two in one folder cargo takes the one without an
// ending: https://doc.rust-lang.org/cargo/reference/config.html
func readConfig(t *project.Tree, root string) (config, error) {
	var c config
	for dir := root; ; dir = parent(dir) {
		for _, name := range []string{".cargo/config", ".cargo/config.toml"} {
			text, err := t.Read(path.Join(dir, name))
			if err != nil {
				return c, err
			}
			var m table
			if err := project.DecodeTOML(text, &m); text == "" || err != nil {
				continue // cargo will say what is wrong with it
			}
			c.add(m)
			break
		}
		if dir == "" {
			return c, nil
		}
	}
}

func (c *config) add(m table) {
	flags := words(sub(m, "build")["rustflags"])
	for _, key := range sortedKeys(sub(m, "target")) {
		one := sub(m, "target", key)
		if !ours(key) {
			continue
		}
		flags = append(flags, words(one["rustflags"])...)
		c.linker = c.linker || one["linker"] != nil
	}
	c.rustflags = append(c.rustflags, flags...)
	for _, name := range sortedKeys(sub(m, "source")) {
		_, dir := sub(m, "source", name)["directory"].(string)
		c.vendored = c.vendored || dir
	}
}

// ours says whether a table of targets may be for the kind of machine that tests run on.
func ours(key string) bool {
	return strings.HasSuffix(key, "-unknown-linux-gnu") && strings.HasPrefix(key, "x86_64") ||
		strings.HasPrefix(key, "cfg(") && !strings.Contains(key, "windows") && !strings.Contains(key, "wasm") && !strings.Contains(key, "not(")
}

func words(v any) []string {
	if s, ok := v.(string); ok {
		return strings.Fields(s)
	}
	return texts(v)
}

var unfit = regexp.MustCompile(`^(?:linker=|link-arg=-fuse-ld|link-args=-fuse-ld|target-cpu=native)`)

// flags are those of the project that fit every machine: another linker may not be there, and the machine's own processor is not
// everybody's. What only a nightly compiler takes is left out for others.
func (c config) flags(tc chosen) string {
	var out []string
	for i := 0; i < len(c.rustflags); i++ {
		f, value := c.rustflags[i], ""
		switch {
		case (f == "-C" || f == "-Z" || f == "--cfg" || f == "-D" || f == "-A" || f == "-W") && i+1 < len(c.rustflags):
			i++
			value = c.rustflags[i]
		}
		codegen := strings.TrimPrefix(f, "-C") + value
		nightly := strings.HasPrefix(f, "-Z")
		switch {
		case strings.ContainsAny(f+value, " \t\n\x00") || !strings.HasPrefix(f, "-"):
		case strings.HasPrefix(f, "-C") && unfit.MatchString(codegen):
		case nightly && !strings.HasPrefix(tc.Channel, "nightly"):
		default:
			out = append(out, strings.TrimSpace(f+" "+value))
		}
	}
	return strings.Join(out, " ")
}
