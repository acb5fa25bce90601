package judges

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// addedLines is a patch of one file that brings lines; changedLines is one that brings them in the place of others.
func addedLines(name, lines string) string { return changedLines(name, "", lines) }

func changedLines(name, old, lines string) string {
	var b strings.Builder
	for l := range strings.Lines(old) {
		b.WriteString("-" + l)
	}
	for l := range strings.Lines(lines) {
		b.WriteString("+" + l)
	}
	head := fmt.Sprintf("@@ -1,%d +1,%d @@\n", strings.Count(old, "\n"), strings.Count(lines, "\n"))
	return "--- a/" + name + "\n+++ b/" + name + "\n" + head + b.String()
}

func pairWith(edit func(*Pair)) Pair {
	p := Pair{
		Task:      Change{Title: "Add a player", TestPaths: []string{"player_test.go"}, TestCode: 1},
		Fix:       Change{Title: "Play the last buffer", Body: "It was lost.", TestPaths: []string{"mix/mixer_test.go"}, TestCode: 1, SourcePaths: []string{"mix/mixer.go"}},
		Statement: Statement{Title: "Add a player", Body: "It plays all files of the list that people give it, one after the other."},
	}
	edit(&p)
	return p
}

func TestExamine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		edit func(*Pair)
		want []string // name, code, quotation
	}{
		{"nothing", func(*Pair) {}, nil},
		{"another language", func(p *Pair) {
			p.Statement = Statement{Title: "Player", Body: "Der Player spielt alle Dateien, die in der Liste sind, und wird nicht angehalten.\n`the code is`"}
		}, []string{"another-language B9 Der Player spielt alle Dateien, die in der Liste sind, und wird nicht angehalten."}},
		{"a link", func(p *Pair) {
			p.Statement = Statement{Title: "Add a player", Body: "See https://example.org/x for it."}
		},
			[]string{"link-only B3 https://example.org/x"}},
		{"a link beside words", func(p *Pair) { p.Statement.Body += " https://example.org/x" }, nil},
		{"tests of another module", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "func drain() { flushBuffer() }\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "drain()\n") + addedLines("net/socket_test.go", "listen()\n")
		}, []string{"unrelated-tests B1 net/socket_test.go"}},
		{"tests elsewhere that use the source", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "func drain() { flushBuffer() }\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "drain()\n") + addedLines("net/socket_test.go", "flushBuffer()\n")
		}, nil},
		{"numbered tests", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "func drain() {}\n")
			p.Fix.TestPatch = addedLines("tests/test1.go", "x()\n") + addedLines("tests/test2.go", "y()\n")
		}, nil},
		{"a name to guess", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "func drainBuffer() int { return 1 }\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "assert(drainBuffer() == 1)\n")
		}, []string{"implicit-name B2 assert(drainBuffer() == 1)"}},
		{"a name of before", func(p *Pair) {
			p.Fix.SourcePatch = changedLines("mix/mixer.go", "func drainBuffer()\n", "func drainBuffer() int { return 1 }\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "assert(drainBuffer() == 1)\n")
		}, nil},
		{"a name of the statement", func(p *Pair) {
			p.Statement.Body += " Call it drainBuffer."
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "func drainBuffer() int { return 1 }\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "assert(drainBuffer() == 1)\n")
		}, nil},
		{"a name that the tree knows", func(p *Pair) {
			p.Known = func(name string) bool { return name == "drainBuffer" }
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "drainBuffer(1)\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "assert(drainBuffer() == 1)\n")
		}, nil},
		{"a variable of the test's own", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "lastBuffer := 1\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "lastBuffer := f()\nassert(lastBuffer == 1)\n")
		}, nil},
		{"a text to guess", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("mix/mixer.go", "return errors.New(\"mixer has lost a buffer\")\n")
			p.Fix.TestPatch = addedLines("mix/mixer_test.go", "if err.Error() == \"mixer has lost a buffer\" {\n")
		}, []string{"implicit-text B2 if err.Error() == \"mixer has lost a buffer\" {"}},
		{"tests inside of Rust", func(p *Pair) {
			p.Fix.SourcePatch = addedLines("src/mixer.rs", "fn f() {}\n#[cfg(test)]\nmod tests {}\n")
		}, []string{"inline-tests B7 #[cfg(test)]"}},
		{"a doctest", func(p *Pair) { p.Fix.SourcePatch = addedLines("mixer.py", "    >>> mix(1)\n    2\n") }, []string{"inline-tests B7 >>> mix(1)"}},
		{"a doctest of before", func(p *Pair) { p.Fix.SourcePatch = changedLines("mixer.py", "    >>> mix(1)\n", "    # gone\nx = 1\n") }, nil},
		{"a revert for taste", func(p *Pair) {
			p.Fix.Title, p.Fix.Body = "Revert \"Crash less\"", "There was no consensus on it.\n"
		}, []string{"revert-for-taste unpredictable There was no consensus on it."}},
		{"a revert for harm", func(p *Pair) {
			p.Fix.Title, p.Fix.Body = "Revert \"Play faster\"", "There was no consensus, and it crashes.\n"
		}, nil},
		{"a revert without reason", func(p *Pair) { p.Fix.Title, p.Fix.Body = "Revert \"Play faster\"", "" }, nil},
		{"a dependency", func(p *Pair) { p.Fix.Title, p.Fix.SourcePaths = "Bump zlib to 1.3", []string{"go.mod", "go.sum"} },
			[]string{"dependency-bump not_a_bug Bump zlib to 1.3"}},
		{"a manifest and code", func(p *Pair) { p.Fix.Title, p.Fix.SourcePaths = "Bump zlib to 1.3", []string{"go.mod", "mix/mixer.go"} }, nil},
		{"documents", func(p *Pair) { p.Fix.SourcePaths = []string{"docs/faq.rst", "CHANGELOG.md", "README"} }, []string{"documentation-only not_a_bug docs/faq.rst"}},
		{"what is built with a text file", func(p *Pair) { p.Fix.SourcePaths = []string{"CMakeLists.txt"} }, nil},
		{"comments", func(p *Pair) {
			p.Fix.SourcePatch = changedLines("mix/mixer.go", "x := 1 // on\n// one\n", "x := 1 // one\n/* two */\n")
		}, []string{"documentation-only not_a_bug mix/mixer.go"}},
		{"a comment and a mark", func(p *Pair) {
			p.Fix.SourcePatch = changedLines("mix/mixer.go", "x := a+b // on\n", "x := a-b // one\n")
		}, nil},
		{"facts", func(p *Pair) { p.Fix.Formatting, p.Task.Formatting, p.Moved = Yes, Yes, Yes },
			[]string{"formatting-only not_a_bug Play the last buffer", "introducer-formats C2 Add a player", "introducer-moves C2 Add a player"}},
		{"facts against", func(p *Pair) { p.Fix.Formatting, p.Task.Formatting, p.Moved = No, No, No }, nil},
		{"a sweep", func(p *Pair) { p.Task.Files, p.Task.Lines = 120, 300 }, []string{"introducer-sweeps C2 Add a player"}},
		{"a large change", func(p *Pair) { p.Task.Files, p.Task.Lines = 120, 30000 }, nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, f := range Examine(pairWith(tt.edit)) {
				if !f.Keeps {
					t.Errorf("%s rejects", f.Name)
				}
				got = append(got, f.Name+" "+f.Code+" "+f.Quote)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"Corrige une erreur dans le calcul de la taille pour les fichiers qui sont vides":                                   "French",
		"Se corrige el error que aparece cuando los archivos están vacíos, y ya no se cierra para el usuario":               "Spanish",
		"Correção do erro que ocorre quando os ficheiros estão vazios e não há mais espaço, para os usuários":               "Portuguese",
		"Corregge un errore che viene segnalato quando gli elementi della lista non sono più presenti nella vista":          "Italian",
		"Het programma stopt niet meer wanneer een bestand leeg is, en dat wordt nu ook met een test bewaakt":               "Dutch",
		"Poprawia błąd, który się pojawia przy pustych plikach, oraz nie pozwala na to, że program jest zamykany":           "Polish",
		"Rättar ett fel som är synligt när filen är tom, och det är inte längre så att programmet stannar för en användare": "Swedish",
		"Boş dosyalar için oluşan bir hata düzeltildi ve daha sonra bu dosya için yeni bir test eklendi":                    "Turkish",
		"Fix the crash in the parser of `der die das und ist nicht ein` when a file is empty":                               "",
		"Add de_DE, fr_FR, es_ES: der, le, el": "",
		"Merge pull request from die/das-und":  "",
		"feat(i18n): translate \"der Benutzer ist nicht da\" and the other messages that are shown to users when they are new": "",
		"": "",
	} {
		if got, _ := language(text); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// Whatever the texts hold, each finding has a judge, a code and a quotation from the evidence, and those that reject come first.
func TestFindingsAreWhole(t *testing.T) {
	t.Parallel()
	words := rapid.SampledFrom([]string{"Revert", "consensus", "der die das und ist nicht ein", "https://a.b/c", "![x](y.png)", "fix", "\n", "bump", "#[test]", "assert(drainBuffer() == 1)", "-x", "+y", "@@ -1,9 +1,9 @@\n", "--- a/x.rs\n+++ b/x.rs\n"})
	text := rapid.Custom(func(t *rapid.T) string { return strings.Join(rapid.SliceOf(words).Draw(t, "words"), " ") })
	rapid.Check(t, func(t *rapid.T) {
		paths := rapid.SliceOfN(rapid.SampledFrom([]string{"a/b_test.go", "go.mod", "docs/x.md", "src/x.rs"}), 0, 3)
		change := func() Change {
			return Change{Title: text.Draw(t, "title"), Body: text.Draw(t, "body"), TestPaths: paths.Draw(t, "tests"), SourcePaths: paths.Draw(t, "sources"),
				SourcePatch: text.Draw(t, "patch"), TestPatch: text.Draw(t, "test patch"), Closes: rapid.SliceOf(rapid.Int()).Draw(t, "closes"),
				Files: rapid.IntRange(0, 99).Draw(t, "files"), Lines: rapid.IntRange(0, 99).Draw(t, "lines"), Formatting: Fact(rapid.IntRange(0, 2).Draw(t, "fact"))}
		}
		p := Pair{Task: change(), Fix: change(), Statement: Statement{Title: text.Draw(t, "s"), Body: text.Draw(t, "b")}}
		evidence := strings.Join([]string{p.Task.text(), p.Fix.text(), p.Statement.Text(), p.Fix.SourcePatch, p.Fix.TestPatch,
			strings.Join(append(append(p.Task.TestPaths, p.Fix.TestPaths...), p.Fix.SourcePaths...), "\n")}, "\n")
		notes := false
		for _, f := range Examine(p) {
			if !answers(f) || f.Name == "" || !strings.Contains(evidence, f.Quote) {
				t.Fatalf("%+v", f)
			}
			if notes && !f.Keeps {
				t.Fatalf("%+v comes after a note", f)
			}
			notes = f.Keeps
		}
	})
}

// answers reports whether a finding's code is one that its judge may give.
func answers(f Finding) bool {
	j, ok := ByName(f.Judge)
	return ok && slices.ContainsFunc(j.Codes(), func(c Code) bool { return c.Name == f.Code && !c.Keeps })
}

func TestCompareRules(t *testing.T) {
	t.Parallel()
	find := func(judge, code string) Finding { return Finding{Judge: judge, Code: code} }
	findings := map[string][]Finding{
		"a": {find(PairFairness, "B1"), find(PairFairness, "B2"), find(PairFairness, "B2")},
		"b": {find(PairFairness, "B7")},
		"d": {find(PairFairness, "B1")}, // no ruling
		"e": {find(PairEligibility, "not_a_bug")},
	}
	rulings := map[string][]Ruling{
		"a": {{Judge: PairFairness, Code: "B2"}},
		"b": {{Judge: PairFairness, Code: "A", Keeps: true}},
		"c": {{Judge: PairFairness, Code: "B4"}, {Judge: PairEligibility, Code: "clean", Keeps: true}},
		"e": {{Judge: PairEligibility, Code: "not_a_bug"}, {Judge: PairFairness}}, // the second is not complete
	}
	want := []Comparison{
		{Judge: PairEligibility, Candidates: 2, Spoke: 1, Agreed: 1, Confusion: []Confusion{{"", "clean", 1}, {"not_a_bug", "not_a_bug", 1}}},
		{Judge: PairFairness, Candidates: 3, Spoke: 2, Agreed: 1, Contra: 1, Missed: 1,
			Confusion: []Confusion{{"", "B4", 1}, {"B1", "B2", 1}, {"B2", "B2", 1}, {"B7", "A", 1}}},
	}
	got := CompareRules(findings, rulings)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if share, ok := got[1].Agreement(); !ok || share != 0.5 {
		t.Errorf("agreement %v %v", share, ok)
	}
	if _, ok := (Comparison{}).Agreement(); ok {
		t.Error("agreement of nothing")
	}
}

// TestStops: the frequent words of other languages are none of English's, and none that programs and their texts are full of.
func TestStops(t *testing.T) {
	t.Parallel()
	programs := wordSet("die do no in data per main val var if for else as is a on to or")
	for lang, words := range stops {
		for w := range words {
			if lang != "English" && (stops["English"][w] || programs[w]) {
				t.Errorf("%s: %q tells nothing", lang, w)
			}
		}
	}
}
