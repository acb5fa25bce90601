package leak

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

const fixPatch = `diff --git a/net/client.go b/net/client.go
index 1111111..2222222 100644
--- a/net/client.go
+++ b/net/client.go
@@ -10,4 +10,9 @@ func (c *Client) Do() error {
 	attempts := c.attempts
-	return c.sendOnce(attempts)
+	// retryBudget keeps slow servers from being asked forever.
+	if c.retryBudget.spent() > 73211 {
+		return fmt.Errorf("server %s asked for too many retries in one window", c.host)
+	}
+	c.log("backing-off")
+	return c.sendOnce(attempts)
 }
diff --git a/net/retry_budget.go b/net/retry_budget.go
new file mode 100644
--- /dev/null
+++ b/net/retry_budget.go
@@ -0,0 +1,3 @@
+package net
+
+type allowance struct{ left int }
`

const testPatch = `diff --git a/net/client_test.go b/net/client_test.go
--- a/net/client_test.go
+++ b/net/client_test.go
@@ -1,1 +1,4 @@
 package net
+func TestStormOfRetries(t *testing.T) {
+	t.Run("gives up after a storm", func(t *testing.T) {})
+}
`

const taskPatch = `diff --git a/net/client.go b/net/client.go
--- a/net/client.go
+++ b/net/client.go
@@ -1,1 +1,2 @@
 package net
+func (c *Client) Do() error { return c.sendOnce(3) } // net/client.go, net/client_test.go
`

