package gharchive

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gharchive/synth"
)

// both reads a file with the screen and without it.
func both(t interface {
	Helper()
	Fatal(args ...any)
}, in []byte) (screened, all []Find, a, b Result,
) {
	t.Helper()
	scan := func(searchAll bool) (Result, []Find) {
		var finds []Find
		res, err := Scan(context.Background(), bytes.NewReader(in), Options{searchAll: searchAll, Sink: func(_ []byte, fs []Find) error {
			finds = append(finds, fs...)
			return nil
		}})
		if err != nil {
			t.Fatal(err)
		}
		return res, finds
	}
	a, screened = scan(false)
	b, all = scan(true)
	return screened, all, a, b
}

// fragments are what texts are put together from: everything that a screen or a pattern looks at, and what comes near it.
var fragments = []string{
	"fix", "Fixes", "FIXED", "closes", "Close", "resolves", "resolved", "hotfix", "prefixes", "clos", "regression", "regressed in", "Regression introduced by",
	"introduced by", "broken since", "caused by", "correct", "bisect", "bisected to", "Bisecting found", "first bad commit", "is the first bad commit",
	"first-bad", "fixed by PR", "solved in pull request", "addressed via", "implemented in", "#", "#12", "# 12", "GH-8", "gh-9", "12", "o/r#9", "x/y#10", "PR 7",
	"https://github.com/o/r/issues/3", "https://github.com/o/r/pull/4", "https://github.com/o/r/commit/", "[#20](https://github.com/o/r/issues/20)",
	"the issue", "this bug:", "ticket", "0123456789abcdef0123456789abcdef01234567", "0123456789ABCDEF0123456789ABCDEF01234567", "89abcdef", "0123abc", "deadbeef1",
	"Fixes #12", "closes: #7", "resolves the issue #9 and #10", "fix\n#19", "close GH-8", "Fixes **#25**", "fixes <!-- x --> #1", "fixed https://github.com/o/r/issues/3",
	"fix for 0123456789abcdef0123456789abcdef01234567", "Fixes: 0123456789abcdef0123456789abcdef01234567", "bisected to 0123abcd", "0123abcd is the first bad commit", "regression introduced by 0123abcd",
	"fixed by PR 7", "closed in https://github.com/o/r/pull/4", "resolved\tvia pull request #3",
	" ", " ", " ", "  ", "\n", "\r\n", "\t", ":", ": ", ",", ".", "*", "**", "_", "`", "(", ")", "[", "<!-- x -->", "<", ">", "> ", "\"", "\\", "/", "é", "\u2028", "\x01", "\x00",
	"not", "Revert \"", "Merge ", "cherry picked from commit ", "backport", "Fixes: ", "\n\nIntroduced-by: ", "and", strings.Repeat(" ", 70), strings.Repeat("a", 50), "\f", "http://",
}

