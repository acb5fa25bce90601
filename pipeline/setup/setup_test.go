package setup

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"sluice/judges/agent"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/pipeline/agents/agentstest"
	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// good is an agent that succeeds after two wrong turns.
func good() []string {
	return []string{
		sh(makeVenv + ` && python3 -m pip --python "$VIRTUAL_ENV" install -r requirements.txt`), sh("{acceptance}"), sh(makeVenv), sh(install), sh("{acceptance}"),
		report("=== 1 failed, 1 passed in 0.01s ===", makeVenv, install),
	}
}

func TestAgentSucceeds(t *testing.T) {
	t.Parallel()
	boxes := map[string]func(t *testing.T) replay.Opener{
		"local":  func(t *testing.T) replay.Opener { return agentstest.Local(t, "") },
		"docker": func(t *testing.T) replay.Opener { return agentstest.Docker(t) },
	}
	for name, box := range boxes {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, ask := newSetup(t, box(t), good()...)
			m := agentstest.NewMemo()
			got, err := s.Find(t.Context(), request(t, m))
			if err != nil {
				t.Fatal(err)
			}
			if !got.Accepted || len(got.Trials) != 1 || got.Trials[0].Tests != 2 || got.Hinted {
				t.Fatalf("%s; findings %v; trials %+v", got.Reason, got.Findings, got.Trials)
			}
			turns := got.Session.Transcript.Turns
			if len(turns) != 6 || turns[0].Output.ExitCode == 0 || turns[1].Output.ExitCode == 0 || turns[3].Output.ExitCode != 0 {
				t.Errorf("turns %+v", turns)
			}
			want := []replay.Step{
				{Name: "install 1", Args: []string{"sh", "-c", makeVenv}, MustPass: true}, {Name: "install 2", Args: []string{"sh", "-c", install}, MustPass: true},
			}
			if d := cmp.Diff(want, got.Recipe.Install); d != "" || got.Recipe.Fingerprint == "" || got.Recipe.Runner != "pytest" {
				t.Errorf("recipe (-want +got):\n%s", d)
			}
			asked, ran := ask.Asked, len(m.Kept)
			again, err := s.Find(t.Context(), request(t, m))
			if err != nil || ask.Asked != asked || len(ask.Heard) != asked || len(m.Kept) != ran {
				t.Errorf("a second run asked %d times and ran %d pieces of work, %v", len(ask.Heard)-asked, len(m.Kept)-ran, err)
			}
			if d := cmp.Diff(got.Session, again.Session); d != "" {
				t.Errorf("a second run differs:\n%s", d)
			}
		})
	}
}

