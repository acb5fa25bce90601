package node

import (
	"path"
	"regexp"
	"strconv"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// usual is the major version of node that base images and hosts have: Debian's.
const usual = 20

// The versions of node that the registry has as packages with a program for this kind of machine, as far as they are of use.
const (
	oldest = 12
	newest = 26
)

var (
	plainVersion = regexp.MustCompile(`^v?(\d+)(?:\.[\dx*]+)*\s*$`)
	comparator   = regexp.MustCompile(`(>=|<=|>|<|\^|~|=)?\s*v?(\d+)((?:\.[\dx*]+)*)`)
)

// wantedNode is the major version of node to install for a package, or 0 if the usual one will do: what the project pins for its own
// development, else what its manifest says that it runs on.
func wantedNode(t *project.Tree, dirs []string, manifests ...*manifest) (int, error) {
	for _, dir := range dirs {
		for _, name := range []string{".nvmrc", ".node-version"} {
			text, err := t.Read(path.Join(dir, name))
			if err != nil {
				return 0, err
			}
			if m := plainVersion.FindStringSubmatch(strings.TrimSpace(text)); m != nil {
				return other(m[1]), nil
			}
		}
	}
	for _, m := range manifests {
		if v := plainVersion.FindStringSubmatch(m.Volta["node"]); v != nil {
			return other(v[1]), nil
		}
		if major := fromEngines(m.Engines["node"]); major != 0 {
			return major, nil
		}
	}
	return 0, nil
}

func other(major string) int {
	n, err := strconv.Atoi(major)
	if err != nil || n == usual || n < oldest || n > newest {
		return 0
	}
	return n
}

// fromEngines finds a version that a range allows if the usual one is none of them; the greatest that the range names.
func fromEngines(ranges string) int {
	best := 0
	for _, alternative := range strings.Split(ranges, "||") {
		low, high := 0, newest
		for _, c := range comparator.FindAllStringSubmatch(alternative, -1) {
			n, err := strconv.Atoi(c[2])
			if err != nil {
				return 0
			}
			switch c[1] {
			case ">=", ">":
				low = max(low, n)
			case "<":
				if strings.Trim(c[3], ".0") == "" {
					n--
				}
				high = min(high, n)
			case "<=":
				high = min(high, n)
			default:
				low, high = max(low, n), min(high, n)
			}
		}
		if low <= usual && usual <= high {
			return 0
		}
		switch {
		case low > usual && low <= high && (best == 0 || low < best):
			best = low // the first that will do
		case high < usual && low <= high && high > best && best <= usual:
			best = high
		}
	}
	if best < oldest {
		return 0
	}
	return best
}

const (
	nodeHome   = "{env}/node"
	nodeScript = `PATH="$1/bin:$2:$PATH"; export PATH; shift 2; exec "$@"`
	homeVar    = "SLUICE_NODE_HOME"
)

// fetchProgram installs the package that holds node for the machine's processor, and gives it a place. Arguments: folder, version.
const fetchProgram = `const [dir, version] = process.argv.slice(1)
const fs = require('fs'), path = require('path'), { spawnSync } = require('child_process')
const name = 'node-linux-' + (process.arch === 'arm64' ? 'arm64' : process.arch)
const r = spawnSync('npm', ['install', '--prefix', dir, '--no-save', '--no-package-lock', '--ignore-scripts', name + '@' + version], { stdio: 'inherit' })
if (r.status !== 0) process.exit(r.status || 1)
fs.symlinkSync(path.join('node_modules', name, 'bin'), path.join(dir, 'bin'))`

// nodeStep installs a version of node.
func nodeStep(major int) replay.Step {
	return replay.Step{
		Name: "node " + strconv.Itoa(major), MustPass: true, Env: quiet,
		Args: []string{"node", "-e", fetchProgram, "--", nodeHome, strconv.Itoa(major)},
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

// Clock is a command that prints the time in seconds, as the recipe's Node has it.
func (Package) Clock(r replay.Recipe) []string {
	return with(r.Env, "node", "-e", "console.log(Math.floor(Date.now() / 1000))")
}
