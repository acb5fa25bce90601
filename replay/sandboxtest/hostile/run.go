package hostile

import (
	"cmp"
	"context"
	"fmt"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"text/tabwriter"
	"time"

	"sluice/replay"
	"sluice/replay/sandboxtest"
	"sluice/replay/tools"
)

// Variable is the environment variable that asks for all programs instead of the fast subset.
const Variable = "SLUICE_HOSTILE"

// Options say how the programs are run.
type Options struct {
	Recipe replay.Recipe // Image, Env and Fingerprint of the programs' environment
	All    bool          // not only the fast subset
	Only   string        // if set, only programs whose kind/name contains it
	Beside int           // how many run at a time; default 4
}

// Sandbox limits that the caller has to set: what all files of a job may take.
const MaxDisk = 96 << 20

// slack is what a sandbox may take beyond the time-out of a step, with the step after it.
const slack = 30 * time.Second

// suite is one run of the programs.
type suite struct {
	box     replay.Sandbox
	options Options
	env     replay.Env
	hosts   *bystanders
	mark    string

	mu     sync.Mutex
	counts map[string]*count
}

type count struct{ programs, right int }

// Exercise runs the programs on a sandbox, fails the test for each that was not held, and returns the table of kinds.
func Exercise(t *testing.T, box replay.Sandbox, o Options) string {
	t.Helper()
	all, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	chosen := slices.DeleteFunc(all, func(p Program) bool {
		return !p.Fast && !o.All || !strings.Contains(p.Kind+"/"+p.Name, o.Only) || !able(t, box, p)
	})
	s := &suite{box: box, options: o, hosts: newBystanders(t), mark: "SLUICE_HOSTILE_MARK=" + random(), counts: map[string]*count{}}
	s.prepare(t, chosen)
	if o.Beside == 0 {
		s.options.Beside = 4
	}
	free := make(chan struct{}, s.options.Beside)
	var wg sync.WaitGroup
	for _, p := range chosen {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			wrong := s.one(t.Context(), p)
			for _, w := range wrong {
				t.Errorf("%s/%s: %s", p.Kind, p.Name, w)
			}
			s.note(p.Kind, len(wrong) == 0)
		})
	}
	wg.Wait()
	if left := leftovers(s.mark); len(left) > 0 {
		t.Errorf("processes outlived their jobs: %v", left)
	}
	return s.table()
}

// prepare makes the environment of the programs, in which those that need a compiler are compiled.
func (s *suite) prepare(t *testing.T, chosen []Program) {
	t.Helper()
	var files []replay.File
	steps := []replay.Step{script("folders", folders)}
	for _, p := range chosen {
		name := compiled(p)
		source := name + path.Ext(p.Main)
		switch {
		case p.Tool != "" && !p.Alone:
			continue
		case path.Ext(p.Main) == ".c":
			steps = append(steps, script("compile "+name, "gcc -w -O1 -pthread -o {env}/bin/"+name+" "+source))
		case path.Ext(p.Main) == ".go":
			steps = append(steps, script("compile "+name, "go build -o {env}/bin/"+name+" "+source))
		default:
			continue
		}
		files = append(files, replay.File{Path: source, Mode: 0o644, Data: p.Files[0].Data})
	}
	r := s.options.Recipe
	r.Install, r.Inputs, r.Env = steps, []string{"*"}, environment
	env, err := s.box.Prepare(t.Context(), r, sandboxtest.NewTree("programs", files...))
	if err != nil {
		t.Fatalf("preparing the programs: %v", err)
	}
	s.env = env
}

// environment names the folder in which Python is found under that name: not every image has it.
var environment = map[string]string{"VIRTUAL_ENV": "{env}/venv", "PYTHONDONTWRITEBYTECODE": "1"}

const folders = `mkdir -p {env}/bin {env}/venv/bin && ln -s "$(python3 -c 'import sys; print(sys.executable)')" {env}/venv/bin/python`

func script(name, text string) replay.Step {
	return replay.Step{Name: name, Args: []string{"sh", "-c", text}, Env: map[string]string{"GOFLAGS": "-mod=mod", "GO111MODULE": "off"}}
}

// command starts a program alone.
func command(p Program) []string {
	switch path.Ext(p.Main) {
	case ".py":
		return []string{"python3", "{tree}/" + p.Main}
	case ".js":
		return []string{"node", "{tree}/" + p.Main}
	case ".sh":
		return []string{"sh", "{tree}/" + p.Main}
	}
	return []string{"{env}/bin/" + compiled(p)}
}

