package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/judges"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/pipeline/judging"
	"sluice/store"
)

// benchDesk is a desk over a store of its own.
func benchDesk(t *testing.T, s *modeltest.Server, more ...func(*judging.Config)) (fixture, *judging.Desk) {
	t.Helper()
	st, err := store.OpenDir(t.Context(), t.TempDir(), store.Options{Clock: day})
	ok(t, err)
	t.Cleanup(func() { ok(t, st.Close()) })
	f := fixture{Store: st}
	return f, f.desk(t, s, false, more...)
}

// row is a row about attribution whose right code is label; the scripted judge is told by the text what to say.
func row(id, says string, label any) string {
	b, err := json.Marshal(map[string]any{"id": id, "judge": judges.Attribution, "label": label, "evidence": map[string]any{
		"task_text": "It says " + says + ".", "task_patch": "diff --git a/a.go b/a.go\n--- a/a.go\n+++ b/a.go\n@@ -1 +1 @@\n-package b\n+package a // here\n",
		"traced_lines": []string{"a.go:1: package a // here"}, "later_changes": []string{"L1 The first of two", "L2 The second of two"},
		"fix_text": "Repair " + id, "fix_patch": "diff --git a/a.go b/a.go\n", "fix_tests": "diff --git a/a_test.go b/a_test.go\n",
	}})
	if err != nil {
		panic(err)
	}
	return string(b)
}

// obeying answers with the code that the text says; "ORDER" says C2 when the list is turned round.
func obeying(r modeltest.Request) modeltest.Reply {
	said := strings.TrimSuffix(strings.Fields(slot(r, "task_text"))[2], ".")
	switch list := slot(r, "later_changes"); {
	case said == "FILTERED":
		return modeltest.Status(400, "content_filter", "content filter")
	case said == "ORDER" && strings.Index(list, "L2 ") < strings.Index(list, "L1 "):
		return attribute(r, "C2")
	case said == "ORDER":
		return attribute(r, "A")
	case said == "SPLIT" && r.Model == "m":
		return attribute(r, "A")
	case said == "SPLIT":
		return attribute(r, "C3")
	}
	return attribute(r, said)
}

// A file of other things ends the run, whatever its size; what it says is not kept.
func TestBenchOfNoLabels(t *testing.T) {
	t.Parallel()
	_, d := benchDesk(t, modeltest.New(t, obeying))
	_, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(strings.Repeat("x\n", 50_000)), Desk: d})
	if !errors.Is(err, ErrLabels) || !strings.Contains(err.Error(), "10001 rows are none, the last of them row 10001") {
		t.Errorf("got %v", err)
	}
	_, err = Bench(t.Context(), BenchConfig{Labels: strings.NewReader(strings.Repeat("x\n", mostBad)), Desk: d})
	ok(t, err)
}

