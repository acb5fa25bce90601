package pytest

import (
	"maps"
	"path"
	"slices"
	"strings"

	"sluice/replay/tools/project"
	"sluice/replay/tools/python"
)

// pytestConfig is what the project's pytest configuration asks for.
type pytestConfig struct {
	addopts []string
	plugins []string // distributions that it cannot do without
	names   bool     // it says how files of tests are named
}

// pluginKeys are settings that only a plugin knows.
var pluginKeys = map[string]string{
	"asyncio_mode": "pytest-asyncio", "django_settings_module": "pytest-django", "timeout": "pytest-timeout",
	"anyio_mode": "anyio", "qt_api": "pytest-qt", "env": "pytest-env", "flask_app": "pytest-flask",
	"mpl-results-path": "pytest-mpl", "doctest_plus": "pytest-doctestplus", "twisted": "pytest-twisted",
	"trio_mode": "pytest-trio", "freezegun_ignore_list": "pytest-freezegun",
}

// pluginOptions are the same for options of the command line.
var pluginOptions = map[string]string{
	"--asyncio-mode": "pytest-asyncio", "--ds": "pytest-django", "--reuse-db": "pytest-django", "--nomigrations": "pytest-django",
	"--no-migrations": "pytest-django", "--doctest-plus": "pytest-doctestplus", "--mpl": "pytest-mpl",
	"--disable-socket": "pytest-socket", "--allow-hosts": "pytest-socket", "--loop": "pytest-aiohttp",
	"--remote-data": "pytest-remotedata", "--forked": "pytest-forked",
}

// configuration reads the file that pytest would take.
func configuration(t *project.Tree, root string) (pytestConfig, error) {
	keys, err := python.PytestSettings(t, root)
	if err != nil || keys == nil {
		return pytestConfig{}, err
	}
	return configure(t, root, keys), nil
}

func configure(t *project.Tree, root string, keys map[string]string) pytestConfig {
	c := pytestConfig{names: keys["python_files"] != ""}
	for _, key := range slices.Sorted(maps.Keys(keys)) {
		if dist := pluginKeys[key]; dist != "" {
			c.plugins = append(c.plugins, dist)
		}
	}
	for _, line := range strings.FieldsFunc(keys["required_plugins"], func(r rune) bool { return r == '\n' || r == ' ' }) {
		c.plugins = append(c.plugins, line)
	}
	isPath := func(word string) bool {
		p := path.Join(root, word)
		return t.Has(p) || t.HasDir(p)
	}
	c.addopts = keepOptions(splitWords(keys["addopts"]), isPath)
	for _, o := range c.addopts {
		name, _, _ := strings.Cut(o, "=")
		if dist := pluginOptions[name]; dist != "" {
			c.plugins = append(c.plugins, dist)
		}
	}
	return c
}

// splitWords splits as a shell does, without expanding anything.
func splitWords(s string) []string {
	var words []string
	var word strings.Builder
	var quote rune
	open := false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(r)
		case r == '"' || r == '\'':
			quote, open = r, true
		case r == ' ' || r == '\t' || r == '\n' || r == '\r':
			if open {
				words = append(words, word.String())
			}
			word.Reset()
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if open {
		words = append(words, word.String())
	}
	return words
}

// dropped are the options, and prefixes of options (ending in *), that change how results are reported, in which order
// tests run, how often, or when to stop. Those that may take the next word as their value are in dropsValue.
var dropped = []string{
	"--cov*", "--no-cov*", "--numprocesses", "--dist", "--maxprocesses", "--tx", "--exitfirst", "--maxfail", "--junit*", "--html",
	"--self-contained-html", "--css", "--reruns*", "--rerun-*", "--only-rerun", "--timeout*", "--benchmark*", "--durations*", "--color",
	"--last-failed*", "--lf*", "--failed-first", "--ff", "--new-first", "--nf", "--stepwise*", "--sw*", "--pdb*", "--trace",
	"--flake8*", "--black", "--isort", "--mypy*", "--pylint*", "--ruff*", "--pycodestyle", "--pydocstyle", "--pep8", "--codestyle",
	"--flakes", "--randomly*", "--random-order*", "--profile*", "--tb", "--showlocals", "--verbose", "--quiet", "--verbosity",
	"--no-header", "--no-summary", "--instafail", "--emoji", "--show-capture", "--basetemp", "--cache*", "--rootdir", "--report*",
	"--full-trace", "--count", "--allure*", "--nbval*", "--spec", "--force-sugar", "--cram", "--testmon*", "--pyargs", "--typeguard*",
	"--no-success-flaky-report", "--no-flaky-report", "--force-flaky", "--max-runs", "--min-passes", "--retries", "--retry-*", "--cumulative-timing",
}

