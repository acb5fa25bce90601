package measure

import (
	"fmt"

	"sluice/judges"
	"sluice/prompts"
)

// JudgeInfo is what there is to know of a judge before it is asked.
type JudgeInfo struct {
	Name    string        `json:"judge"`
	Purpose string        `json:"question"`
	Version int           `json:"prompt_version"`
	Masked  bool          `json:"masked"` // numbers of changes and commit ids are replaced in its evidence
	Codes   []judges.Code `json:"codes"`
	Slots   []SlotInfo    `json:"slots"`
}

// SlotInfo is one piece of a judge's evidence.
type SlotInfo struct {
	Name     string       `json:"name"`
	Kind     prompts.Kind `json:"kind"`
	Bytes    int          `json:"bytes"` // its share of the budget
	Optional bool         `json:"optional"`
}

// List describes all judges, in the order of the rubric.
func List() ([]JudgeInfo, error) {
	var out []JudgeInfo
	for _, j := range judges.Judges() {
		p, err := prompts.Load(j.Name())
		if err != nil {
			return nil, fmt.Errorf("listing judges: %w", err)
		}
		info := JudgeInfo{j.Name(), p.Purpose, p.Version, p.Mask, j.Codes(), nil}
		for _, s := range p.Slots {
			info.Slots = append(info.Slots, SlotInfo{s.Name, s.Kind, s.Bytes, s.Optional})
		}
		out = append(out, info)
	}
	return out, nil
}
