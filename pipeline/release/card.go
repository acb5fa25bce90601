package release

import (
	"fmt"
	"sort"
	"strings"

	"sluice/pipeline"
	"sluice/pipeline/evaluate/stats"
	"sluice/replay"
	"sluice/store"
)

// card writes the data-set card: how many candidates there were and where they ended, what the instances are, how they
// were judged, and what a reader must know before trusting a score on them.
func card(o Options, c *collected, e export) []byte {
	var b strings.Builder
	n := count(c)
	fmt.Fprintf(&b, "# %s\n\nInstances of the family *%s*, mined and verified by sluice %s: %d.\n\n", o.Name, o.Family, o.Tool, n.Instances)
	b.WriteString("Shares carry Wilson 95 % intervals.\n\n")
	cardFunnel(&b, c.all)
	cardInstances(&b, n, c.instances)
	cardLabels(&b, c.instances)
	cardCalibration(&b, c.calibrated)
	cardExports(&b, c, e)
	fmt.Fprintf(&b, "## Files\n\n"+
		"- `%s`: everything, sealed: never show it to an agent\n- `%s`: what an agent may see\n"+
		"- `%s`: rows for SWE-bench 5; each further check has a file of its own\n- `%s`: digests, settings, seeds, what was left out\n\n",
		InstancesFile, TasksFile, SWEbenchFile, manifestFile)
	b.WriteString("A row's image holds the base state at `/testbed`, the prepared environment at `" + replay.EnvFolder + "`, and no later object.\n")
	return []byte(b.String())
}

// share writes "3 of 10 (30.0 % [10.8, 60.3])".
func share(k, n int) string {
	if n == 0 {
		return "0 of 0"
	}
	i := stats.Wilson(k, n)
	return fmt.Sprintf("%d of %d (%.1f %% [%.1f, %.1f])", k, n, 100*float64(k)/float64(n), 100*i.Low, 100*i.High)
}

// cardFunnel tells where the candidates ended.
func cardFunnel(b *strings.Builder, all []store.Candidate) {
	type end struct{ stage, state, code string }
	ends, states := map[end]int{}, map[store.State]int{}
	for _, cand := range all {
		states[cand.State]++
		if cand.State != store.Admitted {
			ends[end{cand.Stage, string(cand.State), cand.Code}]++
		}
	}
	fmt.Fprintf(b, "## Candidates\n\nAdmitted: %s.\n\n", share(states[store.Admitted], len(all)))
	if len(ends) == 0 {
		return
	}
	keys := make([]end, 0, len(ends))
	for k := range ends {
		keys = append(keys, k)
	}
	sort.Slice(keys, func(i, j int) bool {
		a, c := keys[i], keys[j]
		return a.stage < c.stage || a.stage == c.stage && (a.state < c.state || a.state == c.state && a.code < c.code)
	})
	b.WriteString("| stage | end | reason | candidates |\n| --- | --- | --- | --- |\n")
	for _, k := range keys {
		fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(k.stage), k.state, cell(k.code), share(ends[k], len(all)))
	}
	b.WriteString("\n")
}

// cardInstances tells what is in the release.
func cardInstances(b *strings.Builder, n Counts, insts []pipeline.Instance) {
	fmt.Fprintf(b, "## Instances\n\n")
	cardCounts(b, "language", n.Languages, n.Instances)
	cardCounts(b, "repository", n.Repos, n.Instances)
	b.WriteString("| check | must come to pass | must keep passing |\n| --- | --- | --- |\n")
	for _, name := range sortedKeys(n.FailToPass) {
		fmt.Fprintf(b, "| %s | %d | %d |\n", cell(name), n.FailToPass[name], n.PassToPass[name])
	}
	flaky, with, gold := 0, 0, 0
	repeats := map[string]int{}
	for _, inst := range insts {
		flaky += len(inst.Flaky)
		if len(inst.Flaky) > 0 {
			with++
		}
		if len(inst.Gold) > 0 {
			gold++
		}
		repeats[fmt.Sprint(inst.Repeats)]++
	}
	fmt.Fprintf(b, "\n- Flaky tests left out of every list: %d, in %s instances.\n", flaky, share(with, len(insts)))
	cardExcluded(b, insts)
	fmt.Fprintf(b, "- A patch on the base state that earns full credit is proven for %s instances.\n", share(gold, len(insts)))
	var r []string
	for _, k := range sortedKeys(repeats) {
		r = append(r, fmt.Sprintf("%s for %d", k, repeats[k]))
	}
	fmt.Fprintf(b, "- Runs behind every listed test: %s instances.\n\n", strings.Join(r, ", "))
}

