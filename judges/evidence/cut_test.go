package evidence

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/prompts"
)

const mark = "0123456789abcdef"

// cutTo renders units in a slot of that kind and size, with N for the mark.
func cutTo(kind prompts.Kind, room int, units ...string) string {
	s := slot{Slot: prompts.Slot{Kind: kind, Bytes: room}, units: units, room: room}
	pieces, _ := s.render(mark)
	return strings.ReplaceAll(join(pieces), mark, "N")
}

func TestCutText(t *testing.T) {
	t.Parallel()
	text := "One paragraph.\n\nAnother one.\n\nThe third,\nof two lines.\n"
	for _, tt := range []struct {
		room int
		want string
	}{
		{len(text), text},
		{33, "One paragraph.\n\nAnother one.\n\n[N left out here, to the end: 1 of 3 paragraphs, 25 bytes]\n"},
		{16, "One paragraph.\n\n[N left out here, to the end: 2 of 3 paragraphs, 39 bytes]\n"},
		{45, "One paragraph.\n\nAnother one.\n\nThe thi\n[N left out here: 10 bytes, 2 lines or parts of lines]\n two l"},
		{8, "One \n[N left out here: 8 bytes, 1 lines or parts of lines]\nph.\n[N left out here, to the end: 2 of 3 paragraphs, 39 bytes]\n"},
	} {
		got := cutTo(prompts.Text, tt.room, text)
		if tt.room == 45 || tt.room == 8 { // where a long line is cut matters less than that the room holds; the note begins a line
			if n := evidenceBytes(got); n > tt.room+1 || !strings.Contains(got, "left out here") {
				t.Errorf("room %d: %d bytes: %q", tt.room, n, got)
			}
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("room %d: -want +got\n%s", tt.room, diff)
		}
	}
}

// evidenceBytes counts what is no note about a cut.
func evidenceBytes(text string) int {
	n := 0
	for l := range strings.Lines(text) {
		if !strings.HasPrefix(l, "[N left out") {
			n += len(l)
		}
	}
	return n
}

func TestCutList(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("long line\n", 50)
	got := cutTo(prompts.List, 240, "first", long, "third")
	want := "[N item 1 of 3]\nfirst\n[N item 2 of 3]\n" + strings.Repeat("long line\n", 6) +
		"[N left out here: 370 bytes, 37 lines or parts of lines]\n" + strings.Repeat("long line\n", 7) + "[N item 3 of 3]\nthird\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a long item: -want +got\n%s", diff)
	}
	var units []string
	for i := range 12 {
		units = append(units, fmt.Sprintf("comment %d", i))
	}
	got = cutTo(prompts.List, 115, units...)
	want = "[N item 1 of 12]\ncomment 0\n[N item 2 of 12]\ncomment 1\n[N left out for want of room: 10 of 12 items: 3, 4, 5, 6, 7, 8 and 4 more]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("many items: -want +got\n%s", diff)
	}
}

func TestCutCode(t *testing.T) {
	t.Parallel()
	text := "a\nb\nc\nd\ne\nf\n"
	got := cutTo(prompts.Code, 8, text)
	want := "a\nb\n[N left out here: 4 bytes, 2 lines or parts of lines]\ne\nf\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
	got = cutTo(prompts.Code, 10, strings.Repeat("é", 40))
	want = "éé\n[N left out here: 72 bytes, 1 lines or parts of lines]\néé\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("one long line: -want +got\n%s", diff)
	}
}

// filePatch is a file with hunks of that many added lines.
func filePatch(name string, hunks ...int) string {
	out := fmt.Sprintf("diff --git a/%[1]s b/%[1]s\n--- a/%[1]s\n+++ b/%[1]s\n", name)
	for i, n := range hunks {
		out += fmt.Sprintf("@@ -%d,0 +%d,%d @@\n", i, i, n) + strings.Repeat("+line\n", n)
	}
	return out
}

func TestCutDiff(t *testing.T) {
	t.Parallel()
	a, b, c := filePatch("a", 2, 2), filePatch("b", 2, 60), filePatch("c", 3)
	got := cutTo(prompts.Diff, len(a)+len(filePatch("b", 2))+len(c), a+b+c)
	want := a + filePatch("b", 2) + c + "[N left out for want of room: 1 of 5 hunks (1 of b)]\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("a long hunk: -want +got\n%s", diff)
	}
	got = cutTo(prompts.Diff, len(a)+20, a+b+c)
	want = a + "[N left out for want of room: 3 of 5 hunks; 2 of 3 files with all they have (b, c)]\n"
	if first := filePatch("a", 2); !strings.HasPrefix(got, first) || !strings.HasSuffix(got, "]\n") {
		t.Errorf("little room: %q, want something like %q", got, want)
	}
	got = cutTo(prompts.Diff, 150, filePatch("b", 60))
	if !strings.HasPrefix(got, "diff --git a/b b/b\n--- a/b\n+++ b/b\n@@ -0,0 +0,60 @@\n+line\n") || !strings.HasSuffix(got, "bytes, 48 lines or parts of lines]\n"+strings.Repeat("+line\n", 8)) &&
		evidenceBytes(got) > 150 {
		t.Errorf("one long hunk: %q", got)
	}
	if got := cutTo(prompts.Diff, 60, "@@ nonsense\n"+strings.Repeat("text\n", 40)); !strings.Contains(got, "left out here") {
		t.Errorf("no patch: %q", got)
	}
}