func TestBench(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, obeying)
	f, d := benchDesk(t, s)
	rows := strings.Join([]string{
		"\ufeff" + row("right", "A", "A"), row("wrong", "A", "C2"), row("either", "C3", []string{"C2", "C3"}), "", row("filtered", "FILTERED", "A"),
		row("order", "ORDER", "A"),
		`{"judge":"szz-attribution","evidence":{"task_text":"It says A.","nowhere":"x"},"label":"A","id":"misfit"}`,
		`not a row`, row("right", "A", "A"), row("unknown", "A", "B2"), `{"judge":"nobody","evidence":{},"label":"A"}`, `{"judge":"szz-attribution"}`,
		`{"judge":"szz-attribution","evidence":{"task_text":[1]},"label":"A"}`, `{"judge":"szz-attribution","evidence":{},"label":null}`,
		row("nul", "A", "A") + "\x00", "{\"judge\":\"a\x00b\"}", `{"judge":"szz-attribution","evidence":{},"label":"A","extra":1}`, row("last", "A", "A") + row("x", "A", "A"),
		row("twice", "A", []string{"A", "C2", "A"}),
	}, "\n")
	rep, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(rows), Desk: d, Order: true})
	ok(t, err)
	got := map[string]string{}
	for _, r := range rep.Rows {
		got[fmt.Sprintf("%d %s", r.Row, r.ID)] = fmt.Sprintf("%s%s %s", r.Code, r.Failed, r.Reason)
	}
	for key, want := range map[string]string{
		"1 right": "A ", "2 wrong": "A ", "3 either": "C3 ", "5 filtered": "filtered ", "6 order": "A ", "7 misfit": "evidence ", "8 ": "row it is no row",
		"9 right": `row the id "right" is that of row 1`, "10 unknown": "row the judge szz-attribution has no code \"B2\"", "11 11": `row no judge is called "nobody"`,
		"12 12": `row "label" names no code`, "13 ": "row it is no row: want a text or a list", "14 ": "row it is no row: want a text or a list", "15 ": "row something follows", "16 ": "row it is no row",
		"17 ": `row it is no row: unknown field "extra"`, "18 ": "row something follows",
		"19 twice": `row "label" names "A" twice`,
	} {
		if !strings.HasPrefix(got[key], want) {
			t.Errorf("row %s: %q, want %q", key, got[key], want)
		}
	}
	var score BenchScore
	total := 0
	for _, j := range rep.Judges {
		total += j.Total
		if j.Judge == judges.Attribution {
			score = j
		}
	}
	if total != 18 || score.Scored != 4 || score.Accuracy.K != 3 || score.OfAll.K != 3 || score.OfAll.N != score.Total {
		t.Errorf("%d rows, %+v", total, score)
	}
	if diff := cmp.Diff(map[string]int{"filtered": 1, "evidence": 1, "row": 4}, score.Failures); diff != "" {
		t.Error(diff)
	}
	if score.Changed == nil || score.Changed.K != 1 || score.Changed.N != 4 || score.Paid == 0 {
		t.Errorf("changed %+v, $%s", score.Changed, score.Paid)
	}

	before := s.Requests()
	again, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(rows), Desk: f.desk(t, s, false), Order: true})
	ok(t, err)
	if n := s.Requests() - before; n != 1 { // the filtered one was refused without a reply, and is asked again
		t.Errorf("the second run sent %d requests", n)
	}
	for i := range again.Rows {
		again.Rows[i].Paid = rep.Rows[i].Paid
	}
	if diff := cmp.Diff(rep.Rows, again.Rows); diff != "" {
		t.Error(diff)
	}
}

// TestBenchPanel: votes that differ are counted.
func TestBenchPanel(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, obeying)
	_, d := benchDesk(t, s, func(c *judging.Config) {
		c.Models = s.Config("m", "n").Models
		c.Panels = map[string]judges.Panel{judging.DefaultPanel: {Models: []string{"m", "n"}}}
	})
	rep, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(row("a", "SPLIT", "C3") + "\n" + row("b", "A", "A")), Desk: d})
	ok(t, err)
	got := rep.Judges[0]
	if got.Scored != 2 || got.Disagree.K != 1 || got.Accuracy.K != 2 || got.Changed != nil || !rep.Rows[0].Disagrees {
		t.Errorf("%+v", got)
	}
}

// TestBenchEnds: what every row would meet ends the run; other judges' rows are passed over; nothing is too long to be read over.
func TestBenchEnds(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, obeying)
	_, d := benchDesk(t, s, func(c *judging.Config) { c.Budget.RunUSD = new(judging.USD) })
	_, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(row("a", "A", "A")), Desk: d})
	if !errors.Is(err, model.ErrBudget) {
		t.Errorf("no budget: %v", err)
	}
	f, d := benchDesk(t, s)
	if _, err = Bench(t.Context(), BenchConfig{Labels: strings.NewReader(row("a", "A", "A")), Desk: f.desk(t, s, true)}); !errors.Is(err, model.ErrNotStored) {
		t.Errorf("nothing stored: %v", err)
	}
	if _, err = Bench(t.Context(), BenchConfig{Labels: strings.NewReader(""), Desk: d, Judge: "nobody"}); !errors.Is(err, ErrReview) {
		t.Errorf("nobody: %v", err)
	}
	rep, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(row("a", "A", "A")), Desk: d, Judge: judges.PairFairness})
	if err != nil || len(rep.Rows) != 0 {
		t.Errorf("%+v, %v", rep, err)
	}
	long := io.MultiReader(strings.NewReader(`{"judge":"`), io.LimitReader(letters{}, rowBytes+1), strings.NewReader("\"}\n"+row("a", "A", "A")))
	rep, err = Bench(t.Context(), BenchConfig{Labels: long, Desk: d})
	if err != nil || len(rep.Rows) != 2 || !strings.Contains(rep.Rows[0].Reason, "longer") || rep.Rows[1].Code != "A" {
		t.Errorf("%+v, %v", rep, err)
	}
}

