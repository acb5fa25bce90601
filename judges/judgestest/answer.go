package judgestest

import (
	"regexp"
	"slices"
	"strings"

	"sluice/judges"
)

type object = map[string]any

// answer is what makes a reply of that code valid, besides what fits the schema. Its code is "" where the evidence allows none that was
// asked for.
func (q Question) answer(code string) object {
	out := object{"code": code, "quote": q.Quote(q.quotable(code)...)}
	add := map[string]func(code string) object{
		judges.Attribution: q.attribution, judges.StatementClarity: q.clarity, judges.StatementLeakage: q.leakage,
		judges.Interfaces: q.interfaces, judges.SeverityAxes: q.severity, judges.RegressionVerifier: q.verifier,
		judges.ReportRubric: q.rubric, judges.ScopeAlternatives: q.scopes, judges.SanitiserProposals: q.spans, judges.NoteAlignment: q.alignment,
	}[q.Prompt]
	if add == nil {
		return out
	}
	for k, v := range add(code) {
		out[k] = v
	}
	return out
}

// quotable names the slots from which the quotation of a code may come.
func (q Question) quotable(code string) []string {
	switch q.Prompt {
	case judges.PairFairness:
		return fair(code, "fix_patch", "fix_tests", q.evidence())
	case judges.TaskValidity:
		return fair(code, "patch", "tests", q.evidence())
	case judges.Attribution:
		return []string{"traced_lines", "task_patch"}
	case judges.StatementClarity, judges.StatementLeakage:
		return []string{"statement"}
	case judges.Interfaces:
		return []string{"tests"}
	case judges.OperationCheck:
		return map[string][]string{"misreported": {"report"}, "edited_production": {"changes", "commands"}, "weakened_test": {"changes", "commands"},
			"skipped_required": {"commands", "report"}, "ok": {"commands"}}[code]
	case judges.RegressionVerifier:
		return support
	case judges.ReportRubric, judges.SanitiserProposals:
		return []string{"report"}
	case judges.ScopeAlternatives:
		return []string{"issue"}
	case judges.NoteAlignment:
		return []string{"note", "context", "tests"}
	}
	return q.evidence()
}

func fair(code, patch, tests string, all []string) []string {
	switch code {
	case "A", "B10":
		return []string{tests}
	case "B7":
		return []string{patch}
	}
	return all
}

var support = []string{"tests", "failures", "intro_patch", "fix_patch", "setup"}

func (q Question) attribution(code string) object {
	list := q.labels("later_changes")
	if code != "C1" || len(list) == 0 {
		return object{"related": []any{}, "later_change": "none"}
	}
	return object{"later_change": list[0], "related": []any{object{"change": list[0], "why": remark, "origin": true}}}
}

func (q Question) clarity(code string) object {
	out := object{"open": []any{remark}, "hint": ""}
	switch code {
	case "0":
		out["open"] = []any{}
	case "2", "3":
		out["hint"] = "Say more plainly what comes out."
	}
	return out
}

func (q Question) leakage(code string) object {
	if code == "clean" {
		return object{"hint": ""}
	}
	return object{"hint": "Say this passage in more general words."}
}

var (
	callForm = regexp.MustCompile(`\b([A-Za-z_][A-Za-z0-9_]{2,})\(`)
	pathForm = regexp.MustCompile(`(?m)^\+\+\+ b/(.+)$`)
)

// interfaces lists the first name that the tests call and the source diff holds. Where there is none, "listed" cannot be answered.
func (q Question) interfaces(code string) object {
	if code == "none" {
		return object{"interfaces": []any{}}
	}
	patch := q.Text("patch")
	path := pathForm.FindStringSubmatch(patch)
	for _, l := range q.Lines("tests") {
		for _, m := range callForm.FindAllStringSubmatch(l, -1) {
			if path == nil || marked.MatchString(l) || len(l) > 300 || !regexp.MustCompile(`\b`+m[1]+`\b`).MatchString(patch) {
				continue
			}
			return object{"interfaces": []any{object{"call": l, "name": m[1] + "(…)", "location": strings.TrimSpace(path[1]), "inputs": remark,
				"outputs": remark, "description": remark}}}
		}
	}
	return object{"interfaces": []any{}, "code": ""}
}

func (q Question) severity(string) object {
	all := q.evidence()
	return object{
		"impact":        object{"reason": remark, "quote": q.Quote(all...), "value": "broken"},
		"detectability": object{"reason": remark, "quote": q.Quote("fix_tests"), "value": "silent"},
		"reach":         object{"conditions": remark, "limiting_condition": remark, "prevalence": "", "estimated": true, "value": "narrow"},
		"mechanism":     object{"reason": remark, "quote": q.Quote(all...), "value": "incomplete_coverage"},
		"security":      object{"reason": remark, "value": "no"},
	}
}

// verifier gives each test the label of the whole.
func (q Question) verifier(code string) object {
	var tests []any
	for _, l := range q.labels("outcomes") {
		tests = append(tests, object{"test": l, "cause": remark, "quote": q.Quote(support...), "label": code})
	}
	return object{"tests": tests}
}

// rubric says no to the question that the code is about, and yes to the others.
func (q Question) rubric(code string) object {
	out := object{}
	for _, one := range []struct{ key, code string }{
		{"credible", "not_credible"}, {"authentic", "not_authentic"}, {"independent", "derived"}, {"no_leak", "leaks"}, {"sufficient", "insufficient"},
	} {
		slots, answer := []string{"report"}, "yes"
		if one.key == "credible" {
			slots = []string{"attribution", "discussion"}
		}
		if one.code == code {
			answer = "no"
		}
		out[one.key] = object{"reason": remark, "quote": q.Quote(slots...), "answer": answer}
	}
	return out
}

// scopes proposes one file that is not the merged change's only one.
func (q Question) scopes(code string) object {
	if code != "alternatives" {
		return object{"alternatives": []any{}}
	}
	changed := q.Lines("changed_paths")
	for _, path := range q.Lines("tree") {
		if len(changed) != 1 || !slices.Contains(changed, path) {
			return object{"alternatives": []any{object{"rationale": remark, "quote": q.Quote("issue"), "paths": []any{path}}}}
		}
	}
	return object{"alternatives": []any{}, "code": ""}
}

// spans deletes the last line of a report, and quotes another.
func (q Question) spans(code string) object {
	if code == "nothing" {
		return object{"spans": []any{}}
	}
	lines, keep := q.Lines("report"), q.Quote("report")
	for _, l := range slices.Backward(lines) {
		if !marked.MatchString(l) && len(l) >= 4 && !strings.Contains(l, keep) && !strings.Contains(keep, l) {
			return object{"spans": []any{object{"reason": remark, "kind": "cause", "text": l}}}
		}
	}
	return object{"spans": []any{}, "code": ""}
}

func (q Question) alignment(code string) object {
	one := func(asked bool) object {
		b := object{"behaviour": remark, "test_quote": q.Quote("tests"), "note_quote": "", "why": remark}
		if asked {
			b["note_quote"] = q.Quote("note", "context")
		}
		return b
	}
	return object{"behaviours": map[string][]any{"aligned": {one(true)}, "partly": {one(true), one(false)}, "not": {one(false)}}[code]}
}