// able reports whether the sandbox has the tool of a program with a recipe: the images have them all, a machine need not.
func able(t *testing.T, box replay.Sandbox, p Program) bool {
	t.Helper()
	if !p.Recipe || replay.IsDocker(box) {
		return true
	}
	_, err := exec.LookPath(map[string]string{"ctest": "cmake", "maven": "mvn"}[p.Tool])
	if err != nil {
		_, err = exec.LookPath(p.Tool)
	}
	if err != nil {
		t.Logf("%s/%s is left out: %v", p.Kind, p.Name, err)
	}
	return err == nil
}

// own makes the environment of a program with a recipe.
func (s *suite) own(ctx context.Context, p Program) (replay.Env, error) {
	tree := sandboxtest.NewTree(p.Kind+"/"+p.Name, p.Files...)
	r, err := tools.Detect(ctx, tree, tools.Options{})
	if err != nil {
		return replay.Env{}, err
	}
	if r.Runner != p.Tool {
		return replay.Env{}, fmt.Errorf("it is a project of %s", r.Runner)
	}
	r.Fingerprint = s.options.Recipe.Fingerprint + "-" + r.Fingerprint // an environment of ours, which goes with the others
	return s.box.Prepare(ctx, r, tree)
}

// job is the program, then a look around: nothing of the program may be alive, and the state must still be usable.
func (s *suite) job(ctx context.Context, p Program) (replay.Job, replay.Recipe, error) {
	r, prepared := replay.Recipe{Runner: p.Tool, Env: environment}, s.env
	if p.Recipe {
		var err error
		if prepared, err = s.own(ctx, p); err != nil {
			return replay.Job{}, r, err
		}
		r = prepared.Recipe
	}
	key, value, _ := strings.Cut(s.mark, "=")
	env := map[string]string{"OUT": "{out}", "TREE": "{tree}", "ENV": "{env}", key: value}
	for k, v := range s.hosts.env {
		env[k] = v
	}
	steps := []replay.Step{{Name: tools.StepTest, Args: command(p), Env: env, Timeout: p.Timeout}}
	if p.Tool != "" && !p.Alone {
		tool, err := tools.For(p.Tool)
		if err != nil {
			return replay.Job{}, r, err
		}
		steps = tool.Steps(r, p.target())
		for i := range steps {
			steps[i].Timeout, steps[i].Env = p.Timeout, merged(steps[i].Env, env)
		}
	}
	after := replay.Step{Name: "after", Args: []string{"sh", "-c", look}, Timeout: 15 * time.Second}
	limits := replay.Limits{Wall: time.Duration(len(steps))*p.Timeout + slack, Memory: 192 << 20, Pids: 64, Output: 64 << 10, Disk: 32 << 20, CPUs: 1}
	limits = p.Limits.Or(limits)
	if p.Tool == "gotest" || p.Recipe {
		limits.Memory, limits.Pids, limits.Disk = 2<<30, 512, 512<<20 // of the compiler
	}
	return replay.Job{
		Name: p.Kind + "/" + p.Name, Tree: sandboxtest.NewTree(p.Kind+"/"+p.Name, p.Files...), Env: prepared, Steps: append(steps, after), Limits: limits,
	}, r, nil
}

// target is the file with the tests; a project with a recipe is run whole.
func (p *Program) target() replay.Target {
	if p.Recipe {
		return replay.Target{}
	}
	return replay.Target{Paths: []string{p.Main}}
}

// look counts what is alive besides itself, the sandbox's own processes and what belongs to them.
const look = `n=0; for p in /proc/[0-9]*; do if tr '\0' '\n' 2>/dev/null <$p/environ | grep -q '^HOST_DIR='; then n=$((n+1)); cat $p/cmdline | tr '\0' ' '; fi; done
echo "alive $n"; echo x > {tree}/after.txt && cat {tree}/after.txt`

func merged(a, b map[string]string) map[string]string {
	out := map[string]string{}
	for _, m := range []map[string]string{b, a} {
		for k, v := range m {
			out[k] = v
		}
	}
	return out
}

// one runs a program and says what was not as it must be.
func (s *suite) one(ctx context.Context, p Program) []string {
	j, r, err := s.job(ctx, p)
	if err != nil {
		return []string{err.Error()}
	}
	ctx, cancel := context.WithTimeout(ctx, j.Limits.Wall+slack)
	defer cancel()
	res, err := s.box.Run(ctx, j)
	if err != nil {
		return []string{fmt.Sprintf("the sandbox failed: %v", err)}
	}
	wrong := s.judge(p, res)
	if p.Tool != "" {
		tool, err := tools.For(p.Tool)
		if err != nil {
			return []string{err.Error()}
		}
		wrong = append(wrong, p.judge(tool.Parse(r, p.target(), res))...)
	}
	if harm := s.hosts.harm(); harm != "" {
		wrong = append(wrong, harm+" (by this program or one beside it)")
	}
	if len(wrong) > 0 {
		step := cmp.Or(res.Step(tools.StepTest), &res.Steps[0])
		wrong[len(wrong)-1] += fmt.Sprintf("\n\t%s %d after %v\n\tstdout %.600q\n\tstderr %.600q", step.Stop, step.ExitCode, step.Duration, step.Stdout, step.Stderr)
	}
	return wrong
}

