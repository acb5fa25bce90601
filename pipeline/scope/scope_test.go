package scope

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/agent"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

func lead(t *testing.T, box replay.Opener, lines ...string) (Result, *agentstest.Script) {
	t.Helper()
	ask := &agentstest.Script{Lines: lines}
	crew := agents.Crew{Sandbox: box, Asker: ask, Model: "m", Command: 20 * time.Second, Limits: agent.Limits{Turns: 6}}
	got, err := Find(t.Context(), crew, Request{
		Once: agentstest.NewMemo().Once, Label: "issue", Issue: "Prices are wrong for zero things.\n",
		Tree: sandboxtest.NewTree("t", sandboxtest.Text("lib/price.py", "def price(n):\n    return 2 * n\n"), sandboxtest.Text("tests/test_price.py", "x = 1\n"), sandboxtest.Text("CHANGES", "x\n")),
	})
	if err != nil {
		t.Fatal(err)
	}
	return got, ask
}

func says(scopes ...Scope) string {
	return agentstest.Says(Report{Reasoning: "The price is made in one place.", Scopes: scopes})
}

func scope(quote string, paths ...string) Scope {
	return Scope{Rationale: "It is the only place.", Quote: quote, Paths: paths}
}

func TestFind(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) { t.Parallel(); finds(t, agentstest.Local(t, "")) })
	t.Run("docker", func(t *testing.T) { t.Parallel(); finds(t, agentstest.Docker(t)) })
}

func finds(t *testing.T, box replay.Opener) {
	got, _ := lead(t, box, agentstest.Sh("grep -rn price lib"), says(
		scope("def price(n):", "tests/test_price.py", "lib/price.py"), scope("Prices are wrong for zero  things.", "lib/zero.py", "CHANGES")))
	want := []Scope{scope("def price(n):", "lib/price.py", "tests/test_price.py"), scope("Prices are wrong for zero  things.", "CHANGES", "lib/zero.py")}
	if d := cmp.Diff(want, got.Scopes); d != "" || !got.Accepted || got.Reason != "2 scopes" {
		t.Errorf("%v %s (-want +got):\n%s", got.Accepted, got.Reason, d)
	}
}

// TestReadOnly: whatever the agent tries, the tree stays as it is.
func TestReadOnly(t *testing.T) {
	t.Parallel()
	t.Run("local", func(t *testing.T) {
		t.Parallel()
		box := agentstest.Local(t, "")
		c := box.Capabilities()
		if !c.Namespaces && os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
			t.Fatal("this host cannot keep a tree read-only: ", c.Missing)
		}
		if !c.Namespaces {
			t.Skip("this host cannot keep a tree read-only: ", c.Missing)
		}
		resists(t, box)
	})
	t.Run("docker", func(t *testing.T) { t.Parallel(); resists(t, agentstest.Docker(t)) })
}

func resists(t *testing.T, box replay.Opener) {
	got, _ := lead(t, box, agentstest.Sh("echo x > lib/price.py; rm CHANGES; echo x > new; ls"), says(scope("Prices are wrong", "lib/price.py")))
	if !got.Accepted || len(got.Session.Changes.Files) != 0 {
		t.Errorf("%+v", got)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	quote := "Prices are wrong"
	for want, s := range map[string]string{
		`"lib" is a folder`:                       says(scope(quote, "lib")),
		`"src/new.py" neither exists nor lies in`: says(scope(quote, "src/new.py")),
		`"../x" is no path inside`:                says(scope(quote, "../x")),
		`"/etc/passwd" is no path inside`:         says(scope(quote, "/etc/passwd")),
		`"lib/../CHANGES" is no path inside`:      says(scope(quote, "lib/../CHANGES")),
		"names a file twice":                      says(scope(quote, "CHANGES", "CHANGES")),
		"touches the same files":                  says(scope(quote, "CHANGES", "lib/price.py"), scope(quote, "lib/price.py", "CHANGES")),
		"quotes what stands neither":              says(scope("The moon is wrong", "CHANGES")),
		"The report cannot be used":               says(),
	} {
		t.Run(want, func(t *testing.T) {
			t.Parallel()
			got, _ := lead(t, agentstest.Local(t, ""), s)
			if got.Accepted || !strings.Contains(got.Session.Transcript.Turns[0].Said, want) || !strings.Contains(got.Reason, "repeats") {
				t.Errorf("accepted %v, %s; said %q, want %q", got.Accepted, got.Reason, got.Session.Transcript.Turns[0].Said, want)
			}
		})
	}
}
