package judges

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges/evidence"
)

// RubricReply answers the five questions about a regression report.
type RubricReply struct {
	Symptom     string   `json:"symptom"`
	Credible    question `json:"credible"`
	Authentic   question `json:"authentic"`
	Independent question `json:"independent"` // not derived from the answer
	NoLeak      question `json:"no_leak"`
	Sufficient  question `json:"sufficient"`
	base
}

type question struct {
	Reason string `json:"reason"`
	Quote  string `json:"quote"`
	Answer string `json:"answer"` // yes, no
}

func rubric() Spec {
	codes := []Code{
		{"all_yes", "fit", "Credible, authentic, not derived from the answer, free of leaks, sufficient.", true},
		{"not_credible", "attribution not credible", "Nobody states as a finished result that the commit is where the problem began.", false},
		{"not_authentic", "no regression", "The report tells of no observed regression.", false},
		{"derived", "derived from the answer", "The symptom comes from having read the commit.", false},
		{"leaks", "gives the answer away", "The shown report shortens the search unfairly.", false},
		{"insufficient", "too little is left", "The problem cannot be recognised from the shown report.", false},
	}
	return spec(ReportRubric, codes, func(r RubricReply, seen *evidence.Seen) error {
		report := []string{"report"}
		err := allQuoted(seen, []quotation{
			{"credible.quote", r.Credible.Quote, []string{"discussion", "attribution"}},
			{"authentic.quote", r.Authentic.Quote, report},
			{"independent.quote", r.Independent.Quote, report},
			{"no_leak.quote", r.NoLeak.Quote, report},
			{"sufficient.quote", r.Sufficient.Quote, report},
			{"quote", r.Quote, []string{"report", "discussion", "attribution"}},
		})
		if err != nil {
			return err
		}
		if want := r.whole(); r.Code != want {
			return fmt.Errorf("code %s does not agree with the five answers, which make it %s", r.Code, want)
		}
		return nil
	})
}

// whole is the code that the answers make: the first no decides.
func (r RubricReply) whole() string {
	for _, q := range []struct {
		answer, code string
	}{
		{r.Credible.Answer, "not_credible"}, {r.Authentic.Answer, "not_authentic"}, {r.Independent.Answer, "derived"},
		{r.NoLeak.Answer, "leaks"}, {r.Sufficient.Answer, "insufficient"},
	} {
		if q.answer != yes {
			return q.code
		}
	}
	return "all_yes"
}

// ScopesReply proposes other sets of files that a reasonable change could have touched.
type ScopesReply struct {
	Request      string  `json:"request"`
	Alternatives []Scope `json:"alternatives"`
	base
}

// Scope is one set of files with why.
type Scope struct {
	Rationale string   `json:"rationale"`
	Quote     string   `json:"quote"`
	Paths     []string `json:"paths"` // of the tree's listing
}

func scopes() Spec {
	codes := []Code{
		{"alternatives", "alternatives", "There are other reasonable sets of files.", true},
		{"none", "none", "Every reasonable change touches the files that the merged one touched.", true},
		{"vague", "vague", "The issue does not tell which part of the repository is meant.", false},
	}
	return spec(ScopeAlternatives, codes, func(r ScopesReply, seen *evidence.Seen) error {
		if (r.Code == "alternatives") != (len(r.Alternatives) > 0) {
			return fmt.Errorf("code %s does not go with %d alternatives", r.Code, len(r.Alternatives))
		}
		tree := lineSet(seen.Given("tree"))
		taken := map[string]string{setKey(lines(seen.Given("changed_paths"))): "that of the merged change"}
		for i, s := range r.Alternatives {
			at := fmt.Sprintf("alternatives, item %d", i+1)
			if err := s.check(tree); err != nil {
				return fmt.Errorf("%s: %w", at, err)
			}
			if err := quoted(seen, at, s.Quote, "issue"); err != nil {
				return err
			}
			key := setKey(s.Paths)
			if whose := taken[key]; whose != "" {
				return fmt.Errorf("%s: its set of paths is %s", at, whose)
			}
			taken[key] = fmt.Sprintf("that of item %d", i+1)
		}
		return quoted(seen, "quote", r.Quote, "issue")
	})
}

// check wants paths of the listing only, each once.
func (s Scope) check(tree map[string]bool) error {
	for i, p := range s.Paths {
		if !tree[p] {
			return fmt.Errorf("%q is no file of the listing", p)
		}
		if slices.Contains(s.Paths[:i], p) {
			return fmt.Errorf("%q is there twice", p)
		}
	}
	return nil
}

