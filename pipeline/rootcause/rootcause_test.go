package rootcause

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/agent"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
	"sluice/replay/tools"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

const change = `diff --git a/shop.py b/shop.py
--- a/shop.py
+++ b/shop.py
@@ -1,4 +1,5 @@
 # prices
 def price(n):
-    return 2 * n
+    if n:
+        return 3 * n
     return 0
`

// crew and request are a shop whose change made everything dearer, and the test that noticed.
func request(t *testing.T, box replay.Opener, lines ...string) (agents.Crew, *agentstest.Script, Request) {
	t.Helper()
	tree := sandboxtest.NewTree("shop",
		sandboxtest.Text("shop.py", "# prices\ndef price(n):\n    if n:\n        return 3 * n\n    return 0\n"),
		sandboxtest.Text("tests/test_old.py", "def test_old():\n    pass\n"), agentstest.Wheel(t, "pytest", "8.0", agentstest.TinyPytest))
	r, err := tools.Seal(t.Context(), tree, replay.Recipe{
		Runner: "pytest", Image: tools.DefaultImage, Env: map[string]string{"VIRTUAL_ENV": "{env}/venv", "PYTHONDONTWRITEBYTECODE": "1"}, Inputs: []string{"*"}, Install: []replay.Step{{Name: "i", MustPass: true, Args: []string{
			"sh", "-c", `python3 -m venv --without-pip "$VIRTUAL_ENV" && python3 -m pip --python "$VIRTUAL_ENV" install -q --no-index --find-links wheelhouse pytest`}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	ask := &agentstest.Script{Lines: lines}
	crew := agents.Crew{Sandbox: box, Asker: ask, Model: "m", Command: time.Minute, Limits: agent.Limits{Turns: 8}}
	return crew, ask, Request{
		Once: agentstest.NewMemo().Once, Label: "shop", Tree: tree, Recipe: r, Change: []byte(change),
		Tests:  replay.Overlay{Files: []replay.File{sandboxtest.Text("tests/test_price.py", "import shop\n\ndef test_price():\n    assert shop.price(2) == 4\n")}},
		Target: replay.Target{Paths: []string{"tests/test_price.py"}}, Expose: []string{"tests/test_price.py::test_price"}, Limits: replay.Limits{Wall: time.Minute},
	}
}

const repair = "sed -i 's/3 \\* n/2 * n/' shop.py"

func says(quote string, lines ...Line) string {
	return agentstest.Says(Report{Analysis: "It multiplies by three.", Cause: "The factor is wrong.", Lines: lines, Quote: quote})
}

var guilty = Line{Path: "shop.py", Line: 4, Side: "added", Text: "return 3 *  n"}

func TestFind(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) { t.Parallel(); finds(t, agentstest.Local(t, "")) })
	t.Run("docker", func(t *testing.T) { t.Parallel(); finds(t, agentstest.Docker(t)) })
}

func finds(t *testing.T, box replay.Opener) {
	crew, ask, q := request(t, box, agentstest.Sh("cat shop.py"), agentstest.Sh("{command}"), says("1 passed"), agentstest.Sh(repair), agentstest.Sh("{command} "),
		says("1 passed", Line{Path: "shop.py", Line: 3, Side: "added", Text: "return 3 * n"}), says("=== 1 passed in 0.01s ===", guilty, Line{Path: "shop.py", Line: 3, Side: "deleted", Text: "return 2 * n"}))
	got, err := Find(t.Context(), crew, q)
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, turn := range got.Session.Transcript.Turns {
		kinds = append(kinds, string(turn.Kind))
	}
	if d := cmp.Diff([]string{"command", "command", "unreadable", "command", "command", "refused", "report"}, kinds); d != "" || !got.Accepted {
		t.Fatalf("accepted %v, %s; turns (-want +got):\n%s", got.Accepted, got.Reason, d)
	}
	want := []agents.File{{Path: pipeline.Text("shop.py"), Mode: 0o644, Was: 0o644, Data: []byte("# prices\ndef price(n):\n    if n:\n        return 2 * n\n    return 0\n")}}
	if d := cmp.Diff(want, got.Repair); d != "" || len(got.Lines) != 2 || got.Cause == "" {
		t.Errorf("%+v; repair (-want +got):\n%s", got, d)
	}
	const patch = "diff --git a/shop.py b/shop.py\n--- a/shop.py\n+++ b/shop.py\n@@ -1,5 +1,5 @@\n # prices\n def price(n):\n     if n:\n-        return 3 * n\n+        return 2 * n\n     return 0\n"
	if d := cmp.Diff(withoutIndex(patch), withoutIndex(string(got.Patch))); d != "" {
		t.Errorf("patch (-want +got):\n%s", d)
	}
	asked := ask.Asked
	again, err := Find(t.Context(), crew, q)
	if d := cmp.Diff(got, again, cmp.FilterPath(func(p cmp.Path) bool { return p.Last().String() == ".Spent" }, cmp.Ignore())); err != nil || d != "" || ask.Asked != asked {
		t.Errorf("a second run asked %d times, %v\n%s", ask.Asked-asked, err, d)
	}
}

// withoutIndex drops the line with the names of contents.
func withoutIndex(patch string) string {
	return regexp.MustCompile(`(?m)^index .*\n`).ReplaceAllString(patch, "")
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		lines  []string
		reason string
	}{
		"weakens the test":           {[]string{agentstest.Sh("echo 'def test_price(): pass' > tests/test_price.py; echo ok"), says("ok", guilty)}, "weakened_test: tests/test_price.py"},
		"repairs nothing":            {[]string{agentstest.Sh("echo 1 passed"), says("1 passed", guilty)}, "without a repair"},
		"repairs the wrong thing":    {[]string{agentstest.Sh("echo '# better' >> shop.py; echo 1 passed"), says("1 passed", guilty)}, "does not pass: tests/test_price.py::test_price"},
		"adds a configuration":       {[]string{agentstest.Sh(repair + "; echo '[pytest]' > pytest.ini; echo ok"), says("ok", guilty)}, "weakened_test: pytest.ini"},
		"puts a link in its place":   {[]string{agentstest.Sh("rm shop.py; mkfifo shop.py; echo ok"), says("ok", guilty)}, "edited_production: shop.py"},
		"gives up":                   {[]string{agentstest.Sh("true"), agentstest.Sh("true")}, "without a report (repeats)"},
		"quotes what nobody printed": {[]string{agentstest.Sh(repair), says("1 passed", guilty), says("1 passed", guilty)}, "without a report (repeats)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			crew, _, q := request(t, agentstest.Local(t, ""), tt.lines...)
			got, err := Find(t.Context(), crew, q)
			if err != nil || got.Accepted || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("accepted %v: %q, %v; want %q", got.Accepted, got.Reason, err, tt.reason)
			}
		})
	}
	crew, ask, q := request(t, agentstest.Local(t, ""))
	q.Expose = []string{"tests/test_old.py::test_old"}
	q.Target.Paths = []string{"tests/test_old.py"}
	if got, err := Find(t.Context(), crew, q); err != nil || got.Accepted || ask.Asked != 0 || !strings.Contains(got.Reason, "do not all fail") {
		t.Errorf("tests that pass: %+v, %v", got, err)
	}
}

func TestLinesOf(t *testing.T) {
	t.Parallel()
	got, err := linesOf([]byte(change + "diff --git a/b.py b/b.py\ndeleted file mode 100644\n--- a/b.py\n+++ /dev/null\n@@ -1 +0,0 @@\n---i;\n"))
	want := map[Line]bool{
		{"shop.py", 3, "deleted", "return 2 * n"}: true, {"shop.py", 3, "added", "if n:"}: true, {"shop.py", 4, "added", "return 3 * n"}: true,
		{"b.py", 1, "deleted", "--i;"}: true,
	}
	if d := cmp.Diff(want, got); err != nil || d != "" {
		t.Errorf("%v (-want +got):\n%s", err, d)
	}
	if _, err := linesOf([]byte("diff --git a/x b/x\n@@ -1,3 +1,1 @@\nbroken")); err == nil {
		t.Error("a broken diff is read")
	}
}
