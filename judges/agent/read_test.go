package agent

import (
	"strings"
	"testing"
	"unicode/utf8"

	"sluice/judges/reply"
)

func TestRead(t *testing.T) {
	t.Parallel()
	schema, err := reply.Compile(testSchema)
	if err != nil {
		t.Fatal(err)
	}
	report := `{"reasoning":"r","done":true}`
	for _, tt := range []struct{ name, text, command, report, want string }{
		{"a command", "Let me look.\n```sh\nls -la\n```", "ls -la", "", ""},
		{"bash", "```bash\nls\n```\nI wait.", "ls", "", ""},
		{"no language", "```\nls\n```", "ls", "", ""},
		{"tildes", "~~~sh\nls\n~~~", "ls", "", ""},
		{"several lines", "```sh\ncd a\n\nls\n```", "cd a\n\nls", "", ""},
		{"fences of four", "````sh\ncat <<E\n```\nE\n````", "cat <<E\n```\nE", "", ""},
		{"CRLF", "x\r\n```sh\r\nls\r\n```\r\n", "ls", "", ""},
		{"thoughts", "<think>```sh\nrm -rf /\n```</think>\n```sh\nls\n```", "ls", "", ""},
		{"a report", "Done.\n```json\n" + report + "\n```", "", report, ""},
		{"a bare report", " " + report + "\n", "", report, ""},
		{"two blocks", "```sh\nls\n```\n```sh\npwd\n```", "", "", "more than one"},
		{"a command and a report", "```sh\nls\n```\n```json\n" + report + "\n```", "", "", "more than one"},
		{"none", "I would run ls.", "", "", "no fenced block"},
		{"inline code", "run `ls`", "", "", "no fenced block"},
		{"open", "```sh\nls", "", "", "not closed"},
		{"empty", "```sh\n\n```", "", "", "empty"},
		{"nothing", "", "", "", "no fenced block"},
		{"another language", "```python\nprint(1)\n```", "", "", "neither"},
		{"too long", "```sh\n" + strings.Repeat("x", 20_000) + "\n```", "", "", "longer"},
		{"a bidi mark", "```sh\nls \u202e\n```", "", "", "character"},
		{"a NUL", "```sh\nls \x00\n```", "", "", "character"},
		{"a tag", "<bash>ls</bash>", "", "", "no fenced block"},
		{"a report of another form", "```json\n{\"done\":true}\n```", "", "", "reasoning"},
		{"a report with a string for a boolean", "```json\n{\"reasoning\":\"r\",\"done\":\"true\"}\n```", "", "", "done"},
		{"a report with more", "```json\n{\"reasoning\":\"r\",\"done\":true,\"x\":1}\n```", "", "", "x"},
		{"a broken report", "```json\n{\"reasoning\":\n```", "", "", "JSON"},
	} {
		a, err := read(tt.text, schema)
		said := ""
		if err != nil {
			said = err.Error()
		}
		if tt.want == "" && (err != nil || a.command != tt.command || string(a.report) != tt.report) || tt.want != "" && !strings.Contains(said, tt.want) {
			t.Errorf("%s: got %+v, %q", tt.name, a, said)
		}
		if strings.Contains(said, "\n") {
			t.Errorf("%s: not one line: %q", tt.name, said)
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, s := range []string{"```sh\nls\n```", "```json\n{\"reasoning\":\"r\",\"done\":false}\n```", "~~~\n```\n~~~", "<think>", "{", "````\n```\n````"} {
		f.Add(s)
	}
	schema, err := reply.Compile(testSchema)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		a, err := read(text, schema)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\n\r") || !utf8.ValidString(err.Error()) {
				t.Errorf("%q: the model is told %q", text, err)
			}
			return
		}
		if (a.command == "") == (a.report == nil) || !utf8.ValidString(a.command) {
			t.Errorf("%q: %+v", text, a)
		}
		if a.command != "" && !strings.Contains(strings.ReplaceAll(text, "\r\n", "\n"), a.command) {
			t.Errorf("%q: the command %q is not in it", text, a.command)
		}
	})
}

func TestCutMiddle(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"short", strings.Repeat("äöü", 1000), strings.Repeat("line\n", 1000), strings.Repeat("x", 5000)} {
		got := CutMiddle(s, 100)
		if len(s) <= 100 && got != s || len(got) > 150 || !utf8.ValidString(got) {
			t.Errorf("%.20q was cut to %q", s, got)
		}
	}
}
