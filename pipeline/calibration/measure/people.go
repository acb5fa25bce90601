package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"sluice/judges"
	"sluice/pipeline/calibration"
	"sluice/pipeline/evaluate/stats"
	"sluice/pipeline/foresight"
	"sluice/store"
)

// ErrReview says that a review is none: an unknown judge, or a code that the judge does not have.
var ErrReview = errors.New("no such verdict")

// decisionPrefix begins how a person's verdict in a judge's codes is kept as a review: "judge:szz-attribution=C1".
const decisionPrefix = "judge:"

// Decision is the decision of a review that gives a judge's code.
func Decision(judge, code string) (string, error) {
	j, ok := judges.ByName(judge)
	if !ok {
		return "", fmt.Errorf("%w: no judge is called %q; there are %s", ErrReview, judge, strings.Join(names(), ", "))
	}
	var codes []string
	for _, c := range j.Codes() {
		codes = append(codes, c.Name)
	}
	if !slices.Contains(codes, code) {
		return "", fmt.Errorf("%w: the judge %s has no code %q; it has %s", ErrReview, judge, code, strings.Join(codes, ", "))
	}
	return decisionPrefix + judge + "=" + code, nil
}

func names() (out []string) {
	for _, j := range judges.Judges() {
		out = append(out, j.Name())
	}
	return out
}

// Verdict reads the decision of a review; ok is false for one of another kind.
func Verdict(decision string) (judge, code string, ok bool) {
	rest, ok := strings.CutPrefix(decision, decisionPrefix)
	judge, code, both := strings.Cut(rest, "=")
	return judge, code, ok && both
}

// Review is a person's first verdict on a candidate in the codes of a judge.
type Review struct {
	Candidate, Judge, Code, By string
}

// reviews reads the first labels: what a person said later, perhaps after a talk, is no measure of agreement.
func reviews(ctx context.Context, s *store.Store, repo string) ([]Review, error) {
	all, err := s.AllReviews(ctx, foresight.Name, repo)
	if err != nil {
		return nil, err
	}
	var out []Review
	for _, r := range all {
		judge, code, ok := Verdict(r.Decision)
		first := Review{r.Candidate, judge, code, r.By}
		if ok && !slices.ContainsFunc(out, first.again) {
			out = append(out, first)
		}
	}
	return out, nil
}

func (r Review) again(o Review) bool {
	return r.Candidate == o.Candidate && r.Judge == o.Judge && r.By == o.By
}

// Who agrees with whom, besides names of people.
const (
	Everybody = "people" // all reviewers, each verdict a case
	TheJudge  = "judge"
)

// People is the agreement of two raters in a judge's codes.
type People struct {
	Judge string `json:"judge"`
	A     string `json:"a"` // Everybody or a person
	B     string `json:"b"` // TheJudge or another person
	stats.Agreement
}

// people compares reviewers with the judges' rulings, and with each other, for every judge that has reviews. A judge's ruling of a
// candidate is the first that a stage stored. For attribution, where testimony decides and no stage asks, it is the blind one of the
// calibration, if that was about the change that the candidate names.
func (s surveyed) people(chains []calibration.Chain, blind map[string]judges.Ruling) []People {
	ruled := map[string]string{} // code by judge and candidate
	for id, list := range s.rulings {
		for _, r := range list {
			if key := r.Judge + "\x00" + id; r.Code != "" && ruled[key] == "" {
				ruled[key] = r.Code
			}
		}
	}
	for _, c := range chains {
		if key := judges.Attribution + "\x00" + c.Candidate; c.Judged && c.Proposed == c.Truth && ruled[key] == "" {
			ruled[key] = blind[c.Candidate].Code
		}
	}
	byJudge := map[string][]Review{}
	for _, r := range s.reviews {
		byJudge[r.Judge] = append(byJudge[r.Judge], r)
	}
	var out []People
	for _, judge := range sortedKeys(byJudge) {
		out = append(out, againstJudge(judge, byJudge[judge], ruled)...)
		out = append(out, amongThem(judge, byJudge[judge])...)
	}
	return out
}

func againstJudge(judge string, list []Review, ruled map[string]string) []People {
	pairs := map[string][]stats.Pair{}
	for _, r := range list {
		if code := ruled[judge+"\x00"+r.Candidate]; code != "" {
			pairs[r.By] = append(pairs[r.By], stats.Pair{A: r.Code, B: code})
			pairs[""] = append(pairs[""], stats.Pair{A: r.Code, B: code})
		}
	}
	out := []People{{judge, Everybody, TheJudge, stats.Agree(pairs[""])}}
	delete(pairs, "")
	if len(pairs) < 2 {
		return out
	}
	for _, by := range sortedKeys(pairs) {
		out = append(out, People{judge, by, TheJudge, stats.Agree(pairs[by])})
	}
	return out
}

// amongThem compares every two people who reviewed the same candidates.
func amongThem(judge string, list []Review) []People {
	byPerson := map[string]map[string]string{}
	for _, r := range list {
		if byPerson[r.By] == nil {
			byPerson[r.By] = map[string]string{}
		}
		byPerson[r.By][r.Candidate] = r.Code
	}
	people := sortedKeys(byPerson)
	var out []People
	for i, a := range people {
		for _, b := range people[i+1:] {
			var pairs []stats.Pair
			for _, id := range sortedKeys(byPerson[a]) {
				if code, both := byPerson[b][id]; both {
					pairs = append(pairs, stats.Pair{A: byPerson[a][id], B: code})
				}
			}
			if len(pairs) > 0 {
				out = append(out, People{judge, a, b, stats.Agree(pairs)})
			}
		}
	}
	slices.SortFunc(out, func(x, y People) int { return cmp.Or(cmp.Compare(x.A, y.A), cmp.Compare(x.B, y.B)) })
	return out
}