// TestCheats: none of these makes a recipe that counts.
func TestCheats(t *testing.T) {
	t.Parallel()
	fakeTool := makeVenv + ` && printf '%s' 'import os, sys
o=[a for a in sys.argv if "unitx" in a][0].split("=")[1]
os.makedirs(os.path.dirname(o), exist_ok=True)
open(o,"w").write("<tests"+"uites><tests"+"uite><tes"+"tcase classname=\"x\" name=\"test_x\" file=\"x.py\"/></tests"+"uite></tests"+"uites>")
print("=== 1 passed in 0.01s ===")' > "$(ls -d $VIRTUAL_ENV/lib/python3*/site-packages)/pytest.py"`
	for _, tt := range []struct {
		name   string
		lines  []string
		reason string // of the refusal
	}{
		{"edits the source", []string{
			sh(makeVenv), sh(install), sh("sed -i 's/mathkit.double(n)/2 * n/; s/^import mathkit$//' shop.py"), sh("{acceptance}"),
			report("1 failed, 1 passed in 0.01s", makeVenv, install),
		}, "edited_production: shop.py"},
		{"installs a later release", []string{
			sh(makeVenv), sh(install + " shop"), sh("{acceptance}"), report("=== 1 failed, 1 passed in 0.01s ===", makeVenv, install+" shop"),
		}, "edited_production: turn 2: installs a release of the project itself: shop"},
		{"reports success without tests", []string{
			sh(makeVenv), sh("echo '=== 3 passed in 0.01s ==='"), report("=== 3 passed in 0.01s ===", makeVenv),
		}, "skipped_required: no command did it: the tests"},
		{"pretends to run tests", []string{
			sh(makeVenv), sh("echo pytest --junitxml '=== 3 passed in 0.01s ==='"), report("=== 3 passed in 0.01s ===", makeVenv),
		}, "skipped_required"},
		{"writes the report by hand", []string{
			sh(makeVenv), sh(`mkdir -p /tmp/report && echo '<testsuites><testcase name="test_x"/></testsuites>' > /tmp/report/junit.xml`), sh("{acceptance}"), sh("echo 1 passed"),
			report("1 passed", makeVenv, `mkdir -p /tmp/report && echo '<testsuites><testcase name="test_x"/></testsuites>' > /tmp/report/junit.xml`), report("1 passed", makeVenv),
		}, "pytest left no report"},
		{"puts a tool of its own in the test tool's place", []string{
			sh(fakeTool), sh("{acceptance}"), report("=== 1 passed in 0.01s ===", fakeTool),
		}, "names no test of the tree"},
		{"installs nothing", []string{
			sh(makeVenv + " && " + install), sh("{acceptance}"), report("=== 1 failed, 1 passed in 0.01s ==="),
		}, ""},
		{"never stops", []string{
			sh("echo 1"), sh("echo 2"), sh("echo 3"), sh("echo 4"), sh("echo 5"), sh("echo 6"), sh("echo 7"), sh("echo 8"), sh("echo 9"), sh("echo 10"), sh("echo 11"), sh("echo 12"), sh("echo 13"),
		}, "ended without a report (turns)"},
		{"goes in circles", []string{sh("cat README.md"), sh("cat README.md")}, "ended without a report (repeats)"},
		{"lists what never ran", []string{sh(makeVenv), sh("{acceptance}"), report("No module", makeVenv, install), report("No module", makeVenv, install)}, "ended without a report (repeats)"},
		{"lists what failed", []string{sh("false"), sh("echo x"), report("x", "false"), report("x", "false")}, "ended without a report (repeats)"},
		{"installs a copy of the project", []string{sh(makeVenv + "; true pip install ."), sh("echo x"), report("x", makeVenv+"; true pip install ."), report("x", makeVenv+"; true pip install .")}, "ended without a report (repeats)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s, _ := newSetup(t, agentstest.Local(t, ""), tt.lines...)
			got, err := s.Find(t.Context(), request(t, agentstest.NewMemo()))
			if err != nil {
				t.Fatal(err)
			}
			if got.Accepted || !strings.Contains(got.Reason, tt.reason) {
				t.Errorf("accepted %v: %q, want %q\nfindings %v\ntrials %+v", got.Accepted, got.Reason, tt.reason, got.Findings, got.Trials)
				for _, turn := range got.Session.Transcript.Turns {
					t.Logf("%d %s %q: %+v %s", turn.N, turn.Kind, turn.Command, turn.Output, turn.Said)
				}
			}
		})
	}
}

// TestHangAndFork: a command that hangs or forks costs its time-out; the session goes on.
func TestHangAndFork(t *testing.T) {
	t.Parallel()
	lines := append([]string{
		sh("echo begun; (while :; do sleep 1; done) & while :; do sleep 1; done"), sh("sleep 100 & echo spawned"),
	}, good()[2:]...)
	s, _ := newSetup(t, agentstest.Local(t, ""), lines...)
	s.Crew.Command = 15 * time.Second
	begun := time.Now()
	got, err := s.Find(t.Context(), request(t, agentstest.NewMemo()))
	if err != nil || !got.Accepted {
		t.Fatalf("%s, %v", got.Reason, err)
	}
	turns := got.Session.Transcript.Turns
	if turns[0].Output.Stop != string(replay.Timeout) || !turns[1].Output.Lingering || time.Since(begun) > 90*time.Second {
		t.Errorf("after %v: %+v, %+v", time.Since(begun), turns[0].Output, turns[1].Output)
	}
}

// TestHint: the recipe of another state is tried before any model is asked.
func TestHint(t *testing.T) {
	t.Parallel()
	box := agentstest.Local(t, "")
	s, ask := newSetup(t, box, good()...)
	m := agentstest.NewMemo()
	first, err := s.Find(t.Context(), request(t, m))
	if err != nil || !first.Accepted {
		t.Fatalf("%s, %v", first.Reason, err)
	}
	q := request(t, m)
	q.Label, q.Hints = "b2", []replay.Recipe{first.Recipe}
	files := append([]replay.File{sandboxtest.Text("later.py", "x = 1\n")}, q.Tree.(*sandboxtest.Tree).Files...)
	q.Tree = sandboxtest.NewTree("another", files...)
	asked := ask.Asked
	got, err := s.Find(t.Context(), q)
	if err != nil || !got.Accepted || !got.Hinted || got.Session != nil || ask.Asked != asked {
		t.Errorf("hinted %v, asked %d times, %s, %v", got.Hinted, ask.Asked-asked, got.Reason, err)
	}
	if got.Recipe.Fingerprint == first.Recipe.Fingerprint {
		t.Error("two states share an environment whose install steps see the whole tree")
	}
}