// mostExcluded is how many tests the card names that no list has; the records name all.
const mostExcluded = 100

// cardExcluded names the tests that no list has, with the reason and what they did.
func cardExcluded(b *strings.Builder, insts []pipeline.Instance) {
	reasons, rows, all := map[string]int{}, []string{}, 0
	for _, inst := range insts {
		for _, e := range inst.Excluded {
			reasons[e.Reason]++
			if all++; all <= mostExcluded {
				rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s |\n", cell(inst.ID), cell(e.Test), cell(e.Reason), cell(e.State), cell(strings.Join(e.Outcomes, ", "))))
			}
		}
	}
	if all == 0 {
		return
	}
	b.WriteString("- Tests excluded by name, counted where it was seen:")
	for i, k := range sortedKeys(reasons) {
		fmt.Fprintf(b, "%s %d %s", []string{"", ","}[min(i, 1)], reasons[k], k)
	}
	b.WriteString(".\n\n| instance | test | reason | state | outcomes |\n| --- | --- | --- | --- | --- |\n" + strings.Join(rows, ""))
	if all > mostExcluded {
		fmt.Fprintf(b, "\n%d more are in the records of the instances.\n", all-mostExcluded)
	}
	b.WriteString("\n")
}

// cardCounts writes a table of counts.
func cardCounts(b *strings.Builder, what string, counts map[string]int, n int) {
	fmt.Fprintf(b, "| %s | instances |\n| --- | --- |\n", what)
	for _, k := range sortedKeys(counts) {
		fmt.Fprintf(b, "| %s | %s |\n", cell(k), share(counts[k], n))
	}
	b.WriteString("\n")
}

// mostValues is how many values of a label the card lists: more are measurements, not groups.
const mostValues = 12

// cardLabels writes how the instances were judged and what else is known of each: the filters of an export.
func cardLabels(b *strings.Builder, insts []pipeline.Instance) {
	counts := map[string]map[string]int{}
	for _, inst := range insts {
		for k, v := range inst.Labels {
			if counts[k] == nil {
				counts[k] = map[string]int{}
			}
			counts[k][v]++
		}
	}
	if len(counts) == 0 {
		return
	}
	b.WriteString("## Labels\n\n`judged` says who judged an instance, `achievable` whether full credit was shown to be reachable.\n\n")
	b.WriteString("| label | value | instances |\n| --- | --- | --- |\n")
	for _, k := range sortedKeys(counts) {
		if len(counts[k]) > mostValues {
			fmt.Fprintf(b, "| %s | %d different values | |\n", cell(k), len(counts[k]))
			continue
		}
		for _, v := range sortedKeys(counts[k]) {
			fmt.Fprintf(b, "| %s | %s | %s |\n", cell(k), cell(v), share(counts[k][v], len(insts)))
		}
	}
	b.WriteString("\n")
}

// cardExports tells what the SWE-bench files leave out.
func cardExports(b *strings.Builder, c *collected, e export) {
	dropped := 0
	for _, d := range e.dropped {
		dropped += len(d.Tests)
	}
	fmt.Fprintf(b, "## Left out\n\n- Admitted, but without the wanted labels: %d.\n", len(c.excluded))
	fmt.Fprintf(b, "- Rows that SWE-bench files cannot hold: %d.\n", len(e.excluded))
	fmt.Fprintf(b, "- Tests that the log parsers of SWE-bench cannot tell apart: %d.\n\nThe manifest names each.\n\n", dropped)
}

// cell keeps a text from breaking its table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(s)
}