func lines(units []string) []string {
	var out []string
	for _, u := range units {
		for l := range strings.Lines(u) {
			if l = strings.TrimSpace(l); l != "" {
				out = append(out, l)
			}
		}
	}
	return out
}

func lineSet(units []string) map[string]bool {
	out := map[string]bool{}
	for _, l := range lines(units) {
		out[l] = true
	}
	return out
}

func setKey(paths []string) string {
	return strings.Join(slices.Compact(slices.Sorted(slices.Values(paths))), "\n")
}

// SpansReply proposes passages of a report to delete.
type SpansReply struct {
	Survey string `json:"survey"`
	Spans  []Span `json:"spans"`
	base
}

// Span is one passage; each place at which exactly this text occurs is meant.
type Span struct {
	Reason string `json:"reason"`
	Kind   string `json:"kind"` // commit, link, bisection, cause, fix, author_or_date
	Text   string `json:"text"`
}

func spans() Spec {
	codes := []Code{
		{"delete", "delete", "Passages give the answer away.", true},
		{"nothing", "nothing", "No passage does.", true},
	}
	return spec(SanitiserProposals, codes, func(r SpansReply, seen *evidence.Seen) error {
		if (r.Code == "delete") != (len(r.Spans) > 0) {
			return fmt.Errorf("code %s does not go with %d passages", r.Code, len(r.Spans))
		}
		if err := quoted(seen, "quote", r.Quote, "report"); err != nil {
			return err
		}
		report := strings.ReplaceAll(strings.Join(seen.Given("report"), "\n"), "\r\n", "\n") // as it was sent
		left, err := r.cut(report)
		if err != nil {
			return err
		}
		if !strings.Contains(fold(left), fold(r.Quote)) && strings.Contains(fold(report), fold(r.Quote)) {
			return errors.New("quote lies in a passage that is to be deleted: quote what stays")
		}
		return nil
	})
}

// cut is the report without the passages. Each must occur in it exactly, and none may reach into another one.
func (r SpansReply) cut(report string) (string, error) {
	gone := make([]bool, len(report))
	for i, s := range r.Spans {
		if blank(s.Text) {
			return "", fmt.Errorf("spans, item %d: text is empty", i+1)
		}
		found := false
		for at := 0; ; {
			j := strings.Index(report[at:], s.Text)
			if j < 0 {
				break
			}
			found = true
			for k := at + j; k < at+j+len(s.Text); k++ {
				if gone[k] {
					return "", fmt.Errorf("spans, item %d: %q overlaps with another passage", i+1, clipped(s.Text))
				}
				gone[k] = true
			}
			at += j + len(s.Text)
		}
		if !found {
			return "", fmt.Errorf("spans, item %d: %q does not occur in the report exactly so: copy it with its line breaks, without leaving anything out", i+1, clipped(s.Text))
		}
	}
	var out strings.Builder
	for i := range len(report) {
		if !gone[i] {
			out.WriteByte(report[i])
		}
	}
	return out.String(), nil
}

func clipped(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "…"
	}
	return s
}

// AlignmentReply compares a release note with what tests check.
type AlignmentReply struct {
	Behaviours []Behaviour `json:"behaviours"`
	base
}

// Behaviour is a group of what the tests check.
type Behaviour struct {
	Behaviour string `json:"behaviour"`
	TestQuote string `json:"test_quote"`
	NoteQuote string `json:"note_quote"` // empty: the note does not ask for it
	Why       string `json:"why"`
}

func alignment() Spec {
	codes := []Code{
		{"aligned", "aligned", "The note asks for everything that the tests check.", true},
		{"partly", "partly", "It asks for some of it.", false},
		{"not", "not", "It asks for none of it.", false},
	}
	return spec(NoteAlignment, codes, func(r AlignmentReply, seen *evidence.Seen) error {
		asked := 0
		for i, b := range r.Behaviours {
			at := fmt.Sprintf("behaviours, item %d", i+1)
			if err := quoted(seen, at+", test_quote", b.TestQuote, "tests"); err != nil {
				return err
			}
			if blank(b.NoteQuote) {
				continue
			}
			asked++
			if err := quoted(seen, at+", note_quote", b.NoteQuote, "note", "context"); err != nil {
				return err
			}
		}
		want := "partly"
		switch asked {
		case len(r.Behaviours):
			want = "aligned"
		case 0:
			want = "not"
		}
		if r.Code != want {
			return fmt.Errorf("code %s does not agree with the passages: %d of %d groups have one, which makes it %s", r.Code, asked, len(r.Behaviours), want)
		}
		return quoted(seen, "quote", r.Quote, "note", "context", "tests")
	})
}
