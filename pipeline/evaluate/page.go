package evaluate

import (
	"fmt"
	"strings"

	"sluice/pipeline/evaluate/stats"
)

// page writes the report for people.
func (r *Report) page() []byte {
	var b strings.Builder
	model := r.Model
	if model == "" {
		model = "an unnamed model"
	}
	fmt.Fprintf(&b, "# %s on %s\n\n", cell(model), cell(r.Release.Name))
	fmt.Fprintf(&b, "Release `%s` (%s). Evaluator %d, sandbox %s.\n\n", r.Release.Digest, r.Release.Family, r.Evaluator, r.Sandbox)
	fmt.Fprintf(&b, "The release was checked here first: gold earned full credit on %d and resolved the task on %d more of %d instances; "+
		"an empty, a malformed and an unrelated patch earned nothing.\n\n", r.Preflight.Full, r.Preflight.Task, r.Preflight.Instances)
	if !r.Complete {
		fmt.Fprintf(&b, "**Incomplete:** instances without a prediction, which count as 0: %d.\n\n", len(r.IncompleteIDs))
	}
	if len(r.Ignored) > 0 {
		fmt.Fprintf(&b, "**Ignored:** predictions for %s, which the release does not have.\n\n", cell(few(r.Ignored)))
	}
	r.pageMetrics(&b)
	r.pageStates(&b)
	r.pageStrata(&b)
	r.pageInstances(&b)
	return []byte(b.String())
}

// percent writes a share.
func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// figure writes a value with its interval.
func (f Figure) String() string {
	if f.N == 0 {
		return "–"
	}
	if f.Interval == nil {
		return fmt.Sprintf("%s (n = %d)", percent(f.Value), f.N)
	}
	return fmt.Sprintf("%s [%.1f, %.1f] (%.0f of %d)", percent(f.Value), 100*f.Low, 100*f.High, f.Sum, f.N)
}

// span writes an interval.
func span(i *stats.Interval) string {
	if i == nil {
		return "–"
	}
	return fmt.Sprintf("%.1f–%.1f", 100*i.Low, 100*i.High)
}

func (r *Report) pageMetrics(b *strings.Builder) {
	b.WriteString("## Scores\n\nShares carry Wilson 95 % intervals; the bootstrap draws whole repositories.\n\n" +
		"| score | over all | without infra | mean of repositories | bootstrap | one repository left out | what |\n" +
		"| --- | --- | --- | --- | --- | --- | --- |\n")
	for _, m := range r.Metrics {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s | %s |\n", cell(m.Name), m.Figure, m.WithoutInfra, percent(m.Macro),
			span(m.Cluster), span(m.LeaveOneOut), cell(m.Text))
	}
	b.WriteString("\n")
}

func (r *Report) pageStates(b *strings.Builder) {
	b.WriteString("## States\n\n| state | instances |\n| --- | --- |\n")
	for _, s := range States {
		fmt.Fprintf(b, "| %s | %d |\n", s, r.Counts[s])
	}
	fmt.Fprintf(b, "| total | %d |\n\n", r.Total)
}

func (r *Report) pageStrata(b *strings.Builder) {
	b.WriteString("## Groups\n\n| score | by | group | value |\n| --- | --- | --- | --- |\n")
	for _, m := range r.Metrics {
		for _, s := range m.Strata {
			fmt.Fprintf(b, "| %s | %s | %s | %s |\n", cell(m.Name), cell(s.By), cell(s.Group), s.Figure)
		}
	}
	b.WriteString("\n")
}

func (r *Report) pageInstances(b *strings.Builder) {
	b.WriteString("## Instances\n\n| instance | state | checks | taken out of the patch | why |\n| --- | --- | --- | --- | --- |\n")
	for _, i := range r.Instances {
		var checks, removed []string
		for _, c := range i.Checks {
			checks = append(checks, fmt.Sprintf("[%s](%s): %s, %s of the fail-to-pass tests", cell(c.Name), c.Log, c.State, percent(c.CheckResult.Passing())))
		}
		for _, x := range i.Removed {
			removed = append(removed, fmt.Sprintf("%s (%s)", cell(x.Path), x.Why))
		}
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s |\n", cell(i.ID), i.State, strings.Join(checks, "; "), strings.Join(removed, ", "), cell(clip(i.Why)))
	}
}

// cell keeps a text from breaking its table.
func cell(s string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "\r", " ").Replace(s)
}
