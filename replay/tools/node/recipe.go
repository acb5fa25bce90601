package node

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// The programs of ours. They are parts of steps, and so of fingerprints and keys.
var (
	//go:embed copy.js
	copyProgram string
	//go:embed link.js
	linkProgram string
	//go:embed run.js
	runProgram string
)

// Where things are in an environment's folder: the workspace as it was installed, and the package manager.
const (
	installed = "{env}/nm"
	tools     = "{env}/pm"
)

// Extra is what a tool adds to a recipe.
type Extra struct {
	Runner string
	Env    map[string]string
}

// Recipe makes the recipe of the package in a folder.
//
// Install sees manifests, lock files and what else package managers read, copies them to {env}, takes the package's own
// life-cycle scripts out of the copies (they would build sources that are not there), and installs there: by the lock file, and only
// if that fails without. Each state then gets its node_modules as links to what {env} holds, so that states share an environment and
// a test that writes into a package writes into its own job's view of it. Packages of the workspace itself are links into the tree.
func Recipe(t *project.Tree, root string, x Extra) (replay.Recipe, error) {
	top, err := workspace(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	m, err := readManifest(t, top)
	if err != nil {
		return replay.Recipe{}, err
	}
	own, err := readManifest(t, root)
	if err != nil {
		return replay.Recipe{}, err
	}
	if m == nil || own == nil {
		return replay.Recipe{}, project.ErrNoRecipe{Reason: "the manifest cannot be read"}
	}
	pm, err := findManager(t, top, m)
	if err != nil {
		return replay.Recipe{}, err
	}
	globs, err := workspaces(t, top)
	if err != nil {
		return replay.Recipe{}, err
	}
	r := replay.Recipe{Runner: x.Runner, Root: root, Env: environment(x.Env)}
	if r.Inputs, err = inputs(t, top, globs, m); err != nil {
		return replay.Recipe{}, err
	}
	r.Notes = notes(pm, m)
	node, err := findNode(t, slices.Compact([]string{root, top}), own, m)
	if err != nil {
		return replay.Recipe{}, err
	}
	node.use(&r)
	r.Install = installSteps(top, pm, r.Env)
	r.Build = append(r.Build, replay.Step{
		Name: "link dependencies", Args: ours(r.Env, "node", "-e", linkProgram, "--", installed, path.Join("{tree}", top)), MustPass: true,
	})
	r.Build = append(r.Build, buildSteps(t, root, own, &r)...)
	return r, nil
}

// BlankEnv is what a recipe begins with whose steps somebody else finds.
func BlankEnv() map[string]string { return environment(nil) }

// environment tells tools that nobody watches, and packages to bring no browsers, which no registry of packages has.
func environment(more map[string]string) map[string]string {
	env := map[string]string{
		"CI": "true", "NO_COLOR": "1", "FORCE_COLOR": "0", "NO_UPDATE_NOTIFIER": "1", "HUSKY": "0", "NODE_DISABLE_COMPILE_CACHE": "1",
		"PUPPETEER_SKIP_DOWNLOAD": "1", "PUPPETEER_SKIP_CHROMIUM_DOWNLOAD": "1", "PLAYWRIGHT_SKIP_BROWSER_DOWNLOAD": "1",
		"CYPRESS_INSTALL_BINARY": "0", "ELECTRON_SKIP_BINARY_DOWNLOAD": "1", "CHROMEDRIVER_SKIP_DOWNLOAD": "true",
		"COREPACK_ENABLE_STRICT": "0", "YARN_ENABLE_TELEMETRY": "0", "NEXT_TELEMETRY_DISABLED": "1",
	}
	maps.Copy(env, more)
	return env
}

// readByManagers are files of a workspace's folder that package managers read, besides the manifests; with a slash at the end, folders.
var readByManagers = slices.Concat(lockFiles, []string{
	".npmrc", ".yarnrc", ".yarnrc.yml", "pnpm-workspace.yaml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpmfile.js", ".node-version", ".nvmrc",
	".yarn/releases/", ".yarn/plugins/", ".yarn/patches/", "patches/",
})

// MaxInputs bounds the files that Install reads.
const maxInputs = 5000

func inputs(t *project.Tree, top string, globs patterns, m *manifest) ([]string, error) {
	locals := localFolders(top, m)
	if len(locals) > maxPatterns {
		return nil, project.ErrNoRecipe{Reason: "the package takes others from too many folders of the tree"}
	}
	var list []string
	for f := range t.Files() {
		rel, ok := strings.CutPrefix(f, top+"/")
		if top == "" {
			rel, ok = f, true
		}
		if !ok || strings.Contains(rel, "node_modules/") {
			continue
		}
		dir, base := parent(rel), path.Base(rel)
		manifest := base == manifestFile && (dir == "" || globs.member(dir))
		if manifest || read(rel) || slices.ContainsFunc(locals, func(l string) bool { return strings.HasPrefix(f, l) }) {
			list = append(list, f)
		}
	}
	slices.Sort(list)
	if len(list) > maxInputs {
		return nil, project.ErrNoRecipe{Reason: "the workspace has too many manifests"}
	}
	return list, nil
}

func read(rel string) bool {
	return slices.ContainsFunc(readByManagers, func(n string) bool {
		return rel == n || strings.HasSuffix(n, "/") && strings.HasPrefix(rel, n)
	})
}

// localFolders are the folders of the tree that a manifest takes packages from.
func localFolders(top string, m *manifest) []string {
	var list []string
	for _, spec := range m.Deps {
		rest, ok := strings.CutPrefix(spec, "file:")
		if dir, in := project.Inside(top, rest); ok && in && dir != "" && dir != top {
			list = append(list, dir)
		}
	}
	return list
}

// elsewhere are specifiers of packages that no registry has, and of npm's own empty ones in place of malicious packages and of node's own modules,
// which mirrors leave out.
var elsewhere = regexp.MustCompile(`^(?:[\^~=]?\d+\.\d+\.\d+-security(?:\.\d+)?$|git\+|git:|git@|github:|gitlab:|bitbucket:|https?:|[A-Za-z0-9_.-]+/[A-Za-z0-9_.-]+(?:#|$))`)

func notes(pm manager, m *manifest) []string {
	var list []string
	if pm.note != "" {
		list = append(list, pm.note)
	}
	if !pm.frozen {
		list = append(list, "no lock file is in the tree: versions are those of the day of the installation")
	}
	for _, name := range sortedKeys(m.Deps) {
		if elsewhere.MatchString(m.Deps[name]) {
			list = append(list, fmt.Sprintf("%s comes from no registry and may be left out", project.FirstLine(name)))
		}
	}
	return list
}

// ways are the commands of the managers: by the lock file, then without what does not install.
var ways = map[string]struct {
	frozen []string
	loose  [][]string
}{
	"npm": {
		words("npm ci"),
		[][]string{
			words("npm install --no-package-lock"), words("npm install --no-package-lock --legacy-peer-deps"),
			words("npm install --no-package-lock --legacy-peer-deps --ignore-scripts"),
		},
	},
	"pnpm": {
		words("pnpm install --frozen-lockfile --store-dir {env}/store"),
		[][]string{
			words("pnpm install --no-frozen-lockfile --store-dir {env}/store"),
			words("pnpm install --no-frozen-lockfile --ignore-scripts --store-dir {env}/store"),
		},
	},
	"yarn": {
		words("yarn install --frozen-lockfile --non-interactive --ignore-engines"),
		[][]string{
			words("yarn install --pure-lockfile --non-interactive --ignore-engines"),
			words("yarn install --pure-lockfile --non-interactive --ignore-engines --ignore-scripts"),
		},
	},
	"berry": {words("yarn install --immutable"), [][]string{words("yarn install --no-immutable"), words("yarn install --no-immutable --mode=skip-build")}},
}

func words(command string) []string { return strings.Fields(command) }

// installProgram tries ways to install; before the second it takes out of the manifests what no registry has.
//
//go:embed install.js
var installProgram string

// quiet makes the managers write to no cache of the environment's, ask nothing and send nothing.
var quiet = map[string]string{
	"npm_config_cache": "/tmp/npm-cache", "npm_config_audit": "false", "npm_config_fund": "false", "npm_config_update_notifier": "false",
	"npm_config_progress": "false", "XDG_CACHE_HOME": "/tmp/xdg-cache", "YARN_CACHE_FOLDER": "/tmp/yarn-cache",
	"YARN_ENABLE_GLOBAL_CACHE": "false", "YARN_NODE_LINKER": "node-modules", "YARN_ENABLE_SCRIPTS": "true",
	"YARN_CHECKSUM_BEHAVIOR": "ignore", "npm_config_engine_strict": "false",
}

func installSteps(top string, pm manager, env map[string]string) []replay.Step {
	var steps []replay.Step
	if pm.install != "" {
		steps = append(steps, replay.Step{
			Name: "package manager", MustPass: true, Env: quiet,
			Args: with(env, "npm", "install", "--prefix", tools, "--no-save", "--no-package-lock", "--ignore-scripts", pm.install),
		})
	}
	copyTo := []string{"node", "-e", copyProgram, "--", path.Join("{tree}", top), installed}
	steps = append(steps, replay.Step{Name: "copy manifests", Args: copyTo, MustPass: true})
	list := ways[pm.name].loose
	if pm.frozen {
		list = append([][]string{ways[pm.name].frozen}, list...)
	}
	text, _ := json.Marshal(list) // lists of words: it cannot fail
	return append(steps, replay.Step{
		Name: stepDependencies, MustPass: true, Env: quiet, Dir: "",
		Args: ours(env, "node", "-e", installProgram, "--", installed, tools+"/node_modules/.bin", env[homeVar], string(text)),
	})
}

var (
	builds    = regexp.MustCompile(`(?i)\b(?:build|compile|tsc|rollup|babel|swc|esbuild|generate|gen|transpile|bundle|webpack|prepare|tsup|unbuild|pkgroll|make|codegen|pretest)\b`)
	buildsNot = regexp.MustCompile(`(?i)\b(?:lint|eslint|prettier|standard|xo|biome|noEmit|typecheck|type-check|check-types|clean|rimraf|audit|cover)\b`)
)

// before names the scripts that build something in the steps before the tool's. It reports whether the tool was met.
func (m *manifest) before(steps []step, x toolTraits, add func(string)) bool {
	for _, s := range steps {
		if slices.ContainsFunc(s.flat(), func(c command) bool { _, ok := c.callOf(x); return ok }) {
			return s.script == "" || m.before(s.inner, x, add)
		}
		text := s.script + " " + m.Scripts[s.script] + " " + strings.Join(s.command.words, " ")
		switch {
		case !builds.MatchString(text) || buildsNot.MatchString(text):
		case s.script != "":
			add(s.script)
		default:
			add("build")
		}
	}
	return false
}

// buildSteps are the scripts that build what the tests need, as the test script itself runs them before its tool.
func buildSteps(t *project.Tree, root string, m *manifest, r *replay.Recipe) []replay.Step {
	tool := r.Runner
	var list []string
	add := func(name string) {
		if name != "" && m.Scripts[name] != "" && !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	m.before(m.chain("test"), traits(tool), add)
	// Vitest and Jest read TypeScript and the like themselves; the others' tests need what the package's main file is built from.
	if len(list) == 0 && tool != "vitest" && tool != "jest" && m.Main != "" && builtMain(t, root, m.Main) {
		add("build")
	}
	var steps []replay.Step
	for _, name := range list {
		steps = append(steps, replay.Step{
			Name: "script " + name, Dir: root, Args: with(r.Env, "npm", "run", name),
		})
	}
	return steps
}

// builtMain reports whether a package's main file is made by a build: the tree has no file of that name, with or without an extension.
func builtMain(t *project.Tree, root, main string) bool {
	name, ok := project.Inside(root, main)
	if !ok || name == "" {
		return false
	}
	return !t.Has(name) && !t.HasAny("", []string{name + ".js", name + ".cjs", name + "/index.js", name + ".ts"})
}

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
