package ctest

import (
	"regexp"
	"slices"
	"strings"

	"sluice/replay/tools/native"
	"sluice/replay/tools/project"
)

var descriptions = native.Descriptions{
	Marker: "CMakeLists.txt", Ext: ".cmake",
	Starts: regexp.MustCompile(`(?im)^\s*project\s*\(`),
	Tests:  regexp.MustCompile(`(?im)^\s*(?:add_test|gtest_discover_tests|gtest_add_tests|catch_discover_tests|doctest_discover_tests|ecm_add_tests?|add_unit_test|[a-z_]*add_[a-z_]*test)\s*\(`),
}

// declared is what the descriptions of a project declare, as far as it matters here.
type declared struct {
	wants      native.Wants
	on, off    []string // options to set
	googletest []string // upper-case names under which GoogleTest is fetched
	fetched    []string // other names
	values     map[string][]string
	unread     []string // notes about what was not read
}

var (
	option    = regexp.MustCompile(`(?im)^\s*(?:cmake_dependent_)?option\s*\(\s*"?([A-Za-z][A-Za-z0-9_-]*)`)
	cached    = regexp.MustCompile(`(?im)^\s*set\s*\(\s*([A-Za-z][A-Za-z0-9_-]*)\s+\S+\s+CACHE\s+BOOL\b`)
	set       = regexp.MustCompile(`(?i)\bset\s*\(\s*([A-Za-z][A-Za-z0-9_]*)\s+"?([A-Za-z0-9][A-Za-z0-9_.+-]*)"?\s*\)`)
	find      = regexp.MustCompile(`(?is)\bfind_package\s*\(\s*([A-Za-z0-9_.+${}-]+)([^()]*)`)
	pkgConfig = regexp.MustCompile(`(?is)\bpkg_(?:check_modules|search_module)\s*\(\s*[A-Za-z0-9_]+([^()]*)`)
	fetch     = regexp.MustCompile(`(?is)\bFetchContent_Declare\s*\(\s*"?([A-Za-z0-9_.-]+)([^()]*)`)
	comment   = regexp.MustCompile(`(?m)#[^\n"]*$`)
)

func read(t *project.Tree, root string) (*declared, error) {
	d := &declared{wants: native.Wants{}, values: map[string][]string{}}
	unread, err := descriptions.Each(t, root, func(name, text string) bool {
		text = comment.ReplaceAllString(text, "")
		for _, re := range []*regexp.Regexp{option, cached} {
			for _, m := range re.FindAllStringSubmatch(text, -1) {
				d.option(m[1])
			}
		}
		// What brings its own packages, and modules that look for one, would ask for more than the project does.
		if vendored(name) {
			return true
		}
		for _, m := range set.FindAllStringSubmatch(text, -1) {
			if list := d.values[m[1]]; len(list) < maxValues && !slices.Contains(list, m[2]) {
				d.values[m[1]] = append(list, m[2])
			}
		}
		for _, m := range find.FindAllStringSubmatch(text, -1) {
			for _, name := range d.expand(m[1]) {
				d.find(name, m[2])
			}
		}
		for _, m := range pkgConfig.FindAllStringSubmatch(text, -1) {
			d.modules(m[1])
		}
		for _, m := range fetch.FindAllStringSubmatch(text, -1) {
			d.fetch(m[1], m[2])
		}
		return true
	})
	for _, list := range []*[]string{&d.on, &d.off, &d.googletest, &d.fetched} {
		slices.Sort(*list)
		*list = slices.Compact(*list)
	}
	d.unread = unread
	return d, err
}

var elsewhere = regexp.MustCompile(`(?i)(?:^|/)(?:third[_-]?party|3rd[_-]?party|external|extern|vendor|deps|submodules|examples?|packaging|bindings?)/`)

func vendored(name string) bool { return elsewhere.MatchString(name) }

