package evidence

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// control puts a name between brackets, so that no mark stands in this file as it is.
func control(open, name, end string) string { return open + name + end }

func controls() []string {
	out := []string{
		control("<|", "im_start", "|>"), control("<|", "eot_id", "|>"), control("<|", "begin of text", "|>"),
		control("<\uff5c", "User", "\uff5c>"), control("<\uff5c", "begin\u2581of\u2581sentence", "\uff5c>"),
		control("<<", "SYS", ">>"), control("<</", "SYS", ">>"), control("<", "0x0A", ">"), control("<", "unused12", ">"),
		control("<", "fim_prefix", ">"), control("</", space+":cd_ef", ">"), control("<", "EOS_TOKEN", ">"),
	}
	for _, name := range []string{"start_of_turn", "end_of_turn", "bos", "s", "think", "tool_call", "system"} {
		out = append(out, control("<", name, ">"), control("</", name, ">"))
	}
	for _, name := range []string{"INST", "SYSTEM_PROMPT", "TOOL_CALLS", "gMASK", "SEP"} {
		out = append(out, control("[", name, "]"), control("[/", name, "]"))
	}
	return out
}

func TestBreak(t *testing.T) {
	t.Parallel()
	for _, mark := range controls() {
		for _, text := range []string{mark, "a " + mark + " b", mark + mark, "<" + mark + ">", "[" + mark + "]"} {
			got := Break(text)
			if strings.Contains(got, mark) || strings.ReplaceAll(got, breaker, "") != text {
				t.Errorf("%q: %q", text, got)
			}
		}
	}
	nested := control("<|", control("[", "INST", "]"), "|>")
	if got := Break(nested); strings.Contains(got, control("[", "INST", "]")) || strings.HasPrefix(got, "<|") {
		t.Errorf("a mark in a mark: %q", got)
	}
}

// TestBreakLeaves lists what only looks like a mark.
func TestBreakLeaves(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"a <| b", "x |> f", "f <| g |> h", "List<String>", "vector<int>", "a[i]", "[x]", "std::vector<std::string>", "if a<b || c>d {", "m[MAX]",
		"createContext<User>()", "while (<S>)", "</svelte:head>", "ssh <user>@host", "<xsl:if>", "a[PREFIX_LEN]",
		"<div class=\"a\">", "#include <stdio.h>", "a << 1 >> b", "<T>", "[ ] todo", "<|", "[", "<",
	} {
		if got := Break(text); got != text {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestBreakLaws: whatever the text, no mark is left, and nothing but empty pairs was put in.
func TestBreakLaws(t *testing.T) {
	t.Parallel()
	part := rapid.SampledFrom(append(controls(), "<", "|", ">", "[", "]", "<|", "|>", "/", "INST", "s", "a b", "\n", breaker))
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOfN(part, 0, 12).Draw(t, "parts"), "")
		got := Break(text)
		for i := range got {
			if n := markSize(got[i:]); (got[i] == '<' || got[i] == '[') && n > 0 {
				t.Fatalf("%q holds %q", got, got[i:i+n])
			}
		}
		if strings.ReplaceAll(got, breaker, "") != strings.ReplaceAll(text, breaker, "") {
			t.Fatalf("%q became %q", text, got)
		}
		if again := Break(got); again != got {
			t.Fatalf("broken twice: %q, %q", got, again)
		}
	})
}
