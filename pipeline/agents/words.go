package agents

import (
	"path"
	"slices"
	"strings"

	"sluice/judges/agent"
	"sluice/replay"
)

// The variables by which an agent's commands name places: a session has them from its recipe.
const (
	EnvVar  = "SLUICE_ENV"
	TreeVar = "SLUICE_TREE"
)

// reportFolder is where the agent's own runs put their reports. Nothing reads them.
const reportFolder = "/tmp/report"

// Fold makes of all white space single spaces, as quotations are compared.
func Fold(s string) string { return strings.Join(strings.Fields(s), " ") }

// Printed reports whether a command of a session printed the quotation.
func Printed(turns []agent.Turn, quote string) bool {
	return Fold(quote) != "" && slices.ContainsFunc(turns, func(t agent.Turn) bool {
		return t.Kind == agent.Command && strings.Contains(Fold(t.Output.Text), Fold(quote))
	})
}

// Shell writes steps as commands that an agent could run.
func Shell(steps []replay.Step) string {
	var out []string
	for _, st := range steps {
		if st.Warm {
			continue
		}
		var words []string
		if st.Dir != "" && st.Dir != "." {
			words = append(words, "cd", word(path.Join("{tree}", st.Dir)), "&&")
		}
		for _, k := range sortedKeys(st.Env) {
			words = append(words, k+"="+word(st.Env[k]))
		}
		for _, a := range st.Args {
			words = append(words, word(a))
		}
		out = append(out, strings.Join(words, " "))
	}
	return strings.Join(out, "\n")
}

const plainBytes = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789@%+=:,./_-"

// word quotes one argument; the tokens of places become variables.
func word(s string) string {
	places := strings.NewReplacer("{tree}", "$"+TreeVar, "{env}", "$"+EnvVar, "{out}", reportFolder)
	if named := places.Replace(s); named != s {
		return `"` + places.Replace(strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "`", "\\`").Replace(s)) + `"`
	}
	if s != "" && strings.Trim(s, plainBytes) == "" {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

func sortedKeys(m map[string]string) []string {
	var out []string
	for k := range m {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}
