package sanitise

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestPropose(t *testing.T) {
	t.Parallel()
	const text = "Déjà vu: the mixer of src/mix.c loses the last buffer. The mixer is loud."
	at := strings.Index(text, "src/mix.c")
	for _, tt := range []struct {
		name      string
		proposals []Proposal
		want      string
		refused   []string
	}{
		{"none", nil, text, nil},
		{"by text", []Proposal{{Text: "of src/mix.c ", Reason: "names the file"}}, "Déjà vu: the mixer loses the last buffer. The mixer is loud.", nil},
		{"by range", []Proposal{{Start: at, End: at + 9}}, "Déjà vu: the mixer of  loses the last buffer. The mixer is loud.", nil},
		{"by both", []Proposal{{Start: at, End: at + 9, Text: "src/mix.c"}}, "Déjà vu: the mixer of  loses the last buffer. The mixer is loud.", nil},
		{"overlapping", []Proposal{{Text: "of src/mix.c ", Reason: "a"}, {Text: "src/mix.c loses", Reason: "b"}},
			"Déjà vu: the mixer  the last buffer. The mixer is loud.", nil},
		{"both disagree", []Proposal{{Start: at, End: at + 8, Text: "src/mix.c"}}, text, []string{Disagrees}},
		{"outside", []Proposal{{Start: 70, End: 700}, {Start: -1, End: 3}, {Start: 5, End: 5}, {Start: 6, End: 5}}, text, []string{Outside, Outside, Outside, Outside}},
		{"inside of a rune", []Proposal{{Start: 1, End: 2}}, text, []string{SplitRune}},
		{"not there", []Proposal{{Text: "src/mix.h"}}, text, []string{NotFound}},
		{"neither", []Proposal{{Reason: "all of it"}}, text, []string{NoRange}},
		{"short and in many places", []Proposal{{Text: "mixer"}}, text, []string{Vague}},
		{"long and in two places", []Proposal{{Text: "he mixer "}}, "Déjà vu: tof src/mix.c loses the last buffer. Tis loud.", nil},
		{"too much", []Proposal{{Text: "loses the last buffer. The mixer is loud."}, {Text: "nowhere"}}, text, []string{NotFound, TooMuch}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := NewDraft(text)
			var refused []string
			for _, r := range d.Propose(tt.proposals, 0.5) {
				refused = append(refused, r.Code)
			}
			r := d.Result()
			if diff := cmp.Diff(tt.want, r.Text); diff != "" {
				t.Error(diff)
			}
			if diff := cmp.Diff(tt.refused, refused); diff != "" {
				t.Error(diff)
			}
			check(t, text, r)
		})
	}
}

// Every proposal is refused once, also where there are too many and they want too much.
func TestTooManyProposalsForTooMuch(t *testing.T) {
	t.Parallel()
	const text = "It stops in the mixer."
	counts := map[string]int{}
	for _, r := range NewDraft(text).Propose(slices.Repeat([]Proposal{{Text: text}}, maxProposals+3), 0.5) {
		counts[r.Code]++
	}
	if diff := cmp.Diff(map[string]int{TooMuch: maxProposals, TooMany: 3}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestProposalsAfterRules(t *testing.T) {
	t.Parallel()
	const text = "It stops since abc1234 in the mixer of src/mix.c every time."
	d := Report(text, Answer{})
	if refused := d.Propose([]Proposal{{Text: " since  in the mixer of src/mix.c", Reason: "where it is"}}, 0.9); refused != nil {
		t.Fatal(refused)
	}
	r := d.Result()
	if r.Text != "It stops every time." {
		t.Errorf("got %q", r.Text)
	}
	check(t, text, r)
	var by []string
	for _, x := range r.Deleted {
		by = append(by, x.By+" "+x.Text)
	}
	if diff := cmp.Diff([]string{"model  since ", "rule abc1234", "model  in the mixer of src/mix.c"}, by); diff != "" {
		t.Error(diff)
	}
}

func TestManyProposals(t *testing.T) {
	t.Parallel()
	d := NewDraft(strings.Repeat("abcdefgh ", 1000))
	refused := d.Propose(make([]Proposal, maxProposals+5), 1)
	if len(refused) != maxProposals+5 || refused[len(refused)-1].Code != TooMany {
		t.Errorf("%d refused, the last for %q", len(refused), refused[len(refused)-1].Code)
	}
	if got := NewDraft("abcdefghx abcdefgh").Propose([]Proposal{{Text: "abcdefgh", Reason: strings.Repeat("ä", 400)}}, 1); got != nil {
		t.Error(got)
	}
}

var pieces = rapid.SampledFrom([]string{"It stops", ". ", "\n", "\n\n", " abc1234 ", " 0123456789abcdef0123456789abcdef01234567 ", "bisected to ", "git bisect bad\n", "commit abc1234\n",
	"Author: A\n", "    text\n", "diff --git a/x b/x\n", "--- a/x\n", "+++ b/x\n", "@@ -1 +1 @@\n", "+y\n", "-z\n", "```\n", "#12", "(#3)", "https://h/o/r/pull/1 ", "[x](https://h/o/r/pull/1)",
	"Fixes #12\n", "<!--", "-->", "> ", "- ", "é", "\r\n", "Signed-off-by: A <a@b.c>\n", "reverting commit 1", " PR 4711 ", "# first bad commit: [abc1234] x\n", "\xff", "#0  0x1f in f ()\n"})

func TestReportOnlyDeletes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(pieces).Draw(t, "text"), "")
		d := Report(text, answer)
		law(t, text, d)
		var proposals []Proposal
		for range rapid.IntRange(0, 4).Draw(t, "proposals") {
			p := Proposal{Start: rapid.IntRange(-1, len(text)+1).Draw(t, "start"), End: rapid.IntRange(-1, len(text)+1).Draw(t, "end"),
				Reason: rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "reason")}
			if rapid.Bool().Draw(t, "text too") {
				p.Text = pieces.Draw(t, "piece")
			}
			proposals = append(proposals, p)
		}
		before := len(d.Text())
		d.Propose(proposals, 0.4)
		law(t, text, d)
		if float64(before-len(d.Text())) > 0.4*float64(before) {
			t.Fatalf("a model took %d of %d bytes", before-len(d.Text()), before)
		}
	})
}

// law: deletions only, and no whole id, no link and no number of the answer is left.
func law(t *rapid.T, text string, d *Draft) {
	check(t, text, d.Result())
	for _, left := range []string{"0123456789abcdef0123456789abcdef01234567", "/pull/1", "# first bad commit", "PR 4711"} {
		if strings.Contains(d.Text(), left) {
			t.Fatalf("%q is left in %q of %q", left, d.Text(), text)
		}
	}
}

// Nothing that a report has lost comes back when it is sanitised again.
func FuzzReport(f *testing.F) {
	f.Add(transcript)
	f.Add(patched)
	f.Add("\xff#1\r\n`")
	f.Fuzz(func(t *testing.T, text string) {
		d := Report(text, answer)
		check(t, text, d.Result())
		Remains(d.Text())
		d.Propose([]Proposal{{Text: text}, {Start: 1, End: 2}, {Start: 0, End: len(text) / 2}}, 0.5)
		check(t, text, d.Result())
	})
}
