package release

import (
	"sort"
	"strings"
	"unicode"

	"sluice/pipeline"
	"sluice/replay"
)

// parser is a log parser of the target and what it makes of our test ids.
type parser struct {
	name string // in the target's registry
	// key is the name under which the parser reports a test.
	key func(id string) string
	// command is the test command whose output the parser reads; targets are relative to the project's root.
	command func(r replay.Recipe, targets []string) []string
}

// parserOf holds the target's parser of each runner.
var parserOf = map[string]parser{
	"gotest": {"parse_log_gotest", goKey, goCommand},
	"pytest": {"parse_log_pytest_v2", pytestKey, pytestCommand},
}

// goKey drops the package: the parser reads "--- PASS: TestX/sub (0.00s)" lines, which do not name it.
func goKey(id string) string {
	_, name, ok := strings.Cut(id, "::")
	if !ok {
		return id
	}
	return name
}

// pytestKey is what parse_log_pytest_v2 makes of "PASSED <id>": it drops colour codes ("[1m", which also stand in
// parameters such as "[10m]") and control characters, and folds white space.
func pytestKey(id string) string {
	var b strings.Builder
	for s := id; s != ""; {
		if n := colourCode(s); n > 0 {
			s = s[n:]
			continue
		}
		if c := s[0]; c >= 32 {
			b.WriteByte(c)
		}
		s = s[1:]
	}
	return strings.Join(strings.FieldsFunc(b.String(), unicode.IsSpace), " ")
}

// colourCode returns the length of a leading "[<digits>m", 0 if there is none.
func colourCode(s string) int {
	if s[0] != '[' {
		return 0
	}
	n := 1
	for n < len(s) && s[n] >= '0' && s[n] <= '9' {
		n++
	}
	if n == 1 || n == len(s) || s[n] != 'm' {
		return 0
	}
	return n + 1
}

// visible translates a check's lists for the target's parser. Tests whose names it would mix up, among these lists and
// the quarantined tests, are dropped from both lists and returned: a name that stands for two tests proves nothing.
func visible(p parser, c pipeline.Check, flaky []string) (f2p, p2p, dropped []string) {
	owners := map[string]map[string]bool{}
	for _, ids := range [][]string{c.FailToPass, c.PassToPass, flaky} {
		for _, id := range ids {
			k := p.key(id)
			if owners[k] == nil {
				owners[k] = map[string]bool{}
			}
			owners[k][id] = true
		}
	}
	translate := func(ids []string) []string {
		out := []string{}
		for _, id := range ids {
			k := p.key(id)
			if k == "" || len(owners[k]) > 1 {
				dropped = append(dropped, id)
				continue
			}
			out = append(out, k)
		}
		sort.Strings(out)
		return out
	}
	f2p, p2p = translate(c.FailToPass), translate(c.PassToPass)
	sort.Strings(dropped)
	return f2p, p2p, dropped
}