var (
	testWord  = []string{"TEST", "TESTS", "TESTING", "UNITTEST", "UNITTESTS", "GTEST", "TESTSUITE"}
	otherWord = []string{
		"FUZZ", "FUZZING", "BENCH", "BENCHMARK", "BENCHMARKS", "COVERAGE", "VALGRIND", "ASAN", "SANITIZER", "SANITIZERS", "PERF", "PERFORMANCE",
		"INSTALL", "INTEGRATION", "NETWORK", "ONLINE", "CUDA", "SYSTEM", "EXTERNAL", "SHARED", "STATIC", "MANUAL", "LONG", "VERBOSE", "DIR", "PATH", "FETCH", "DOWNLOAD",
	}
	notWord = []string{"NO", "DISABLE", "SKIP", "WITHOUT", "EXCLUDE"}
)

// option notes an option that decides whether tests are built, or whether a compiler's warnings are errors.
func (d *declared) option(name string) {
	words := strings.FieldsFunc(strings.ToUpper(name), func(r rune) bool { return r == '_' || r == '-' })
	has := func(list []string) bool {
		return slices.ContainsFunc(words, func(w string) bool { return slices.Contains(list, w) })
	}
	upper := strings.ToUpper(name)
	switch {
	case strings.Contains(upper, "WERROR"), strings.Contains(upper, "AS_ERROR"):
		d.off = append(d.off, name)
	case !has(testWord) || has(otherWord):
	case has(notWord):
		d.off = append(d.off, name)
	default:
		d.on = append(d.on, name)
	}
}

var word = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_+.-]*$`)

// maxValues bounds the values of a variable that are thought of.
const maxValues = 4

var variable = regexp.MustCompile(`\$\{([A-Za-z0-9_]+)\}`)

// expand gives the names that a name with at most one variable may stand for: any value that the project sets.
func (d *declared) expand(name string) []string {
	m := variable.FindStringSubmatch(name)
	if m == nil {
		return []string{strings.Trim(name, "${}")}
	}
	var list []string
	for _, v := range d.values[m[1]] {
		if full := strings.Replace(name, m[0], v, 1); word.MatchString(full) {
			list = append(list, full)
		}
	}
	return list
}

// find notes a package with its components.
func (d *declared) find(name, rest string) {
	d.wants.Add("cmake", name)
	components := false
	for w := range strings.FieldsSeq(rest) {
		switch {
		case w == "COMPONENTS" || w == "OPTIONAL_COMPONENTS" || w == "REQUIRED":
			components = true
		case strings.ToUpper(w) == w:
			components = false
		case components && word.MatchString(w) && d.wants.Known("cmake", name+":"+w):
			d.wants.Add("cmake", name+":"+w)
		}
	}
}

var moduleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_+.-]*`)

func (d *declared) modules(rest string) {
	for w := range strings.FieldsSeq(strings.ReplaceAll(rest, `"`, " ")) {
		switch w {
		case "REQUIRED", "QUIET", "IMPORTED_TARGET", "GLOBAL", "NO_CMAKE_PATH", "NO_CMAKE_ENVIRONMENT_PATH":
			continue
		}
		if name := moduleName.FindString(w); name != "" && !('0' <= name[0] && name[0] <= '9') {
			d.wants.Add("pkg", name)
		}
	}
}

func (d *declared) fetch(name, rest string) {
	lower := strings.ToLower(name)
	switch {
	case lower == "googletest" || lower == "gtest" || strings.Contains(strings.ToLower(rest), "google/googletest"):
		d.googletest = append(d.googletest, strings.ToUpper(name))
		d.wants.Add("cmake", "gtest")
	case d.wants.Known("cmake", name):
		d.wants.Add("cmake", name)
		d.fetched = append(d.fetched, name)
	default:
		d.fetched = append(d.fetched, name)
	}
}

// args tell CMake to build the tests, and to take what a project would fetch from the system if that has it.
func (d *declared) args() []string {
	args := []string{
		"-DBUILD_TESTING=ON", "-DCMAKE_COMPILE_WARNING_AS_ERROR=OFF", "-DFETCHCONTENT_TRY_FIND_PACKAGE_MODE=ALWAYS", "-DCMAKE_POLICY_VERSION_MINIMUM=3.5",
	}
	for _, o := range d.on {
		args = append(args, "-D"+o+":BOOL=ON")
	}
	for _, o := range d.off {
		args = append(args, "-D"+o+":BOOL=OFF")
	}
	return args
}

func (d *declared) notes() []string {
	list := d.unread
	for _, name := range d.fetched {
		list = append(list, name+" is fetched from the network, and is there only if the system has it")
	}
	return list
}