// judge compares what the sandbox says with what must be.
func (s *suite) judge(p Program, res replay.Result) (wrong []string) {
	say := func(bad bool, format string, args ...any) {
		if bad {
			wrong = append(wrong, fmt.Sprintf(format, args...))
		}
	}
	step, after := res.Step(tools.StepTest), res.Step("after")
	if step == nil || after == nil {
		return []string{"a step is lost"}
	}
	say(!p.ends(*step), "it ended as %s %d, want %v", step.Stop, step.ExitCode, p.Stops)
	for _, st := range res.Steps {
		both := string(st.Stdout) + string(st.Stderr)
		say(strings.Contains(both, escaped), "it says that it got out")
		say(strings.Contains(both, s.hosts.secret), "it read the host's secret")
	}
	for name, data := range res.Files {
		say(strings.Contains(string(data), s.hosts.secret), "the host's secret is in the report %q", name)
		say(strings.Contains(string(data), "root:x:0:0"), "a file outside is in the report %q", name)
	}
	say(step.Duration > p.Timeout+slack, "it took %v", step.Duration)
	say(p.Says != "" && !strings.Contains(string(step.Stdout), p.Says), "it does not say %q", p.Says)
	say(p.Lingering != step.Lingering && p.Lingering, "that it left processes is not said")
	say(p.Truncated && !step.Truncated, "its output was not cut")
	if _, there := res.Files[p.Reports]; p.Reports != "" {
		say(!there, "the report %q was not collected", p.Reports)
	}
	say(!strings.HasSuffix(string(after.Stdout), "alive 0\nx\n"), "afterwards: %s %d %.300q %.300q", after.Stop, after.ExitCode, after.Stdout, after.Stderr)
	return wrong
}

// failing are the tests that fail in all projects of programs, whatever they do about it.
var failing = regexp.MustCompile(`::(?:a|A\.a|TestA|T::test_a)$`)

// judge compares what a tool reads in the run with what must be.
func (p *Program) judge(r replay.Report) []string {
	got := []string{"run-" + string(r.RunTests)}
	if r.Inconsistent != "" {
		got = append(got, "inconsistent")
	}
	for _, t := range r.Tests {
		got = append(got, string(t.Outcome))
		if r.Inconsistent == "" && t.Outcome == replay.Pass && failing.MatchString(t.ID) {
			return []string{fmt.Sprintf("%s fails, and was read as passed", t.ID)}
		}
	}
	for range r.Broken {
		got = append(got, "broken")
	}
	if len(p.Outcomes) == 0 || slices.ContainsFunc(p.Outcomes, func(o string) bool { return slices.Contains(got, o) }) {
		return nil
	}
	return []string{fmt.Sprintf("its tests were read as %v, want one of %v", got, p.Outcomes)}
}

func (s *suite) note(kind string, right bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.counts[kind] == nil {
		s.counts[kind] = &count{}
	}
	s.counts[kind].programs++
	if right {
		s.counts[kind].right++
	}
}

// table has a line for each kind and one for all.
func (s *suite) table() string {
	var text strings.Builder
	w := tabwriter.NewWriter(&text, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintf(w, "%s: kind\tprograms\tright\t\n", s.box.Name())
	var all count
	for _, kind := range sorted(s.counts) {
		c := s.counts[kind]
		fmt.Fprintf(w, "%s\t%d\t%d\t\n", kind, c.programs, c.right)
		all.programs, all.right = all.programs+c.programs, all.right+c.right
	}
	fmt.Fprintf(w, "all\t%d\t%d\t\n", all.programs, all.right)
	w.Flush()
	return text.String()
}

func sorted(m map[string]*count) []string {
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Only is the part of names that a value of Variable asks for: "all" and "1" ask for all programs.
func Only(value string) string {
	if value == "all" || value == "1" {
		return ""
	}
	return value
}

// compiled is the name of a program's binary.
func compiled(p Program) string { return p.Kind + "-" + strings.ReplaceAll(p.Name, ".", "-") }
