package setup

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"sluice/judges/operation"
	"sluice/pipeline/agents"
	"sluice/replay"
)

// Var is a variable that an agent wants set for all steps of its recipe.
type Var struct {
	Name  string `json:"name"`
	Value string `json:"value"` // literal; the variables of places may stand in it
}

// Bounds of the variables of one recipe.
const (
	maxVars  = 20
	maxValue = 1000 // bytes
)

var varName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// forbidden are names that no recipe sets: where programs, libraries and start-up code come from, where packages and history come
// from, what the sandbox itself sets, what interpreters run unasked, and what holds secrets.
var forbidden = regexp.MustCompile(`(?i)^(?:` + strings.Join([]string{
	`PATH`, `HOME`, `USER`, `LOGNAME`, `SHELL`, `PWD`, `OLDPWD`, `IFS`, `ENV`, `BASH.*`, `PS\d`, `PROMPT_COMMAND`, `TMPDIR`, `TEMP`, `TMP`, `SHLVL`,
	`XDG_.*`, `LD_.*`, `DYLD_.*`, `GLIBC_.*`, `GIT_.*`, `SSH_.*`, `SSL_.*`, `CURL_.*`, `REQUESTS_.*`, `SLUICE_.*`, `VIRTUAL_ENV`, `CONDA_.*`, `NPM_.*`,
	`.*PROXY`, `.*_URL`, `.*INDEX.*`, `.*REGISTRY.*`, `.*MIRROR.*`, `PIP_.*`, `UV_.*`, `POETRY_.*`, `PDM_.*`, `TWINE_.*`, `COVERAGE_.*`, `COV_CORE_.*`,
	`.*TOKEN.*`, `.*SECRET.*`, `.*PASS(?:W.*|PHRASE.*)?`, `.*CREDENTIAL.*`, `.*(?:^|_)KEY(?:S|_.*)?`, `.*APIKEY.*`, `.*(?:^|_)AUTH(?:_.*)?`,
	`PERL.*`, `RUBY.*`, `JAVA_TOOL_OPTIONS`, `_?JAVA_OPTIONS`, `JDK_JAVA_OPTIONS`, `CLASSPATH`, `NODE_PATH`, `NODE_(?:REPL|EXTRA|V8).*`, `RUSTC.*`,
	`CARGO_.*`, `MAKEFLAGS`, `TOX.*`, `NOX.*`,
}, "|") + `)$`)

// ruled are variables of the tools that run tests, with what may stand in them. Others of the same tools are forbidden.
var (
	ours  = regexp.MustCompile(`^(?:PYTHON|PYTEST_|GO(?:[A-Z0-9]*)$|GO_|NODE_OPTIONS$)`)
	ruled = map[string]func(string) error{
		"PYTHONPATH": places, "PYTHONDONTWRITEBYTECODE": flag, "PYTHONHASHSEED": words(`\d+|random`), "PYTHONUTF8": flag, "PYTHONUNBUFFERED": flag,
		"PYTHONIOENCODING": words(`[A-Za-z0-9:_-]+`), "PYTHONSAFEPATH": flag, "PYTHONDEVMODE": flag, "PYTHONFAULTHANDLER": flag,
		"PYTHONASYNCIODEBUG": flag, "PYTHONWARNINGS": words(`(?:ignore|default|always|once|module)[A-Za-z0-9_.:, -]*`),
		"PYTEST_ADDOPTS": nil, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": flag, // the options are looked at one by one
		"GOFLAGS": each(goFlag), "GO111MODULE": words(`on|off|auto`), "GOPATH": places, "GOMODCACHE": places, "GOCACHE": places,
		"GOTOOLCHAIN": words(`auto|local|path|go1[0-9a-z.]*(?:\+auto|\+path)?`), "GOWORK": places, "GOEXPERIMENT": words(`[a-z0-9,]+`),
		"GODEBUG": words(`[a-z0-9_=,]+`), "GOMAXPROCS": words(`\d+`), "GOGC": words(`\d+|off`), "GOMEMLIMIT": words(`[0-9A-Za-z]+`),
		"NODE_OPTIONS": each(nodeOption),
	}
	programs = regexp.MustCompile(`^(?:CC|CXX|CPP|AR|LD|AS|FC|F77|RANLIB|STRIP|PKG_CONFIG)$`)
	program  = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9+._-]*(?: -[A-Za-z0-9=+._-]+)*$`)
)

// checkVars says what is wrong with the variables of a report, in one line for the model.
func checkVars(vars []Var, start replay.Recipe) error {
	if len(vars) > maxVars {
		return fmt.Errorf("The report sets more than %d variables.", maxVars)
	}
	for i, v := range vars {
		if slices.ContainsFunc(vars[:i], func(o Var) bool { return o.Name == v.Name }) {
			return fmt.Errorf("The variable %q is set twice.", v.Name)
		}
		if err := v.check(start); err != nil {
			return fmt.Errorf("The variable %.80q cannot be set to %.120q: %w.", v.Name, v.Value, err)
		}
	}
	return nil
}

func (v Var) check(start replay.Recipe) error {
	rule, known := ruled[v.Name]
	value := v.placed()
	switch {
	case !varName.MatchString(v.Name):
		return fmt.Errorf("its name is none")
	case !known && (forbidden.MatchString(v.Name) || ours.MatchString(v.Name)):
		return fmt.Errorf("no recipe may set it")
	case len(v.Value) > maxValue:
		return fmt.Errorf("it is longer than %d bytes", maxValue)
	case !utf8.ValidString(v.Value) || strings.ContainsFunc(v.Value, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("it holds a character that cannot be seen")
	case strings.ContainsAny(value, "$`") || strings.Contains(v.Value, "{out}"):
		return fmt.Errorf("values are taken literally, and only $%s and $%s stand for places", agents.EnvVar, agents.TreeVar)
	case byHand.MatchString(v.Value):
		return fmt.Errorf("it touches the report of the tests")
	case strings.Contains(v.Value, "://") || strings.Contains(v.Value, "git@"):
		return fmt.Errorf("it holds an address")
	case programs.MatchString(v.Name) && !program.MatchString(v.Value):
		return fmt.Errorf("a program's plain name is wanted, with options")
	case v.Name == "PYTEST_ADDOPTS":
		return pytestOptions(value, strings.Fields(start.Env[v.Name]))
	case rule != nil:
		return rule(value)
	}
	return nil
}

