package release

import (
	"sort"
	"strings"
	"unicode"

	"sluice/pipeline"
)

// parser is a log parser of the target and what it makes of our test ids.
type parser struct {
	name string // in the target's registry
	// key is the name under which the parser reports a test of a project below root.
	key func(root, id string) string
	// args makes of the runner's own test command one whose console output the parser reads.
	args func([]string) []string
}

// parserOf holds the target's parser of each runner.
var parserOf = map[string]parser{
	"gotest": {"parse_log_gotest", goKey, goArgs},
	"pytest": {"parse_log_pytest_v2", pytestKey, pytestArgs},
	// Its program ends with lines like pytest's when it is asked to.
	"unittest": {"parse_log_pytest_v2", pytestKey, unittestArgs},
}

// goArgs asks for a line per test instead of events.
func goArgs(args []string) []string {
	out := append([]string{}, args...)
	for i, a := range out {
		if a == "-json" {
			out[i] = "-v"
		}
	}
	return out
}

// pytestArgs asks for a summary line per test instead of a report file, and for no captured output, in which a patch
// could forge lines.
func pytestArgs(args []string) []string {
	var out []string
	for _, a := range args {
		if strings.HasPrefix(a, "--junitxml=") {
			a = "-rfEpsxX --color=no --show-capture=no"
		}
		out = append(out, strings.Fields(a)...)
	}
	return out
}

// unittestArgs asks for a line per test instead of a report file.
func unittestArgs(args []string) []string {
	out := append([]string{}, args...)
	for i, a := range out {
		if strings.HasPrefix(a, "{out}/") {
			out[i] = "-"
		}
	}
	return out
}

// goKey drops the package: the parser reads "--- PASS: TestX/sub (0.00s)" lines, which do not name it.
func goKey(_, id string) string {
	_, name, ok := strings.Cut(id, "::")
	if !ok {
		return id
	}
	return name
}

// pytestKey is what parse_log_pytest_v2 makes of "PASSED <id>": it drops colour codes ("[1m", which also stand in
// parameters such as "[10m]") and control characters, and folds white space. pytest prints ids from the folder that it
// runs in.
func pytestKey(root, id string) string {
	if root != "" {
		id = strings.TrimPrefix(id, root+"/")
	}
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
func visible(p parser, inst pipeline.Instance, c pipeline.Check) (f2p, p2p, dropped []string) {
	owners := map[string]map[string]bool{}
	var excluded []string
	for _, e := range inst.Excluded {
		excluded = append(excluded, e.Test)
	}
	for _, ids := range [][]string{c.FailToPass, c.PassToPass, inst.Flaky, excluded} {
		for _, id := range ids {
			k := p.key(inst.Recipe.Root, id)
			if owners[k] == nil {
				owners[k] = map[string]bool{}
			}
			owners[k][id] = true
		}
	}
	translate := func(ids []string) []string {
		out := []string{}
		for _, id := range ids {
			k := p.key(inst.Recipe.Root, id)
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
