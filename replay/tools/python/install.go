package python

import (
	_ "embed" // the program
	"encoding/json"
	"maps"
	"regexp"
	"slices"
	"strings"

	"sluice/replay"
)

// pretendVersion is what projects that take their version from git are built as: a tree has no git.
const pretendVersion = "1.0.0"

var versionEnv = map[string]string{
	"SETUPTOOLS_SCM_PRETEND_VERSION": pretendVersion, "PBR_VERSION": pretendVersion, "PDM_BUILD_SCM_VERSION": pretendVersion,
	"POETRY_DYNAMIC_VERSIONING_BYPASS": pretendVersion, "UV_DYNAMIC_VERSIONING_BYPASS": pretendVersion,
}

const (
	venv       = "{env}/venv"
	uvFolder   = "{env}/uv"
	pathOfVenv = `PATH="$VIRTUAL_ENV/bin:$PATH"; export PATH; `
	// venvScript makes the virtual environment with the first interpreter that is there. In an image that is the first one named; on a
	// machine's own system another one may have to do. Arguments: folder, interpreters.
	venvScript = `d=$1; shift
for p in "$@"; do
	"$p" -c "" 2>/dev/null || continue
	echo "sluice: $("$p" --version 2>&1) of $*"
	case $p in python2*) exec virtualenv -q -p "$p" "$d";; esac
	exec "$p" -m venv "$d"
done
echo "sluice: there is none of $*" >&2; exit 1`
	// installerScript brings the virtual environment's pip to a version that knows editable projects of new and of old build backends, and
	// gets uv, without which pip installs. Arguments: interpreter, folder for uv, what pip to take.
	installerScript = `"$1" -m pip install -q --disable-pip-version-check -U "$3" || exit 1
[ "$2" = "" ] || "$1" -m pip install -q --disable-pip-version-check --target "$2" uv || echo "sluice: no uv: pip installs"`
	// versionsScript notes what was installed, in the log and beside the virtual environment, and removes what only installing needs.
	versionsScript = `set -e
"$1/venv/bin/python" -m pip freeze --disable-pip-version-check --all >"$1/versions.txt"
cat "$1/versions.txt"
rm -rf "$1/uv"`
	// buildScript installs the project so that its tree is what gets imported: by the standard's way, else by setuptools' own of before
	// that, which later releases of it replace by one that wants a network. A backend that knows neither installs a copy.
	buildScript = pathOfVenv + `set -- --no-deps --no-build-isolation --no-index --disable-pip-version-check -q
python -m pip install "$@" --use-pep517 -e . || python -m pip install "$@" -e . || python -m pip install "$@" .`
	// dynamicScript builds the project to learn what it requires, installs that, and takes the project itself out
	// again: each state installs its own. Arguments: the environment's folder, extras, the program and its options.
	dynamicScript = pathOfVenv + `set -e
python -m pip wheel -q --no-deps --no-build-isolation -w "$1/wheel" .
for w in "$1"/wheel/*.whl; do
	python -c "$3" "$1/uv" "$4" -- "$w$2"
	n=${w##*/}; python -m pip uninstall -q -y "${n%%-*}"
done
rm -rf "$1/wheel"`
)

// program installs requirements in one of several ways.
//
//go:embed install.py
var program string

// inVenv starts the interpreter of a virtual environment as its activation would: tests may start its scripts by name.
const inVenv = pathOfVenv + `exec python "$@"`

// Command begins a command of the recipe's interpreter: that of its VIRTUAL_ENV if it has one.
func Command(r replay.Recipe) []string {
	if r.Env["VIRTUAL_ENV"] != "" {
		return []string{"sh", "-c", inVenv, "sh"}
	}
	return []string{"python"}
}

// Clock is a command that prints the time in seconds, as the recipe's interpreter has it.
func (Project) Clock(r replay.Recipe) []string {
	return append(Command(r), "-c", "import time; print(int(time.time()))")
}

// BlankEnv is what a recipe begins with whose steps somebody else finds.
func (Project) BlankEnv() map[string]string {
	return map[string]string{"VIRTUAL_ENV": venv, "PYTHONDONTWRITEBYTECODE": "1"}
}

// installs is what a recipe's Install is made from.
type installs struct {
	p    *info
	c    choice
	l    *reqList
	tool string
}

// The names of the steps that ask an index.
const (
	stepVenv       = "virtual environment" // it asks none
	stepBuildNeeds = "build requirements"
	stepNeeds      = "requirements"
	stepComputed   = "computed requirements"
	stepHinted     = "hinted requirements"
	stepTold       = "requirements that a try named"
)

