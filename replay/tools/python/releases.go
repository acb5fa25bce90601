package python

import (
	"regexp"
	"strconv"
	"strings"
)

// Releases of pytest that an interpreter can run: older ones rewrite assertions in a way that it does not take. era is before what
// projects of its years use went: set-up methods as nose has them went with 8.
var pytestOf = map[version]struct{ least, era string }{
	309: {"5.4", "<8"}, 311: {"6.2.5", ""}, 313: {"7.4", ""},
}

var pinned = regexp.MustCompile(`(?:==|<=|<|~=)\s*([0-9.]+)`)

// fitTool replaces a version of pytest that the interpreter cannot run by the oldest that it can, and keeps it to its era where nothing is
// said. The second is a constraint, which yields to what the project asks for.
func (l *reqList) fitTool(c choice) {
	fit, ok := pytestOf[c.version]
	if !ok {
		return
	}
	for i, r := range l.items {
		m := pinned.FindStringSubmatch(r)
		if reqName(r) != "pytest" || strings.Contains(r, ";") || m == nil || !older(m[1], fit.least) {
			continue
		}
		l.items[i] = "pytest>=" + fit.least
		l.note("%q of %s cannot run there: a later one is installed", r, "Python "+c.version.String())
	}
	if fit.era != "" {
		l.locked = append(l.locked, "pytest"+fit.era)
	}
}

// older compares versions by their numbers.
func older(a, b string) bool {
	x, y := strings.Split(strings.Trim(a, "."), "."), strings.Split(b, ".")
	for i := range max(len(x), len(y)) {
		m, n := number(x, i), number(y, i)
		if m != n {
			return m < n
		}
	}
	return false
}

func number(parts []string, i int) int {
	if i >= len(parts) {
		return 0
	}
	n, _ := strconv.Atoi(parts[i]) // digits, or what is as good as 0
	return n
}
