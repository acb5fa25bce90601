package operation

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// needs reports the steps that must be there and are not.
func needs(in Input) []Finding {
	var out []Finding
	for _, n := range in.Needs {
		done := slices.ContainsFunc(in.Commands, func(c Command) bool { return c.Ended && holds(in, c, n.Words) })
		if !done {
			out = append(out, Finding{Code: SkippedRequired, Sure: true, What: "no command did it: " + n.Name})
		}
	}
	return out
}

// holds reports whether one call of a command has all words; a comment or a string that is printed has none.
func holds(in Input, c Command, words []string) bool {
	r := Reader{File: in.Source, Vars: in.Vars}
	calls, _ := r.Read(c.Text)
	return slices.ContainsFunc(calls, func(call Call) bool {
		if first := call.Args[0]; first == "echo" || first == "printf" || first == ":" {
			return false
		}
		line := " " + strings.Join(call.Args, " ") + " "
		return !slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(line, w) })
	})
}

// claims compares the report with the transcript.
func claims(in Input) []Finding {
	var out []Finding
	wrong := func(turn int, format string, args ...any) {
		out = append(out, Finding{Code: Misreported, Sure: true, Turn: turn, What: fmt.Sprintf(format, args...)})
	}
	for _, c := range in.Claims {
		ran := last(in.Commands, c.Command)
		if ran == nil {
			wrong(0, "a command that never ran: %.160q", c.Command)
			continue
		}
		if c.ExitCode != nil && (!ran.Ended || ran.ExitCode != *c.ExitCode) {
			wrong(ran.Turn, "exit code %d is claimed, the command ended with %s", *c.ExitCode, ran.ending())
		}
		seen := Counts(ran.Output)
		for _, k := range slices.Sorted(maps.Keys(c.Counts)) {
			if n, ok := seen[k]; ok && n != c.Counts[k] || !ok && c.Counts[k] != 0 {
				wrong(ran.Turn, "%d %s are claimed, the command printed %d", c.Counts[k], k, n)
			}
		}
	}
	for _, q := range in.Quotes {
		printed := slices.ContainsFunc(in.Commands, func(c Command) bool { return strings.Contains(fold(c.Output), fold(q)) })
		if fold(q) == "" || !printed {
			wrong(0, "no command printed %.160q", q)
		}
	}
	return out
}

func (c Command) ending() string {
	if !c.Ended {
		return "being stopped"
	}
	return "code " + strconv.Itoa(c.ExitCode)
}

// last finds the last run of a command, white space folded.
func last(commands []Command, text string) *Command {
	for i := len(commands) - 1; i >= 0; i-- {
		if fold(commands[i].Text) == fold(text) {
			return &commands[i]
		}
	}
	return nil
}

func fold(s string) string { return strings.Join(strings.Fields(s), " ") }

var (
	pytestLine  = regexp.MustCompile(`(?m)^(?:=+ )?((?:\d+ [a-z]+(?:, )?)+) in [0-9.]+m?s`)
	pytestCount = regexp.MustCompile(`(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected|warnings?)`)
	goResult    = regexp.MustCompile(`(?m)^\s*--- (PASS|FAIL|SKIP): `)
)

// Counts reads how many tests ended how from what a test tool printed last: pytest's summary, or the lines of `go test -v`.
func Counts(output string) map[string]int {
	counts := map[string]int{}
	if all := pytestLine.FindAllStringSubmatch(output, -1); all != nil {
		for _, m := range pytestCount.FindAllStringSubmatch(all[len(all)-1][1], -1) {
			n, _ := strconv.Atoi(m[1])
			kind := m[2]
			if kind == "error" || kind == "warning" {
				kind += "s"
			}
			counts[kind] = n
		}
		return counts
	}
	for _, m := range goResult.FindAllStringSubmatch(output, -1) {
		counts[map[string]string{"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}[m[1]]]++
	}
	return counts
}
