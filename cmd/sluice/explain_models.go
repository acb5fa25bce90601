package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"sluice/pipeline/judging"
	"sluice/store"
)

// ruling is what a panel of models said, as stages keep it.
type ruling struct {
	Judge     string  `json:"judge"`
	Version   int     `json:"version"`
	Code      string  `json:"code"`
	Keeps     bool    `json:"keeps"`
	Quote     string  `json:"quote"`
	Disagrees bool    `json:"disagrees,omitempty"`
	Agreement float64 `json:"agreement"`
	Votes     []vote  `json:"votes"`
}

// vote is one model's part of it.
type vote struct {
	Model   string `json:"model"`
	Sample  int    `json:"sample,omitempty"`
	Verdict *struct {
		Code   string `json:"code"`
		Quote  string `json:"quote"`
		Fields struct {
			Reasoning string `json:"reasoning"`
		} `json:"fields"`
	} `json:"verdict,omitempty"`
	Failed string   `json:"failed,omitempty"`
	Calls  []string `json:"calls"`
}

// said is what models said in a piece of evidence.
type said struct {
	Rulings []ruling          `json:"rulings"`
	Unknown map[string]string `json:"unknown"`
	Steps   []struct {
		Kind string `json:"kind"`
		Text *struct {
			Title string `json:"title"`
		} `json:"text"`
		Leaks []struct {
			Text     string `json:"text"`
			Kind     string `json:"kind"`
			Strength string `json:"strength"`
		} `json:"leaks"`
		Ruling *ruling `json:"ruling"`
		Failed string  `json:"failed"`
	} `json:"steps"`
	End, Code, Reason string
	// Setups are what agents did to find recipes, by state: evidence of its own, whose keys are the states.
	Setups map[string]setUp `json:"-"`
}

// setUp is how an agent's search for a recipe ended.
type setUp struct {
	Accepted bool    `json:"accepted"`
	Reason   string  `json:"reason"`
	Ruling   *ruling `json:"ruling"`
}

// readSaid takes the rulings out of evidence; ok only if there are any.
func readSaid(b []byte) (s said, ok bool) {
	if json.Unmarshal(b, &s.Rulings) != nil {
		s.Rulings = nil
		if json.Unmarshal(b, &s) != nil {
			return s, false
		}
	}
	if json.Unmarshal(b, &s.Setups) != nil {
		s.Setups = nil
	}
	s.Rulings = slices.DeleteFunc(s.Rulings, func(r ruling) bool { return r.Judge == "" || len(r.Votes) == 0 })
	return s, len(s.all()) > 0
}

// all are the rulings, those of a statement's steps and of set-ups too.
func (s said) all() []ruling {
	out := slices.Clone(s.Rulings)
	for _, st := range s.Steps {
		if st.Ruling != nil {
			out = append(out, *st.Ruling)
		}
	}
	for _, state := range slices.Sorted(maps.Keys(s.Setups)) {
		if r := s.Setups[state].Ruling; r != nil {
			out = append(out, *r)
		}
	}
	return out
}

// text lays it out for people.
func (s said) text() string {
	var b strings.Builder
	for _, r := range s.Rulings {
		b.WriteString(r.text())
	}
	for _, st := range s.Steps {
		if st.Text != nil {
			fmt.Fprintf(&b, "%s: %s\n", st.Kind, oneLine(st.Text.Title))
		}
		for _, l := range st.Leaks {
			fmt.Fprintf(&b, "%s: %s %s %q\n", st.Kind, l.Strength, l.Kind, oneLine(l.Text))
		}
		if st.Ruling != nil {
			b.WriteString(st.Ruling.text())
		}
		if st.Failed != "" {
			fmt.Fprintf(&b, "%s failed: %s\n", st.Kind, oneLine(st.Failed))
		}
	}
	for _, state := range slices.Sorted(maps.Keys(s.Setups)) {
		end, how := "refused", s.Setups[state]
		if how.Accepted {
			end = "accepted"
		}
		b.WriteString(oneLine(fmt.Sprintf("the set-up of %s is %s: %s", state, end, how.Reason)) + "\n")
		if how.Ruling != nil {
			b.WriteString(how.Ruling.text())
		}
	}
	if s.End != "" {
		b.WriteString(oneLine(fmt.Sprintf("the statement is %s %s %s", s.End, s.Code, s.Reason)) + "\n")
	}
	for _, part := range slices.Sorted(maps.Keys(s.Unknown)) {
		fmt.Fprintf(&b, "%s is unknown: %s\n", part, oneLine(s.Unknown[part]))
	}
	return b.String()
}

func (r ruling) text() string {
	var b strings.Builder
	end := "out"
	switch {
	case r.Disagrees:
		end = "the votes disagree"
	case r.Keeps:
		end = "keeps"
	}
	b.WriteString(oneLine(fmt.Sprintf("%s v%d: %s (%s)", r.Judge, r.Version, r.Code, end)) + "\n")
	for _, v := range r.Votes {
		who := v.Model
		if v.Sample > 0 {
			who += fmt.Sprintf(", sample %d", v.Sample)
		}
		if v.Verdict == nil {
			fmt.Fprintf(&b, "  %s failed: %s\n", oneLine(who), oneLine(v.Failed))
			continue
		}
		fmt.Fprintf(&b, "  %s: %s, since %q\n    %s\n", oneLine(who), oneLine(v.Verdict.Code), oneLine(v.Verdict.Quote), oneLine(v.Verdict.Fields.Reasoning))
	}
	return b.String()
}

// callObject is a question to a model on the candidate's account.
type callObject struct {
	Type     string          `json:"type"` // "model-call"
	Request  string          `json:"request"`
	Stage    string          `json:"stage"`
	Prompt   string          `json:"prompt"`
	Version  int             `json:"version"`
	Model    string          `json:"model"`
	State    store.CallState `json:"state"`
	Input    int64           `json:"input_tokens"`
	Cached   int64           `json:"cached_tokens"`
	Output   int64           `json:"output_tokens"`
	MicroUSD int64           `json:"micro_usd"` // that count: paid, or put aside
	Seconds  float64         `json:"seconds"`
	Note     string          `json:"note,omitempty"`
	Exchange string          `json:"exchange,omitempty"` // digest of the question and its reply
	Content  *string         `json:"content,omitempty"`  // both, with --full
}

// callLine is a question for people.
func callLine(c store.ModelCall) string {
	line := fmt.Sprintf("%s: %s v%d, %s: %s", c.Stage, c.Prompt, c.Version, c.Model, c.State)
	if c.State == store.Settled {
		line += fmt.Sprintf(", %d and %d tokens, %.1f s", c.Input, c.Output, c.Latency.Seconds())
	}
	line += ", $" + judging.USD(c.MicroUSD).String()
	if c.Note != "" {
		line += ": " + c.Note
	}
	return oneLine(line)
}

// costLine is what models cost for a candidate.
func costLine(c judging.Cost) string {
	line := fmt.Sprintf("models: $%s paid, answers: %d", c.Paid, c.Calls)
	if c.Used > 0 {
		line += fmt.Sprintf(" and %d from the store", c.Used)
	}
	if c.Lost > 0 {
		line += fmt.Sprintf("; %d uncertain, at most $%s", c.Lost, c.LostUSD)
	}
	if c.OnTheWay > 0 {
		line += fmt.Sprintf("; %d on their way, at most $%s", c.OnTheWay, c.WayUSD)
	}
	return line
}