// TestSplitDiff: a patch of each kind is taken apart into what it is, byte for byte.
func TestSplitDiff(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want []string // name:hunks
		bad  bool
	}{
		"plain":           {text: "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n--- a/y\n+++ b/y\n@@ -1 +1 @@\n-a\n+b\n", want: []string{"x:1", "y:1"}},
		"deleted dashes":  {text: "--- a/x\n+++ b/x\n@@ -1,2 +1 @@\n--- a/y\n-+++ b/y\n+c\n", want: []string{"x:1"}},
		"mail":            {text: "From: A\nSubject: s\n\nwords\n---\n x | 2 +-\n\n" + filePatch("x", 1, 1) + "-- \n2.39\n\n", want: []string{"text before the patch:0", "x:2"}},
		"no newline":      {text: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n", want: []string{"x:1"}},
		"rename":          {text: "diff --git a/x b/z\nsimilarity index 90%\nrename from x\nrename to z\n" + filePatch("y", 1), want: []string{"z:0", "y:1"}},
		"removed":         {text: "diff --git a/x b/x\n--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\n", want: []string{"x:1"}},
		"binary":          {text: "diff --git a/x b/x\nindex 1..2\nGIT binary patch\nliteral 3\nabc\n\n" + filePatch("y", 1), want: []string{"x:1", "y:1"}},
		"nested":          {text: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -0,0 +1,3 @@\n+diff --git a/q b/q\n+@@ -1 +1 @@\n+ x\n", want: []string{"x:1"}},
		"trimmed blank":   {text: "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n\n-a\n+b\n", want: []string{"x:1"}},
		"too short":       {text: "--- a/x\n+++ b/x\n@@ -1,9 +1 @@\n-a\n+b\n", bad: true},
		"too long":        {text: "--- a/x\n+++ b/x\n@@ -1,1 +1,2 @@\n-a\n-b\n+c\n", bad: true},
		"strange line":    {text: "--- a/x\n+++ b/x\n@@ -1,2 +1,2 @@\n-a\nwords\n", bad: true},
		"huge count":      {text: "--- a/x\n+++ b/x\n@@ -1,99999999999999999999 +1 @@\n-a\n", bad: true},
		"merge":           {text: "diff --cc x\n--- a/x\n+++ b/x\n@@@ -1,1 -1,1 +1,1 @@@\n- a\n -b\n++c\n", bad: true},
		"prose":           {text: "words\nmore words\n", bad: true},
		"hunk of no file": {text: "@@ -1 +1 @@\n-a\n+b\n", bad: true},
		"nothing":         {text: "", bad: true},
	} {
		files, ok := splitDiff(tt.text)
		if ok == tt.bad {
			t.Errorf("%s: ok is %v", name, ok)
			continue
		}
		var got []string
		whole := ""
		for _, f := range files {
			got = append(got, fmt.Sprintf("%s:%d", f.name(), len(f.hunks)))
			whole += f.head + strings.Join(f.hunks, "")
		}
		if diff := cmp.Diff(tt.want, got); diff != "" && ok {
			t.Errorf("%s: -want +got\n%s", name, diff)
		}
		if ok && whole != tt.text {
			t.Errorf("%s: put together it is %q", name, whole)
		}
	}
}

// TestAllot: each slot has its share, and none starves another.
func TestAllot(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "slots")
		slots := make([]slot, n)
		budget := rapid.IntRange(0, 500).Draw(t, "spare")
		for i := range slots {
			slots[i] = slot{Slot: prompts.Slot{Kind: prompts.Code, Bytes: rapid.IntRange(1, 300).Draw(t, "bytes")},
				units: []string{strings.Repeat("x", rapid.IntRange(0, 600).Draw(t, "need"))}}
			budget += slots[i].Bytes
		}
		allot(budget, slots)
		sum, starved := 0, false
		for i, s := range slots {
			sum += s.room
			if s.room < min(s.need(), s.Bytes) || s.room > s.need() {
				t.Fatalf("slot %d needs %d, has a share of %d and got %d", i, s.need(), s.Bytes, s.room)
			}
			starved = starved || s.room < s.need()
		}
		if sum > budget || starved && budget-sum >= n {
			t.Fatalf("%d of %d were given, and a slot wants more: %v", sum, budget, starved)
		}
	})
}

// FuzzCut: whatever the text, each kind of cut stays in its room and shows only bytes of the text, in order.
func FuzzCut(f *testing.F) {
	f.Add("a\nb\nc\n", 3)
	f.Add(filePatch("x", 3, 4)+filePatch("y", 9), 90)
	f.Add("One.\n\nTwo.\n\nThree.", 9)
	f.Fuzz(func(t *testing.T, text string, room int) {
		room = 1 + (room&0xffff)%(len(text)+10)
		if absent([]string{text}) {
			return
		}
		for _, kind := range []prompts.Kind{prompts.Text, prompts.Diff, prompts.List, prompts.Code} {
			s := slot{Slot: prompts.Slot{Kind: kind, Bytes: room}, units: []string{text}, room: room}
			pieces, _ := s.render(mark)
			size, notes, at := 0, 0, 0
			for _, p := range pieces {
				if p.note {
					notes += len(p.text)
					continue
				}
				size += len(p.text)
				i := strings.Index(endLine(text)[at:], p.text)
				if i < 0 {
					t.Fatalf("%s: %q is not in the text after %d", kind, p.text, at)
				}
				at += i + len(p.text)
			}
			if size > room || notes > MaxNotes {
				t.Fatalf("%s: %d bytes in a room of %d, %d bytes of notes", kind, size, room, notes)
			}
		}
	})
}
