package recipes

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools"
)

// telling is a sandbox in which installing fails with the words of a compiler until each of the packages is there, one after the
// other, and each program has a test that fails without it, and says so once those before it are there.
type telling struct {
	box
	headers  [][2]string // header and package
	programs [][2]string // program and package
	more     bool        // with the package the test passes
}

func has(r replay.Recipe, name string) bool {
	return slices.ContainsFunc(r.Install, func(s replay.Step) bool { return slices.Contains(s.Args, name) })
}

func (b *telling) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	for _, h := range b.headers {
		if !has(r, h[1]) {
			return replay.Env{}, &replay.InstallError{Step: replay.StepResult{Name: "modules", Stop: replay.Exited},
				Log: "x.c:1:10: fatal error: " + h[0] + ": No such file or directory"}
		}
	}
	return b.box.Prepare(ctx, r, t)
}

func (b *telling) Run(_ context.Context, j replay.Job) (replay.Result, error) {
	line := func(action, more string) string {
		return fmt.Sprintf(`{"Action":%q,"Package":"m"%s}`+"\n", action, more)
	}
	out, code, end := line("run", `,"Test":"TestA"`)+line("pass", `,"Test":"TestA"`), 0, "pass"
	said := false
	for i, p := range b.programs {
		test := fmt.Sprintf(`,"Test":"Test%d"`, i)
		out += line("run", test)
		there := has(j.Env.Recipe, p[1])
		if there && b.more {
			out += line("pass", test)
			continue
		}
		if !there && !said {
			out += line("output", fmt.Sprintf(`%s,"Output":%q`, test, "    a_test.go:3: exec: \""+p[0]+"\": executable file not found in $PATH\n"))
			said = true
		}
		out += line("fail", test)
		code, end = 1, "fail"
	}
	out += line(end, "")
	return replay.Result{Steps: []replay.StepResult{{Name: tools.StepTest, Stop: replay.Exited, ExitCode: code, Stdout: []byte(out)}}}, nil
}

// TestTold: what a try names is there in the next one, also after one that works; which is replaced only by one with which more tests pass.
func TestTold(t *testing.T) {
	t.Parallel()
	two := [][2]string{{"lz4.h", "liblz4-dev"}, {"openssl/evp.h", "libssl-dev"}}
	programs := [][2]string{{"iptables", "iptables"}, {"gpg", "gnupg"}, {"rsync", "rsync"}, {"zip", "zip"}, {"tmux", "tmux"}}
	for _, tt := range []struct {
		name string
		box  *telling
		want []string
		won  string
		pass int
	}{
		{"one header after the other", &telling{box: box{name: "docker"}, headers: two},
			[]string{"heuristic: install-failed", "told: install-failed", "told: works"}, Told, 1},
		{"where no Debian package can be installed", &telling{box: box{name: "local"}, headers: two}, []string{"heuristic: install-failed"}, "", 0},
		{"a header that nobody knows", &telling{box: box{name: "docker"}, headers: [][2]string{{"mine.h", "x"}}}, []string{"heuristic: install-failed"}, "", 0},
		{"a test that wants a program", &telling{box: box{name: "docker"}, programs: programs[:1], more: true},
			[]string{"heuristic: works", "told: works"}, Told, 2},
		{"a test that fails with it too", &telling{box: box{name: "docker"}, programs: programs[:1]},
			[]string{"heuristic: works", "told: works"}, Heuristic, 1},
		{"after one that works more is missing", &telling{box: box{name: "docker"}, headers: two[:1], programs: programs[:2], more: true},
			[]string{"heuristic: install-failed", "told: works", "told: works", "told: works"}, Told, 3},
		{"without end", &telling{box: box{name: "docker"}, programs: programs, more: true},
			[]string{"heuristic: works", "told: works", "told: works", "told: works", "told: works"}, Told, 5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l, r := ladder(t, nil, "commit one \"1\"\n"+code+"-- one/go.mod --\nmodule m\n")
			l.Sandbox = tt.box
			m := &memo{kept: map[string][]byte{}}
			f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID("one"), Paths: []string{"a.go"}})
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, try := range f.Tries {
				got = append(got, line(r, try))
			}
			if d := cmp.Diff(tt.want, got); d != "" || f.Won() != tt.won || f.Trial.passed() != tt.pass {
				t.Errorf("%q won, %d pass (-want +got):\n%s", f.Won(), f.Trial.passed(), d)
			}
			if f.OK && f.Recipe.Fingerprint != f.Tries[f.Winner].Fingerprint {
				t.Error("the recipe is that of the try that won")
			}
		})
	}
}