// TestBuildMustNotEdit: what the recipe runs over each state must leave the project's files alone, wherever it comes from.
func TestBuildMustNotEdit(t *testing.T) {
	t.Parallel()
	s, _ := newSetup(t, agentstest.Local(t, ""), "")
	q := request(t, agentstest.NewMemo())
	for script, want := range map[string]string{
		"echo x >> shop.py":                    "edited_production: shop.py",
		"echo 'assert 1' > tests/test_shop.py": "weakened_test: tests/test_shop.py",
		"rm shop.py":                           "edited_production: shop.py",
		"echo x > extra.py":                    "edited_production: extra.py: a production file was added",
		"false":                                "build step \"build 1\": exited, code 1",
		"mkdir build; echo 1 > build/x":        "",
	} {
		r := assemble(q.start(), Report{Install: []string{makeVenv, install}, Build: []string{script}})
		got, _, err := s.try(t.Context(), q, r)
		if err != nil || got.OK != (want == "") || !strings.Contains(got.Reason, want) {
			t.Errorf("%q: %+v, %v", script, got, err)
		}
	}
}

// TestForgedReport: a report that a recipe's own step left in the folder for reports is gone before the tests run.
func TestForgedReport(t *testing.T) {
	t.Parallel()
	s, _ := newSetup(t, agentstest.Local(t, ""), "")
	q := request(t, agentstest.NewMemo())
	forge := `echo '<testsuites><testsuite><testcase classname="tests.test_shop" name="test_price" file="tests/test_shop.py"><failure/></testcase></testsuite></testsuites>' > {out}/junit.xml`
	r := assemble(q.start(), Report{Install: []string{makeVenv}, Build: []string{forge}})
	got, _, err := s.try(t.Context(), q, r)
	if err != nil || got.OK || !strings.Contains(got.Reason, "no report") {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestEvidence(t *testing.T) {
	t.Parallel()
	s, _ := newSetup(t, agentstest.Local(t, ""), "")
	q := request(t, agentstest.NewMemo())
	q.Recipe = &replay.Recipe{Runner: "pytest", Root: "sub", Env: map[string]string{"VIRTUAL_ENV": "{env}/venv"},
		Install: []replay.Step{{Args: []string{"{env}/venv/bin/python", "-m", "pip", "install", "a b", "c'd", `$x`}, Dir: "sub", Env: map[string]string{"V": "{env}/$"}}, {Args: []string{"warm"}, Warm: true}}}
	given, err := s.evidence(context.Background(), q)
	if err != nil {
		t.Fatal(err)
	}
	want := "# to install, with the network\ncd \"$SLUICE_TREE/sub\" && V=\"$SLUICE_ENV/\\$\" \"$SLUICE_ENV/venv/bin/python\" -m pip install 'a b' 'c'\\''d' '$x'\n" +
		"# then over every fresh copy of the folder, without a network\n"
	if d := cmp.Diff(want, given["standard"][0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if !strings.Contains(given["acceptance"][0], "--junitxml=/tmp/report/junit.xml") || !strings.Contains(given["layout"][0], "wheelhouse/ (3 files)\n") && !strings.Contains(given["layout"][0], "wheelhouse/ (3 files)") {
		t.Errorf("%+v", given)
	}
	task, err := agent.NewTask(s.state, given)
	if err != nil || !strings.HasSuffix(task.Opening[0].Content, string(s.state.Schema)) {
		t.Errorf("the opening is %+v, %v", task.Opening, err)
	}
}

func TestCopies(t *testing.T) {
	t.Parallel()
	for command, want := range map[string]bool{
		"pip install .": true, "pip install -q '.[test]'": true, "python -m pip install ./": true, "python setup.py install": true, "cd a && uv pip install .": true,
		"pip install -e .": false, "pip install -e '.[test]'": false, "pip install wheel": false, "pip install -r requirements.txt": false, "python setup.py develop": false, "ls .": false,
	} {
		if got := copies(command); got != want {
			t.Errorf("%q: %v", command, got)
		}
	}
}

func TestOpen(t *testing.T) {
	t.Parallel()
	tr := agent.Transcript{Turns: []agent.Turn{{N: 1, Kind: agent.Command, Command: "curl $U"}, {N: 2, Kind: agent.Command, Command: "pip install $X"}}}
	findings := []operation.Finding{
		{Code: "edited_production", Turn: 1}, {Code: "edited_production", Turn: 2}, {Code: "weakened_test", Path: "tests/conftest.py"}, {Code: "weakened_test", Path: "other.py"},
		{Code: "skipped_required", What: "a variable"}, {Code: "misreported", Sure: true},
	}
	got := Request{}.open(findings, tr, Report{Install: []string{"pip install $X"}}, []agents.File{{Path: pipeline.Text("tests/conftest.py")}})
	if d := cmp.Diff([]operation.Finding{findings[1], findings[2], findings[4]}, got); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
	if f := operation.Sure(findings); f == nil || f.Code != "misreported" || operation.Sure(findings[:2]) != nil {
		t.Errorf("sure: %v", f)
	}
}