var dropsValue = map[string]bool{
	"--cov": true, "--cov-report": true, "--cov-config": true, "--cov-fail-under": true, "--cov-context": true,
	"--numprocesses": true, "-n": true, "--dist": true, "--maxprocesses": true, "--maxfail": true, "--junitxml": true, "--junit-xml": true,
	"--junit-prefix": true, "--html": true, "--css": true, "--reruns": true, "--reruns-delay": true, "--timeout": true,
	"--timeout-method": true, "--durations": true, "--durations-min": true, "--color": true, "--tb": true, "-r": true,
	"--verbosity": true, "--show-capture": true, "--basetemp": true, "--rootdir": true, "--tx": true, "--count": true,
	"--benchmark-columns": true, "--benchmark-sort": true, "--benchmark-group-by": true, "--random-order-bucket": true,
	"--max-runs": true, "--min-passes": true, "--retries": true, "--retry-delay": true, "--retry-outcome": true, "--cumulative-timing": true,
}

// keepOptions leaves of a project's addopts what decides which tests there are and how they are imported. Words that
// are paths of the tree are dropped: the run names its own.
func keepOptions(words []string, isPath func(string) bool) []string {
	var kept []string
	for i := 0; i < len(words); i++ {
		word := words[i]
		if !strings.HasPrefix(word, "-") {
			continue
		}
		name, _, hasValue := strings.Cut(word, "=")
		nextIsValue := !hasValue && i+1 < len(words) && !strings.HasPrefix(words[i+1], "-")
		if dropsOption(name) {
			if nextIsValue && dropsValue[name] {
				i++
			}
			continue
		}
		kept = append(kept, word)
		if nextIsValue && !(isPath(words[i+1]) && !takesPath(name)) {
			i++
			kept = append(kept, words[i])
		}
	}
	return kept
}

func takesPath(option string) bool {
	switch option {
	case "--ignore", "--ignore-glob", "--deselect", "--confcutdir", "-c", "--config-file", "-p", "--log-file":
		return true
	}
	return false
}

func dropsOption(name string) bool {
	if !strings.HasPrefix(name, "--") {
		// -ra, -vv, -qx, -n4, -l: any mix of what only reports or stops.
		return strings.HasPrefix(name, "-r") || strings.HasPrefix(name, "-n") || strings.Trim(name[1:], "vqxl") == ""
	}
	for _, d := range dropped {
		prefix, isPrefix := strings.CutSuffix(d, "*")
		if name == d || isPrefix && strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return false
}

// retries are plugins that run a failed test again, or in another order, by a mark or a setting that no option overrules: distributions
// and the names by which pytest knows their plugins.
var retries = []struct{ dist, plugin string }{
	{"pytest-rerunfailures", "rerunfailures"}, {"flaky", "flaky"}, {"pytest-retry", "pytest-retry"}, {"pytest-random-order", "random_order"},
}

// withoutRetries switches off the plugins among a project's requirements that retry: a test that failed and then passed is told as
// passed. Their marks are then nobody's, which must be no error.
func withoutRetries(addopts []string, required func(dist string) bool) []string {
	var off []string
	for _, r := range retries {
		if required(r.dist) {
			off = append(off, "-p", "no:"+r.plugin)
		}
	}
	if len(off) == 0 {
		return addopts
	}
	strict := func(word string) bool {
		return word == "--strict-markers" || word == "--strict" || word == "--strict-config"
	}
	kept := slices.DeleteFunc(slices.Clone(addopts), strict)
	off = append(off, "-o", "strict_markers=false", "-W", "ignore::pytest.PytestUnknownMarkWarning", "-W", "ignore::pytest.PytestConfigWarning")
	return append(kept, off...)
}

// quoteWords is the inverse of splitWords.
func quoteWords(words []string) string {
	var list []string
	for _, w := range words {
		switch {
		case !strings.ContainsAny(w, " \t\n\r'\"\\") && w != "":
			list = append(list, w)
		default:
			list = append(list, "'"+strings.ReplaceAll(w, "'", `'"'"'`)+"'")
		}
	}
	return strings.Join(list, " ")
}