// into puts the steps into a recipe, with the notes of what was not taken over.
func (n installs) into(r *replay.Recipe) {
	r.Install = []replay.Step{
		{Name: stepVenv, Args: append([]string{"sh", "-c", venvScript, "sh", venv}, n.c.commands()...), MustPass: true},
	}
	if n.p.backend == "" && len(n.l.items) == 0 {
		return
	}
	r.Install = append(r.Install, installerStep(n.c))
	if n.p.backend != "" {
		var build reqList
		build.addAll(buildNeeds(n.p), "the build requirements")
		r.Notes = append(r.Notes, build.notes...)
		r.Install = append(r.Install, requirementsStep(stepBuildNeeds, build.items, options{}))
	}
	o := options{Constraints: n.l.locked, Tool: n.tool}
	if len(n.l.items) > 0 {
		r.Install = append(r.Install, requirementsStep(stepNeeds, n.l.items, o))
	}
	if n.p.dynamic {
		r.Inputs = []string{"*"}
		extras := ""
		if names := wanted(n.p.extras); len(names) > 0 {
			extras = "[" + strings.Join(names, ",") + "]"
		}
		r.Install = append(r.Install, replay.Step{
			Name: stepComputed, Args: []string{"sh", "-c", dynamicScript, "sh", "{env}", extras, program, o.json()},
			Env: n.c.buildEnv(), Dir: r.Root, MustPass: true,
		})
	}
	r.Install = append(r.Install, versionsStep())
}

func installerStep(c choice) replay.Step {
	return replay.Step{
		Name: "installer", Args: append([]string{"sh", "-c", installerScript, "sh", venv + "/bin/python"}, c.installer()...), MustPass: true,
	}
}

func versionsStep() replay.Step {
	return replay.Step{Name: "versions", Args: []string{"sh", "-c", versionsScript, "sh", "{env}"}, MustPass: true}
}

// Required tells which distributions a recipe's requirements name.
func Required(r replay.Recipe) func(dist string) bool {
	var l reqList
	for _, s := range r.Install {
		if i := slices.Index(s.Args, "--"); s.Name == stepNeeds && i > 0 {
			l.items = s.Args[i+1:]
		}
	}
	return l.names
}

func requirementsStep(name string, reqs []string, o options) replay.Step {
	args := []string{venv + "/bin/python", "-c", program, uvFolder, o.json(), "--"}
	return replay.Step{Name: name, Args: append(args, reqs...), MustPass: true}
}

// options are the program's.
type options struct {
	Constraints []string `json:"constraints,omitempty"`
	Tool        string   `json:"tool,omitempty"`
}

func (o options) json() string {
	text, _ := json.Marshal(o) // strings only: it cannot fail
	return string(text)
}

// commands are the names of an interpreter: the exact one first, then whatever Python of that kind there is.
func (c choice) commands() []string {
	if c.version == python2 {
		return []string{"python2.7"}
	}
	return []string{"python" + c.version.String(), "python3"}
}

// installer is where uv goes, which knows no Python 2, and which pip to take: the last that installs projects of old backends too.
func (c choice) installer() []string {
	if c.version == python2 {
		return []string{"", "pip<21"}
	}
	return []string{uvFolder, "pip<25.3"}
}

// buildEnv are the variables of steps that build the project.
func (c choice) buildEnv() map[string]string {
	env := maps.Clone(versionEnv)
	if c.ignore {
		env["PIP_IGNORE_REQUIRES_PYTHON"] = "1"
	}
	return env
}

// backendNeeds are what build backends ask for only when they run, which takes a network then.
var backendNeeds = map[string][]string{
	"hatchling": {"editables"}, "pdm": {"editables"}, "mesonpy": {"meson", "ninja"}, "scikit_build_core": {"cmake", "ninja"},
	"setuptools": {"setuptools", "wheel"}, "flit_core": nil, "poetry": nil,
}

var newSetuptools = regexp.MustCompile(`setuptools\D*(8[1-9]|9\d|\d{3})`)

// buildNeeds are the build requirements. setuptools is kept below the version that dropped pkg_resources, which older
// projects import, unless the project asks for more.
func buildNeeds(p *info) []string {
	list := slices.Clone(p.build)
	backend, _, _ := strings.Cut(p.backend, ".")
	list = append(list, backendNeeds[backend]...)
	if p.twoToThree {
		return append(list, "setuptools<58") // the last one that translates Python 2
	}
	if !slices.ContainsFunc(list, newSetuptools.MatchString) {
		list = append(list, "setuptools<81")
	}
	return list
}
