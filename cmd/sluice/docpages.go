package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline"
)

const generated = "<!-- Made by \"go run ./cmd/sluice docs\"; make check verifies that it is current. -->\n"

// cliPage returns docs/cli.md.
func cliPage(root *cobra.Command) []byte {
	root.InitDefaultCompletionCmd() // as Execute does
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Commands\n\n%s\n%s\n", generated, root.Short+".")
	fmt.Fprintf(&b, "\n## Flags of every command\n\n```\n%s```\n", root.PersistentFlags().FlagUsages())
	b.WriteString("\n## Exit codes\n\n| code | meaning |\n| --- | --- |\n")
	for _, m := range exitMeanings {
		fmt.Fprintf(&b, "| %d | %s |\n", m.code, m.text)
	}
	b.WriteString("\nErrors are one line on standard error: `sluice: what: where: what to do`; with `--json` an object of type `error`.\n")
	documentCommands(&b, root)
	return b.Bytes()
}

func documentCommands(b *bytes.Buffer, parent *cobra.Command) {
	for _, cmd := range parent.Commands() {
		if cmd.Hidden || cmd.Name() == "help" || parent.Name() == "completion" {
			continue
		}
		fmt.Fprintf(b, "\n## %s\n\n", cmd.CommandPath())
		text := cmd.Long
		if text == "" {
			text = cmd.Short + "."
		}
		fmt.Fprintf(b, "%s\n", strings.TrimSpace(text))
		if cmd.Runnable() {
			fmt.Fprintf(b, "\n```\n%s\n", cmd.UseLine())
			if flags := cmd.NonInheritedFlags().FlagUsages(); flags != "" {
				fmt.Fprintf(b, "\n%s", flags)
			}
			b.WriteString("```\n")
		}
		if cmd.Example != "" {
			fmt.Fprintf(b, "\nExamples:\n\n```\n%s\n```\n", strings.TrimRight(cmd.Example, "\n"))
		}
		documentCommands(b, cmd)
	}
}

// rejectionsPage returns docs/rejections.md.
func rejectionsPage(families []*pipeline.Family) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "# Reason codes\n\n%s\n", generated)
	b.WriteString("Why a candidate was rejected, or held for a person or a model. `sluice status` counts them, `sluice list --reason CODE`\n")
	b.WriteString("names the candidates, `sluice explain ID` shows the evidence, and `sluice retry` opens a candidate again.\n")
	fmt.Fprintf(&b, "\nAny stage may also hold a candidate with `%s`: its own budget is used up.\n", pipeline.BudgetCode)
	for _, f := range families {
		fmt.Fprintf(&b, "\n## %s\n", f.Name)
		for _, st := range f.Stages {
			documentStage(&b, st)
		}
	}
	return b.Bytes()
}

func documentStage(b *bytes.Buffer, st pipeline.Stage) {
	if len(st.Codes) == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Stage %s\n\n| code | verdict | meaning |\n| --- | --- | --- |\n", st.Name)
	for _, c := range st.Codes {
		verdict := "rejected"
		if c.Hold {
			verdict = "held"
		}
		fmt.Fprintf(b, "| `%s` | %s | %s |\n", c.Name, verdict, strings.ReplaceAll(c.Text, "|", `\|`))
	}
}