// placed is the value as recipes have it: with tokens for places.
func (v Var) placed() string {
	return strings.NewReplacer("${"+agents.EnvVar+"}", "{env}", "$"+agents.EnvVar, "{env}", "${"+agents.TreeVar+"}", "{tree}", "$"+agents.TreeVar, "{tree}").Replace(v.Value)
}

// doubts are what of the variables only a judge can tell: they choose which files are compiled, and so which tests there are.
func doubts(vars []Var) []operation.Finding {
	var out []operation.Finding
	for _, v := range vars {
		if v.Name == "CGO_ENABLED" || v.Name == "GOFLAGS" && (strings.Contains(v.Value, "-tags") || strings.Contains(v.Value, "-modfile")) {
			out = append(out, operation.Finding{Code: operation.SkippedRequired, What: fmt.Sprintf("a variable chooses what is compiled: %s=%.200s", v.Name, v.Value)})
		}
	}
	return out
}

func flag(v string) error { return words(`[01]?`)(v) }

// words wants a value that is all of one form.
func words(form string) func(string) error {
	re := regexp.MustCompile(`^(?:` + form + `)$`)
	return func(v string) error {
		if !re.MatchString(v) {
			return fmt.Errorf("the value is none of those that a recipe may give it")
		}
		return nil
	}
}

// places wants folders inside of the tree or the environment; a relative one is in the tree.
func places(v string) error {
	for p := range strings.SplitSeq(v, ":") {
		rest, named := strings.CutPrefix(p, "{env}")
		if !named {
			rest, named = strings.CutPrefix(p, "{tree}")
		}
		inside := named && (rest == "" || rest[0] == '/') || !named && p != "" && !path.IsAbs(p)
		if !inside || slices.Contains(strings.Split(rest, "/"), "..") || strings.ContainsAny(rest, "{}") {
			return fmt.Errorf("%q lies neither in $%s nor in $%s", p, agents.TreeVar, agents.EnvVar)
		}
	}
	return nil
}

func each(one func(string) error) func(string) error {
	return func(v string) error {
		for w := range strings.FieldsSeq(v) {
			if err := one(w); err != nil {
				return err
			}
		}
		return nil
	}
}

var goFlags = regexp.MustCompile(`^--?(?:mod=(?:mod|vendor|readonly)|buildvcs=(?:true|false|auto)|tags=[A-Za-z0-9_.,]+|p=\d+|trimpath|modcacherw|race|modfile=\{env\}/[A-Za-z0-9_./-]+\.mod)$`)

func goFlag(w string) error {
	if !goFlags.MatchString(w) || strings.Contains(w, "..") {
		return fmt.Errorf("the option %.80q could change which tests run, or what they run on", w)
	}
	return nil
}

var nodeOptions = regexp.MustCompile(`^--(?:max-old-space-size=\d+|stack-size=\d+|openssl-legacy-provider|no-warnings|no-deprecation|experimental-vm-modules|unhandled-rejections=[a-z-]+|dns-result-order=[a-z0-9]+)$`)

func nodeOption(w string) error {
	if !nodeOptions.MatchString(w) {
		return fmt.Errorf("the option %.80q could run code, or change which tests run", w)
	}
	return nil
}

var (
	pytestPlain  = regexp.MustCompile(`^(?:--import-mode=(?:prepend|append|importlib)|--asyncio-mode=(?:auto|strict)|--ds=[A-Za-z0-9_.]+|--strict-markers|--strict-config|--forked|--reuse-db|--create-db|--nomigrations|--no-migrations)$`)
	pytestValued = map[string]*regexp.Regexp{
		"-W": regexp.MustCompile(`^(?:ignore|default|always|once|module)[A-Za-z0-9_.:-]*$`),
		"-o": regexp.MustCompile(`^(?:asyncio_mode|asyncio_default_fixture_loop_scope|pythonpath|filterwarnings|django_find_project|required_plugins|timeout)=[A-Za-z0-9_./:-]*$`),
		// Plugins that only report, count or order; pytest's own collect and run the tests.
		"-p": regexp.MustCompile(`^no:(?:cov|pytest_cov|xdist|cacheprovider|randomly|random_order|flaky|rerunfailures|sugar|html|warnings|logging|timeout|benchmark|pylama|flake8|black|mypy)$`),
	}
)

// pytestOptions takes what changes how tests are imported, and what the project itself asks for.
func pytestOptions(value string, own []string) error {
	list := strings.Fields(value)
	for i := 0; i < len(list); i++ {
		w := list[i]
		if pytestPlain.MatchString(w) || slices.Contains(own, w) {
			continue
		}
		if re := pytestValued[w]; re != nil && i+1 < len(list) && re.MatchString(list[i+1]) && !strings.Contains(list[i+1], "..") {
			i++
			continue
		}
		return fmt.Errorf("the option %.80q could change which tests run, or how they are told", w)
	}
	return nil
}
