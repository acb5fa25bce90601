package attribution

import (
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
)

// made is an outcome of commits a, b, … where a and b landed with change 1, c with change 2 and d with none.
func made(truth, suspects string, confidence float64, took time.Duration) outcome {
	idx := gitrepo.NewIndex([]gitrepo.Change{{Head: "b", Commits: []string{"a", "b"}, Number: 1}, {Head: "c", Position: 1}})
	o := outcome{idx: idx, result: Result{Took: took}}
	for _, r := range truth {
		o.truth.Intro = append(o.truth.Intro, string(r))
	}
	for _, r := range suspects {
		o.suspect = append(o.suspect, string(r))
	}
	if suspects == "" {
		o.result.Abstained = szz.AddOnly
	}
	o.result.Confidence = confidence
	return o
}

func brief(l Level) string {
	return fmt.Sprintf("%d rows, set %d/%d %d/%d %.2f, first %d/%d %d/%d %.2f, top %d %d", l.Rows,
		l.Set.Precision.N, l.Set.Precision.Of, l.Set.Recall.N, l.Set.Recall.Of, l.Set.F1,
		l.Single.Precision.N, l.Single.Precision.Of, l.Single.Recall.N, l.Single.Recall.Of, l.Single.F1, l.Top1.N, l.Top3.N)
}

func TestScore(t *testing.T) {
	t.Parallel()
	s := score([]outcome{
		made("a", "a", 0.9, 1*time.Millisecond),    // right
		made("a", "cbda", 0.8, 2*time.Millisecond), // the change second, the commit fourth
		made("ac", "bc", 0.7, 3*time.Millisecond),  // the change at first, a commit second
		made("d", "d", 0.6, 4*time.Millisecond),    // right, of no change
		made("c", "", 0, 90*time.Millisecond),
	})
	if got, want := brief(s.Commits), "5 rows, set 4/8 4/6 0.57, first 2/4 2/6 0.40, top 2 3"; got != want {
		t.Errorf("commits: %s, want %s", got, want)
	}
	if got, want := brief(s.Changes), "4 rows, set 4/6 4/5 0.73, first 2/3 2/5 0.50, top 2 3"; got != want {
		t.Errorf("changes: %s, want %s", got, want)
	}
	if s.Answered.N != 4 || s.Numbered.N != 3 || s.Numbered.Of != 6 {
		t.Errorf("answered %+v, numbered %+v", s.Answered, s.Numbered)
	}
	if diff := cmp.Diff(map[string]int{szz.AddOnly: 1}, s.Abstentions); diff != "" {
		t.Error(diff)
	}
	var bands []string
	for _, b := range s.Calibration {
		bands = append(bands, fmt.Sprintf("%d %.1f %d/%d", b.Percent, b.Confidence, b.Right.N, b.Right.Of))
	}
	if diff := cmp.Diff([]string{"20 0.9 1/1", "40 0.8 1/2", "60 0.8 1/2", "80 0.7 1/3", "100 0.6 2/4"}, bands); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(Time{Mean: 20, P50: 3, P90: 90, P99: 90}, s.Time); diff != "" {
		t.Error(diff)
	}
	if none := score(nil); none.Commits.Top1.Low != 0 || none.Commits.Top1.High != 1 || len(none.Calibration) != 0 {
		t.Errorf("of nothing: %+v", none)
	}
}

// The order of rows changes no share; shares stay between 0 and 1, within their intervals; top-1 is at most top-3; a single
// answer never finds more than the set.
func TestScoreLaws(t *testing.T) {
	t.Parallel()
	word := rapid.StringMatching(`[abcde]{1,4}`)
	rapid.Check(t, func(t *rapid.T) {
		var rows []outcome
		for range rapid.IntRange(1, 12).Draw(t, "rows") {
			suspects := ""
			if rapid.Bool().Draw(t, "answered") {
				suspects = dedup(word.Draw(t, "suspects"))
			}
			rows = append(rows, made(dedup(word.Draw(t, "truth")), suspects, 0.5, time.Second))
		}
		s := score(rows)
		back := slices.Clone(rows)
		slices.Reverse(back)
		r := score(back)
		if brief(s.Commits) != brief(r.Commits) || brief(s.Changes) != brief(r.Changes) {
			t.Fatalf("the order counts: %s, %s", brief(s.Commits), brief(r.Commits))
		}
		for _, l := range []Level{s.Commits, s.Changes} {
			for _, x := range []Share{l.Set.Precision, l.Set.Recall, l.Single.Precision, l.Single.Recall, l.Top1, l.Top3} {
				if x.Share < 0 || x.Share > 1 || x.Share < x.Low-1e-9 && x.Of > 0 || x.Share > x.High+1e-9 || math.IsNaN(x.Share) {
					t.Fatalf("%+v", x)
				}
			}
			if l.Top1.N > l.Top3.N || l.Single.Recall.N > l.Set.Recall.N {
				t.Fatalf("%s", brief(l))
			}
		}
	})
}

func dedup(s string) string {
	var out []rune
	for _, r := range s {
		if !slices.Contains(out, r) {
			out = append(out, r)
		}
	}
	return string(out)
}
