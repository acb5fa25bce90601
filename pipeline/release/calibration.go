package release

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline"
	"sluice/pipeline/calibration"
)

// calibrated is what is known of how far the attributions of a repository can be trusted.
type calibrated struct {
	repo   string
	why    string // there is no table that belongs to this release; "" when there is
	by     string // who judged
	chains []calibration.Chain
}

// calibrations looks for each repository of the release whether the store has measured what judged it.
func calibrations(ctx context.Context, o Options, insts []pipeline.Instance) ([]calibrated, error) {
	byRepo := map[string][]pipeline.Instance{}
	for _, inst := range insts {
		byRepo[inst.Repo] = append(byRepo[inst.Repo], inst)
	}
	var out []calibrated
	for _, repo := range sortedKeys(byRepo) {
		c := calibrated{repo: repo}
		kept, ok, err := calibration.Load(ctx, o.Store, o.Family, repo)
		if err != nil {
			return nil, err
		}
		switch {
		case !ok:
			c.why = "nobody has measured it"
		case kept.Stale > 0:
			c.why = fmt.Sprintf("other evidence names the origin of its fixes since (%d)", kept.Stale)
		default:
			c.fill(kept, o.Settings[repo], byRepo[repo])
		}
		out = append(out, c)
	}
	return out, nil
}

// fill takes the table of whoever judged the release: the panel that its settings and rulings name, or rules where no model did.
func (c *calibrated) fill(k calibration.Kept, settings string, insts []pipeline.Instance) {
	public := modelsOf(settings)
	rulings, whole := attributions(insts)
	if public == nil && whole && len(rulings) == 0 {
		c.by = "rules alone"
		c.take(k, calibration.RulesName)
		return
	}
	part, ok := k.Of(judges.Attribution)
	switch {
	case !ok || part.Maker == nil:
		c.why = "no model was measured"
	case !whole, !part.Maker.Configured(public), slices.ContainsFunc(rulings, func(r judges.Ruling) bool { return !part.Maker.Made(r) }):
		c.why = "other models or prompts were measured than those that judged"
	default:
		c.by = part.Maker.String()
		c.take(k, judges.Attribution)
	}
}

func (c *calibrated) take(k calibration.Kept, judge string) {
	part, ok := k.Of(judge)
	if c.chains = part.Chains; !ok || len(part.Chains) == 0 {
		c.why = "nobody has measured it"
	}
}

// modelsOf is what the settings of a repository's last build say of models; nil for none.
func modelsOf(settings string) json.RawMessage {
	var s struct{ Models json.RawMessage }
	if json.Unmarshal([]byte(settings), &s) != nil || bytes.Equal(s.Models, []byte("null")) {
		return nil
	}
	return s.Models
}

// attributions are the rulings on attribution behind instances; whole is false when a record cannot be read.
func attributions(insts []pipeline.Instance) (out []judges.Ruling, whole bool) {
	for _, inst := range insts {
		if len(inst.Description) == 0 {
			continue
		}
		var d struct {
			Judgement *struct {
				Pair []judges.Ruling `json:"pair"`
			} `json:"judgement"`
		}
		if json.Unmarshal(inst.Description, &d) != nil {
			return nil, false
		}
		if d.Judgement == nil {
			continue
		}
		for _, r := range d.Judgement.Pair {
			if r.Judge == judges.Attribution {
				out = append(out, r)
			}
		}
	}
	return out, true
}

// cardCalibration tells how often an attribution by blame alone is wrong, before and after it was judged.
func cardCalibration(b *strings.Builder, all []calibrated) {
	b.WriteString("## Calibration\n\nWhere the authors of a fix name the change that introduced the defect, blame (SZZ) and whoever judged were asked as if they had not. " +
		"Contamination is the share of wrong changes among those that blame names, before and after they were judged; yield is the share of the right ones that stay.\n\n")
	groups := map[string][]calibrated{}
	for _, c := range all {
		if c.why != "" {
			fmt.Fprintf(b, "- %s: not calibrated: %s.\n", cell(c.repo), cell(c.why))
			continue
		}
		groups[c.by] = append(groups[c.by], c)
	}
	if slices.ContainsFunc(all, func(c calibrated) bool { return c.why != "" }) {
		b.WriteString("\n")
	}
	for _, by := range sortedKeys(groups) {
		cardTable(b, by, groups[by])
	}
}

// cardTable writes the tables of the repositories that were judged alike, and of all of them together.
func cardTable(b *strings.Builder, by string, group []calibrated) {
	heading, rule := "| judged by "+cell(by)+" |", "| --- |"
	var tables []calibration.Table
	var pooled []calibration.Chain
	for _, c := range group {
		heading, rule = heading+" "+cell(c.repo)+" |", rule+" --- |"
		tables, pooled = append(tables, calibration.Tabulate(c.chains)), append(pooled, c.chains...)
	}
	if len(group) > 1 {
		heading, rule = heading+" all |", rule+" --- |"
		tables = append(tables, calibration.Tabulate(pooled))
	}
	fmt.Fprintf(b, "%s\n%s\n", heading, rule)
	for _, line := range calibration.Lines() {
		fmt.Fprintf(b, "| %s |", line.Name)
		for _, t := range tables {
			fmt.Fprintf(b, " %s |", cell(line.Of(t)))
		}
		b.WriteString("\n")
	}
	b.WriteString("\n")
}
