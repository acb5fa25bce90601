package foresight

import (
	"context"
	"strings"

	"sluice/judges"
	"sluice/pipeline"
)

// judge holds what only a model or a person can decide. It is the last stage: a change of the judge's settings reruns nothing else.
func (f *family) judge() pipeline.Stage {
	return pipeline.Stage{
		Name: "judge", Version: 4, Pool: pipeline.CPU,
		Reads: []string{evSplit, evLink, evTaskSplit, evFindings, evStatement, evPairRulings, evEnvironment, evFixRuns, evTaskRuns, evOriginRuns,
			evGold, evDecisive, evWritten, evAnnotation},
		Makes:    []string{pipeline.InstanceEvidence},
		Settings: f.set.Judge,
		Codes: []pipeline.Code{
			{Name: "needs-judge", Hold: true, Text: "Execution supports the pair; whether it is a genuine miss, rightly attributed and fairly stated is for a model or a person. `--judge models` asks models; `--judge rules` admits such candidates under the label judged=rules."},
		},
		Run: f.runJudge,
	}
}

func (f *family) runJudge(ctx context.Context, c *pipeline.Case) (pipeline.Outcome, error) {
	in, err := f.instance(ctx, c)
	if err != nil {
		return pipeline.Outcome{}, err
	}
	in.Labels["judged"] = string(f.set.Judge)
	if err := c.Write(ctx, pipeline.InstanceEvidence, in); err != nil {
		return pipeline.Outcome{}, err
	}
	if f.set.Judge == JudgeNone {
		return pipeline.Hold("needs-judge", "open: "+strings.Join(judges.Open, "; ")), nil
	}
	return pipeline.Pass(), nil
}