func input() Input {
	return Input{
		Before: []string{taskPatch}, Fix: fixPatch, Tests: testPatch, Words: "Stop when the circuitBreaker opens\n\nReviewed-by: SomeBody <a@b.c>",
		Commits: []string{"0123456789abcdef0123456789abcdef01234567"}, Numbers: []int{812}, LastNumber: 700,
		Cutoff: time.Date(2024, 3, 1, 0, 0, 0, 0, time.UTC),
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, statement string
		want            []string // kind/strength/text, split ones with ~
	}{
		{"nothing", "The client asks a server again when it fails.", nil},
		{"what the task itself names", "Do calls sendOnce with attempts from net/client.go.", nil},
		{"a name", "Give the client a retryBudget.", []string{"name/strong/retryBudget"}},
		{"a name in another spelling", "Give the client a RETRY_BUDGET.", []string{"name/strong/RETRY_BUDGET"}},
		{"a name whose words stand apart", "Give the client a retry budget, or a retry-budget.",
			[]string{"name/weak/retry budget~", "name/weak/retry-budget~"}},
		{"a simple name in prose", "Make an allowance for it.", nil},
		{"a simple name as code", "Make an `allowance` for it.", []string{"name/weak/allowance"}},
		{"the same, fenced", "Use this:\n```\nallowance{}\n```", []string{"name/weak/allowance"}},
		{"a message", "It says: server X asked for too many retries in one window!",
			[]string{"message/strong/asked for too many retries in one window"}},
		{"a literal of one word", "It logs backing-off.", []string{"message/weak/backing-off"}},
		{"a number", "Not more than 73211 times, and 3 at once.", []string{"number/strong/73211"}},
		{"a test's name", "See TestStormOfRetries.", []string{"test/strong/TestStormOfRetries"}},
		{"a test's name as words", "Survive a storm of retries.", []string{"test/weak/storm of retries~"}},
		{"a test's description", "It gives up after a storm.", []string{"test/strong/gives up after a storm"}},
		{"a new file", "Put it into net/retry_budget.go.", []string{"path/strong/net/retry_budget.go"}},
		{"a new file, its name only", "Put it into retry_budget.go.", []string{"path/strong/retry_budget.go"}},
		{"a name of the discussion", "Add a circuitBreaker.", []string{"name/weak/circuitBreaker"}},
		{"an id", "As 0123456 does.", []string{"commit/strong/0123456"}},
		{"a foreign id", "As deadbeef1 does.", []string{"commit/weak/deadbeef1"}},
		{"a whole foreign id", "As 00000000000000000000000000000000deadbeef does.", []string{"commit/strong/00000000000000000000000000000000deadbeef"}},
		{"numbers", "Like #812, #650, #701 and PR 812.",
			[]string{"reference/strong/#812", "reference/weak/#650", "reference/strong/#701", "reference/strong/PR 812"}},
		{"links", "See https://h.example/o/r/pull/812 and https://h.example/docs.", []string{"link/strong/https://h.example/o/r/pull/812"}},
		{"dates", "Seen on 2024-03-02, 1 March 2024, Apr 2, 2024 and in May 2024.",
			[]string{"date/strong/2024-03-02", "date/strong/Apr 2, 2024", "date/strong/May 2024"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got []string
			for _, l := range Find(tt.statement, input()) {
				if tt.statement[l.Start:l.End] != l.Text {
					t.Errorf("range %d-%d is not %q", l.Start, l.End, l.Text)
				}
				s := string(l.Kind) + "/" + string(l.Strength) + "/" + l.Text
				if l.Split {
					s += "~"
				}
				got = append(got, s)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestTreeDecides(t *testing.T) {
	t.Parallel()
	in := input()
	var asked []string
	in.Known = func(name string) bool {
		asked = append(asked, name)
		return name == "retryBudget" || name == "net/retry_budget.go"
	}
	got := Find("A retryBudget and an `allowance`, in net/retry_budget.go.", in)
	if len(got) != 1 || got[0].Text != "allowance" || got[0].Strength != Strong {
		t.Errorf("with a tree that holds the rest, got %+v", got)
	}
	if diff := cmp.Diff([]string{"net/retry_budget.go", "retryBudget"}, asked[:2]); diff != "" {
		t.Error(diff)
	}
	if len(asked) > 6 {
		t.Errorf("the tree was asked of what the statement does not hold: %q", asked)
	}
}

func TestReplacedLinesAreKnown(t *testing.T) {
	t.Parallel()
	patch := "--- a/x.py\n+++ b/x.py\n@@ -1,2 +1,2 @@\n old_name = 1\n-some_value = 2\n+other_value = old_name + some_value\n"
	var got []string
	for _, l := range Find("old_name, some_value and other_value", Input{Fix: patch}) {
		got = append(got, l.Text)
	}
	if diff := cmp.Diff([]string{"other_value"}, got); diff != "" {
		t.Error(diff)
	}
}

func TestStrongerStands(t *testing.T) {
	t.Parallel()
	patch := "+++ b/x.go\n@@ -0,0 +1,1 @@\n+var maxRetryDelay = \"max_retry_delay is too small for this\"\n"
	got := Find("max_retry_delay is too small for this", Input{Fix: "--- /dev/null\n" + patch})
	if len(got) != 1 || got[0].Text != "max_retry_delay is too small for this" || got[0].Strength != Strong {
		t.Errorf("got %+v, want the whole text once, as a strong find", got)
	}
}

// Marks without an end, long lines and one word a thousand times: nothing may take time that grows with the square of the input.
// TestHostileTexts: what never ends and what begins a thousand times is read to its end, and what comes out lies in the text.
func TestHostileTexts(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"/* ", "\\`", "`", "'", "\"\"\"", "\\\"", "{", "x(\"a b\")", "it('", "<!-- ", "#1 ", "`` ", "a_b ", "https://a/c/"} {
		long := strings.Repeat(text, 100_000/len(text))
		for _, name := range []string{"a.js", "a.go", "a.rs", "a.py", "a.el", "a.html"} {
			last := 0
			for _, token := range Lex(name, long) {
				if token.Line < last || !strings.Contains(long, token.Text) {
					t.Fatalf("%s, %q: token %q of line %d after one of line %d", name, text, token.Text, token.Line, last)
				}
				last = token.Line
			}
		}
		for _, l := range Find(long, Input{Fix: "--- /dev/null\n+++ b/x.js\n@@ -0,0 +1,3 @@\n+" + long + "\n+" + long + "\n", Words: long}) {
			if long[l.Start:l.End] != l.Text {
				t.Fatalf("%q: find %+v does not stand there", text, l)
			}
		}
	}
}

func TestHugeInputsEnd(t *testing.T) {
	t.Parallel()
	patch := "+++ b/x.go\n@@ -0,0 +1,20000 @@\n" + strings.Repeat("+a_name_here b_name c_name\n", 20000)
	got := Find(strings.Repeat("a_name_here b_name c_name ", 20000), Input{Fix: "--- /dev/null\n" + patch})
	if len(got) != maxFinds {
		t.Errorf("%d finds, want %d", len(got), maxFinds)
	}
}