// encodeText writes a string as JSON in one of the ways in which a writer may.
func encodeText(s string, way int) string {
	var b strings.Builder
	b.WriteByte('"')
	for i, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteString(`\` + string(r))
		case r < ' ' || way%5 == 1 && i%7 == way%7 || way%5 == 2 && (r == '<' || r == '>'):
			if r == '\n' && way%3 > 0 {
				b.WriteString(`\n`)
				continue
			}
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String() + `"`
}

// aText draws a text in its JSON form.
func aText(t *rapid.T, name string) string {
	parts := rapid.SliceOfN(rapid.SampledFrom(fragments), 0, 9).Draw(t, name)
	return encodeText(strings.Join(parts, ""), rapid.IntRange(0, 34).Draw(t, name+"-way"))
}

// anEvent draws an event of a type that is searched, in the form of some era.
func anEvent(t *rapid.T) string {
	text := func(name string) string { return aText(t, name) }
	sha := fmt.Sprintf("%040x", rapid.Uint64Range(1, 99).Draw(t, "sha"))
	frame := `{"id":"%d","type":"%s","actor":{"login":"a"},"repo":{"id":1,"name":"o/r"},"payload":%s,"created_at":"2020-01-01T00:00:00Z"}`
	old := `{"created_at":"2013-01-01T00:00:00-08:00","payload":%[3]s,"type":"%[2]s","actor":"a","repository":{"id":1,"name":"r","owner":"o"},"n":%[1]d}`
	if rapid.Bool().Draw(t, "old") {
		frame = old
	}
	var kind, payload string
	switch rapid.IntRange(0, 4).Draw(t, "kind") {
	case 0:
		kind, payload = "PushEvent", fmt.Sprintf(`{"size":1,"commits":[{"sha":"%s","author":{"name":%s,"email":"x"},"message":%s}]}`, sha, text("name"), text("message"))
	case 1:
		kind, payload = "PushEvent", fmt.Sprintf(`{"size":2,"shas":[["%s","x@y",%s,"n",true],["%[1]s","x@y",%s,"n"]]}`, sha, text("one"), text("two"))
	case 2:
		kind, payload = "PullRequestEvent", fmt.Sprintf(`{"action":"closed","number":5,"pull_request":{"number":5,"title":%s,"body":%s,"merged":true,"base":{"ref":"main","repo":{"default_branch":"main"}}}}`, text("title"), text("body"))
	case 3:
		kind, payload = "IssuesEvent", fmt.Sprintf(`{"action":"opened","issue":{"number":6,"title":%s,"body":%s}}`, text("title"), text("body"))
	default:
		pr := []string{"", `"pull_request":{"url":"u","merged_at":null},`}[rapid.IntRange(0, 1).Draw(t, "pr")]
		kind, payload = "IssueCommentEvent", fmt.Sprintf(`{"action":"created","issue":{"number":6,%s"body":%s},"comment":{"id":7,"body":%s}}`, pr, text("body"), text("comment"))
	}
	return fmt.Sprintf(frame, rapid.IntRange(1, 1e9).Draw(t, "id"), kind, payload)
}

// TestScreenLosesNothing: what the screen refuses by its bytes holds no find.
func TestScreenLosesNothing(t *testing.T) {
	t.Parallel()
	finds := 0
	rapid.Check(t, func(t *rapid.T) {
		var in []byte
		for range 60 {
			e := anEvent(t)
			if !json.Valid([]byte(e)) {
				t.Fatalf("the test made no JSON: %s", e)
			}
			in = append(append(in, e...), '\n')
		}
		screened, all, _, _ := both(t, in)
		if diff := cmp.Diff(all, screened); diff != "" {
			t.Fatalf("%s\n%s", diff, in)
		}
		finds += len(all)
	})
	if finds < 10 {
		t.Errorf("only %d finds: the test shows little", finds)
	}
}

// TestScreenOnHours does the same with synthetic hours of all eras, whole and damaged, and compares the counts that do not depend on
// how far an event was read.
func TestScreenOnHours(t *testing.T) {
	t.Parallel()
	for era := synth.API2011; era <= synth.Short2025; era++ {
		var hour bytes.Buffer
		if _, err := synth.Write(&hour, synth.Config{Seed: 3, Bytes: 3 << 20, Era: era, Leads: 60}); err != nil {
			t.Fatal(err)
		}
		for _, damage := range []int{0, 300} {
			in := bytes.Clone(hour.Bytes())
			r := rand.New(rand.NewPCG(9, uint64(era)))
			for range damage {
				in[r.IntN(len(in))] = "\x00\n{}\"\\x,\xff"[r.IntN(9)]
			}
			screened, all, a, b := both(t, in)
			if diff := cmp.Diff(all, screened); diff != "" {
				t.Errorf("era %d, %d damaged bytes: %s", era, damage, diff)
			}
			a.IDs, b.IDs = nil, nil
			for _, c := range []Counts{a.Counts, b.Counts} {
				for name := range c {
					if strings.HasPrefix(name, "screened_") || name == cElsewhere {
						delete(c, name)
					}
				}
			}
			if diff := cmp.Diff(b, a); diff != "" {
				t.Errorf("era %d, %d damaged bytes: %s", era, damage, diff)
			}
			if era != synth.Short2025 && len(all) < 10 || a.Events < 100 {
				t.Errorf("era %d: %d finds in %d events show little", era, len(all), a.Events)
			}
		}
	}
}

// FuzzScanner: the scanner accepts an object exactly when encoding/json does.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{
		`{}`, `{"a":1}`, `{"id":"1","type":"x","created_at":null}`, `{"a":[1,-0.5e+7,true,false,null,{"b":[]}]}`, `{"a":"\u00e9\n\"\\"}`, `{"a":01}`, `{"a":}`, `{"a" : [ 1 , 2 ] }`,
		`{"a":"` + "\x01" + `"}`, `{"a":"\x"}`, `{"a":tru}`, `{"a":-}`, `{"a":1.}`, `{,}`, `{"a":1,}`, `{"a":[1,]}`, `{"a":"é` + "\xff" + `"}`, `[{}]`, `{"a":"12345678901234567890"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		var s scanner
		n := s.object(b)
		whole := n >= 0 && len(bytes.TrimLeft(b[max(n, 0):], " \t\r\n")) == 0
		if want := len(b) > 0 && b[0] == '{' && json.Valid(b); whole != want {
			t.Fatalf("accepted %v, encoding/json says %v: %q", whole, want, b)
		}
		if n < 0 {
			return
		}
		if !s.high && !utf8.Valid(b[:n]) {
			t.Error("bytes beyond ASCII were not noticed")
		}
		checkDecoding(t, b[:n], &s)
	})
}

// checkDecoding compares what raw finds with what encoding/json does, and sees that decoding survives.
func checkDecoding(t *testing.T, b []byte, s *scanner) {
	t.Helper()
	var members map[string]json.RawMessage
	if err := json.Unmarshal(b, &members); err != nil {
		t.Fatal(err)
	}
	for name, at := range map[string]span{"id": s.id, "type": s.kind, "created_at": s.created} {
		want, there := members[name]
		if got := bytes.TrimSpace(at.of(b)); !s.odd && (there || len(got) > 0) && !bytes.Equal(got, want) && utf8.Valid(b) {
			t.Errorf("%s is %q, want %q", name, got, want)
		}
		if got := raw(b).get(name); !s.odd && there && !bytes.Equal(got, want) && utf8.Valid(b) {
			t.Errorf("raw finds %q for %s, want %q", got, name, want)
		}
	}
	var text string
	if json.Unmarshal(members["type"], &text) == nil && !s.odd && utf8.Valid(b) && raw(b).get("type").text() != text {
		t.Errorf("type is %q, want %q", raw(b).get("type").text(), text)
	}
	_ = decode(b)
	_ = key(s.id.of(b), b)
}

// FuzzReader: whatever a file holds, reading ends without a panic, screening loses nothing, and every find has its line of evidence.
func FuzzReader(f *testing.F) {
	for era := synth.API2011; era <= synth.Short2025; era++ {
		var hour bytes.Buffer
		if _, err := synth.Write(&hour, synth.Config{Seed: 5, Bytes: 4000, Era: era, Leads: 300}); err != nil {
			f.Fatal(err)
		}
		f.Add(hour.Bytes())
	}
	f.Add([]byte(`{"id":"1","a":"https://api.{"id":"2","type":"PushEvent"}` + "\x00\x00" + `{"id":"3"}`))
	f.Fuzz(func(t *testing.T, in []byte) {
		screened, all, a, _ := both(t, in)
		if diff := cmp.Diff(all, screened); diff != "" {
			t.Error(diff)
		}
		if len(a.IDs) != a.Events {
			t.Errorf("%d events have %d ids", a.Events, len(a.IDs))
		}
	})
}