// aging is a sandbox in which a file of tests can be loaded only with the versions of its day, if at all, and another one only with mock, if it
// is asked for.
type aging struct {
	box
	never, mock bool
	late        bool // installing versions of the day takes too long
}

func isDated(r replay.Recipe) bool {
	return slices.ContainsFunc(r.Install, func(s replay.Step) bool { return s.Env["UV_EXCLUDE_NEWER"] != "" })
}

func (b *aging) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	if b.late && isDated(r) {
		return replay.Env{}, replay.ErrInstallTime
	}
	return b.box.Prepare(ctx, r, t)
}

func (b *aging) Run(_ context.Context, j replay.Job) (replay.Result, error) {
	dated := isDated(j.Env.Recipe)
	out, tests, bad := "", 0, 0
	file := func(name, lacks string) {
		path := "tests/test_" + name + ".py"
		if lacks != "" {
			bad++
			out += fmt.Sprintf("{\"e\":\"broken\",\"file\":%q,\"m\":%q}\n", path, "ImportError: "+lacks)
			return
		}
		tests++
		id := path + "::A::test_" + name
		out += fmt.Sprintf("{\"e\":\"start\",\"id\":%q}\n{\"e\":\"end\",\"id\":%q,\"o\":\"pass\"}\n", id, id)
	}
	file("a", "")
	lacks := ""
	if b.mock && !has(j.Env.Recipe, "mock") {
		lacks = "No module named mock"
	}
	if b.mock {
		file("m", lacks)
	}
	if lacks == "" && (!dated || b.never) {
		lacks = "cannot import name 'x' from 'y'"
	}
	file("b", lacks)
	out += fmt.Sprintf("{\"e\":\"done\",\"tests\":%d,\"bad\":%d}\n", tests, bad)
	return replay.Result{Steps: []replay.StepResult{{Name: "install project", Stop: replay.Exited}, {Name: tools.StepTest, Stop: replay.Exited, ExitCode: min(bad, 1)}},
		Files: map[string][]byte{"unittest.jsonl": []byte(out)}}, nil
}

// TestDatedRival: a recipe with which some tests run is given up for that of the state's day, with what was told before, if more pass with
// it, and else kept.
func TestDatedRival(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		box   *aging
		tries []string
		won   string
		pass  int
	}{
		{&aging{}, []string{"heuristic: works", "dated: works"}, Dated, 2},
		{&aging{never: true}, []string{"heuristic: works", "dated: works"}, Heuristic, 1},
		{&aging{late: true}, []string{"heuristic: works", "dated: ended"}, Heuristic, 1},
		{&aging{mock: true}, []string{"heuristic: works", "told: works", "dated from told: works"}, Dated, 3},
		{&aging{mock: true, never: true}, []string{"heuristic: works", "told: works", "dated from told: works"}, Told, 2},
	} {
		l, r := ladder(t, nil, "commit one \"1\" date=2022-01-02T00:00:00Z\n-- one/setup.py --\nfrom setuptools import setup\nsetup(name='p', install_requires=['six'])\n"+
			"-- one/tests/test_a.py --\nimport unittest\n\n\nclass A(unittest.TestCase):\n    pass\n")
		tt.box.name = "docker"
		l.Sandbox = tt.box
		m := &memo{kept: map[string][]byte{}}
		f, err := l.Find(t.Context(), Request{Once: m.once, Commit: r.ID("one")})
		var tries []string
		for _, try := range f.Tries {
			from := ""
			if try.Rung == Dated && try.From != "" {
				from = " from " + try.From
			}
			tries = append(tries, try.Rung+from+": "+string(try.Result))
		}
		if d := cmp.Diff(tt.tries, tries); d != "" || err != nil || f.Won() != tt.won || f.Trial.passed() != tt.pass || f.Recipe.Fingerprint != f.Tries[f.Winner].Fingerprint {
			t.Errorf("mock %t, never %t: %q won, %d pass, %v\n%s", tt.box.mock, tt.box.never, f.Won(), f.Trial.passed(), err, d)
		}
	}
}