// TestBenchInterrupted: what was sent is waited for and kept, what was not is not sent.
func TestBenchInterrupted(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	s := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
		cancel()
		reply := obeying(r)
		reply.Wait = 20 * time.Millisecond
		return reply
	})
	f, d := benchDesk(t, s, func(c *judging.Config) { c.Endpoints[0].Concurrent = 1 })
	rows := row("a", "A", "A") + "\n" + row("b", "A", "A")
	if _, err := Bench(ctx, BenchConfig{Labels: strings.NewReader(rows), Desk: d}); !errors.Is(err, context.Canceled) {
		t.Errorf("interrupted: %v", err)
	}
	if s.Requests() != 1 {
		t.Fatalf("%d requests", s.Requests())
	}
	rep, err := Bench(t.Context(), BenchConfig{Labels: strings.NewReader(rows), Desk: f.desk(t, s, false)})
	if err != nil || rep.Judges[0].Scored != 2 || s.Requests() != 2 {
		t.Errorf("%+v, %d requests, %v", rep.Judges, s.Requests(), err)
	}
}

type letters struct{}

func (letters) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = 'x'
	}
	return len(b), nil
}

// TestScoreLaws: rows are counted once, and every failure has a kind.
func TestScoreLaws(t *testing.T) {
	t.Parallel()
	code := rapid.SampledFrom([]string{"A", "C1", "C2"})
	one := rapid.Custom(func(t *rapid.T) BenchRow {
		r := BenchRow{Label: []string{code.Draw(t, "label")}, Failed: rapid.SampledFrom([]string{"", "", "row", "busy"}).Draw(t, "failed")}
		if r.Failed == "" {
			r.Code = code.Draw(t, "code")
			r.Right = r.Code == r.Label[0]
			r.Swapped = rapid.SampledFrom([]string{"", "A", "C1"}).Draw(t, "swapped")
		}
		return r
	})
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOf(one).Draw(t, "rows")
		s := score("j", rows, true)
		failed := 0
		for _, n := range s.Failures {
			failed += n
		}
		if s.Total != len(rows) || s.Scored+failed != s.Total || s.Agreement.Cases != s.Scored || s.Agreement.Same != s.Accuracy.K || s.Changed.K > s.Changed.N {
			t.Fatalf("%+v does not add up", s)
		}
	})
}

func FuzzLabels(f *testing.F) {
	f.Add([]byte(row("a", "A", "A") + "\n\n{}\n"))
	f.Add([]byte("\xef\xbb\xbf{\"judge\":\"szz-attribution\",\"label\":[\"A\"],\"evidence\":{\"a\":[]}}"))
	f.Add([]byte("\r\n\x00\n[]"))
	f.Fuzz(func(t *testing.T, data []byte) {
		in, rows := newLabels(strings.NewReader(string(data))), 0
		for {
			l, err := in.next()
			var bad errRow
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil && !errors.As(err, &bad) {
				t.Fatalf("reading from memory: %v", err)
			}
			if err == nil && (len(l.Codes) == 0 || l.ID == "") {
				t.Fatalf("a row without a label or an id: %+v", l)
			}
			if rows++; l.Row == 0 || rows > strings.Count(string(data), "\n")+1 {
				t.Fatalf("more rows than lines: %+v", l)
			}
		}
	})
}

func TestReversed(t *testing.T) {
	t.Parallel()
	c := judges.Case{"later_changes": {"L1 a", "L2 b"}, "task_text": {"x", "y"}, "discussion": {"one"}}
	got, lists := reversed(judges.Attribution, c)
	want := judges.Case{"later_changes": {"L2 b", "L1 a"}, "task_text": {"x", "y"}, "discussion": {"one"}}
	if diff := cmp.Diff(want, got); diff != "" || !lists || c["later_changes"][0] != "L1 a" {
		t.Error(diff, lists, c)
	}
	if _, lists := reversed(judges.Attribution, judges.Case{"discussion": {"one"}}); lists {
		t.Error("a list of one has no order")
	}
}
