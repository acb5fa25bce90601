// Package replay makes repository states executable and runs their tests.
//
// It owns the words for that: a Tree is what a state's files are, an Overlay is test files laid over it, a Recipe
// makes it executable, a Sandbox runs steps over it, a Runner turns the steps' reports into outcomes. It never reads
// git, never decides about a candidate, and never lets code of a mined repository reach the network while tests run.
package replay

import (
	"cmp"
	"context"
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"time"
)

// File is one file of a tree or overlay. Path is slash-separated, relative and clean; its bytes are the repository's
// own, which need not be UTF-8. A symbolic link has fs.ModeSymlink in Mode and its target in Data.
type File struct {
	Path string
	Mode fs.FileMode // 0o644, 0o755 or fs.ModeSymlink|0o777
	Data []byte
}

// Tree is the files of one repository state.
type Tree interface {
	// ID names the content: two trees with one ID hold the same bytes.
	ID() string
	// Each calls f for every file, in path order, until f returns an error.
	Each(ctx context.Context, f func(File) error) error
	// Select is Each for the files that pick wants. pick is asked about every file once, in no order and before the first call of
	// f, with no data: the bytes of the others are not read, and need not be at hand. f may be nil if
	// pick wants none.
	Select(ctx context.Context, pick func(File) bool, f func(File) error) error
	// ReadFile returns one file's bytes, or an error that wraps fs.ErrNotExist.
	ReadFile(ctx context.Context, path string) ([]byte, error)
}

// Overlay is laid over a tree before its tests run: Remove first, then Files.
type Overlay struct {
	Files  []File
	Remove []string
}

// Recipe is what makes a state executable. It is data: it is stored, compared and exported.
type Recipe struct {
	Runner string            `json:"runner"`        // the test tool, of package replay/tools
	Image  string            `json:"image"`         // base image of the docker sandbox
	Env    map[string]string `json:"env,omitempty"` // for every step
	// Base is a recipe whose environment this one starts from, so that many share what they have in common (a compiled
	// standard library). It reads no file of the tree, and has no base of its own.
	Base    *Recipe `json:"base,omitempty"`
	Install []Step  `json:"install,omitempty"` // builds the environment; may use the network
	Build   []Step  `json:"build,omitempty"`   // builds the source in each fresh state; no network
	Root    string  `json:"root,omitempty"`    // folder of the module or project, "" for the tree's root
	Module  string  `json:"module,omitempty"`  // Go: the module path
	// Tags are words that test files of the tree are behind, by their build constraints (Go). They are not part of the fingerprint.
	Tags []string `json:"tags,omitempty"`
	// Inputs are the files that Install reads (go.mod, pyproject.toml, …): only these are present while it runs, so
	// states that agree on them share one environment. "*" stands for the whole tree.
	Inputs []string `json:"inputs,omitempty"`
	// Fingerprint is the digest of everything above but Tags, and of the bytes of Inputs: one environment per fingerprint.
	Fingerprint string `json:"fingerprint"`
	// Notes say what the project asked for and did not get, and why. They are not part of the fingerprint.
	Notes []string `json:"notes,omitempty"`
}

// Step is one command. Args[0] is looked up in the sandbox's PATH; there is no shell unless Args names one. The tokens
// {tree}, {out} and {env} in Args and Env stand for the state's folder, the folder for reports, and the environment's folder.
type Step struct {
	Name    string            `json:"name"`
	Args    []string          `json:"args"`
	Env     map[string]string `json:"env,omitempty"`
	Dir     string            `json:"dir,omitempty"` // relative to the tree
	Timeout time.Duration     `json:"timeout,omitempty"`
	// IfFailed runs the step only if an earlier step of that name did not exit 0: it explains a failure.
	IfFailed string `json:"if_failed,omitempty"`
	// Warm marks a step of Install that only saves time later: it is not part of the fingerprint, and may fail.
	Warm bool `json:"warm,omitempty"`
	// MustPass stops the job when the step does not exit 0.
	MustPass bool `json:"must_pass,omitempty"`
}

// EnvFolder is where every sandbox that has a root of its own puts {env}: tools compile it into what they make and name it in what they say.
const EnvFolder = "/sluice/env"

// Limits bound one job. Zero values mean the sandbox's default.
type Limits struct {
	Wall   time.Duration // for the whole job
	Memory int64         // bytes
	Pids   int64
	CPUs   float64 // the time of so many cores; what tools take for the number of cores goes by it
	Output int64   // bytes kept of each step's stdout and stderr, cut in the middle with a mark
	Disk   int64   // bytes one file may have
}

// Or fills what l leaves open from others.
func (l Limits) Or(others Limits) Limits {
	return Limits{
		Wall: cmp.Or(l.Wall, others.Wall), Memory: cmp.Or(l.Memory, others.Memory), Pids: cmp.Or(l.Pids, others.Pids),
		CPUs: cmp.Or(l.CPUs, others.CPUs), Output: cmp.Or(l.Output, others.Output), Disk: cmp.Or(l.Disk, others.Disk),
	}
}

// Env is a prepared environment: Recipe.Install has run and its result can be shared by many jobs.
type Env struct {
	Recipe  Recipe `json:"recipe"`
	Sandbox string `json:"sandbox"`          // "docker" or "local"
	ID      string `json:"id"`               // docker: image id; local: folder name
	Digest  string `json:"digest,omitempty"` // docker: image digest
	Walls   *Walls `json:"walls,omitempty"`  // what stands around its jobs
	Log     string `json:"-"`                // what Install printed
}

// Walls are what stands between a job and the machine: what one suite needs relaxed may break another, so a result is one of these walls.
type Walls struct {
	Sandbox  string   `json:"sandbox"`
	Engine   string   `json:"engine,omitempty"`   // docker: its version
	Platform string   `json:"platform,omitempty"` // "linux/amd64", in the kernel's words
	Runtime  string   `json:"runtime,omitempty"`  // docker: what runs containers
	Security []string `json:"security"`           // docker: the engine's options, a profile by its digest; local: what the kernel enforces
	Rootless bool     `json:"rootless,omitempty"`
	User     string   `json:"user,omitempty"` // of steps
	Loopback []string `json:"loopback"`       // addresses that jobs have
	Limits   Limits   `json:"limits"`         // of a job that names none
}

// Job is one run over a fresh copy of a state: tree, then overlays in order, then steps.
type Job struct {
	Name     string // for logs and labels: "h1+T2 #2"
	Tree     Tree
	Overlays []Overlay
	Env      Env
	Steps    []Step
	Limits   Limits
	// Ahead sets the clock of the steps' programs ahead, as far as they go by the C library and libfaketime is there (see ClockVars).
	Ahead time.Duration
	// Share lets repeats of the job have their beginning in common. It changes no result, and so it is in no key.
	Share Share
}

// Share says what repeats of a job may have in common: they differ in nothing but their name and when they run.
type Share struct {
	// Steps is how many leading steps run no test. If all of them pass, what they left of the state is kept for a while. A repeat begins
	// with a copy of that, which no other job can write to, and with their results.
	Steps int
	// Warm are steps that come next when a state is kept. They only save the later steps time and start no code of the tests; they
	// may fail, and are in no result.
	Warm []Step
}

// Stop says how a step ended.
type Stop string

// The ways a step can end.
const (
	Exited  Stop = "exited"  // by itself; ExitCode holds
	Timeout Stop = "timeout" // killed at its time limit, or not started since the job's was over
	OOM     Stop = "oom"     // killed at the memory limit
	Signal  Stop = "signal"  // by a signal that the sandbox did not send
	Skipped Stop = "skipped" // IfFailed did not hold, or an earlier MustPass step failed
	// DiskFull: killed because the job's files together filled what they may have.
	DiskFull Stop = "disk"
)

// StepResult is what one step did.
type StepResult struct {
	Name      string
	Stop      Stop
	ExitCode  int
	Stdout    []byte
	Stderr    []byte
	Truncated bool // output was cut
	Lingering bool // processes outlived the command and were killed
	Duration  time.Duration
}

// Passed reports whether the step ended by itself and well.
func (r StepResult) Passed() bool { return r.Stop == Exited && r.ExitCode == 0 }

// Due reports whether a step's IfFailed holds after those that are done. A step that was skipped did not fail.
func (s Step) Due(done []StepResult) bool {
	return s.IfFailed == "" || slices.ContainsFunc(done, func(r StepResult) bool {
		return r.Name == s.IfFailed && r.Stop != Skipped && !r.Passed()
	})
}

// Result is what a job did. Files are the regular files that it left in {out}, by relative path.
type Result struct {
	Steps      []StepResult
	Files      map[string][]byte
	Conditions Conditions
}

// Step returns the result of the named step, or nil.
func (r *Result) Step(name string) *StepResult {
	for i := range r.Steps {
		if r.Steps[i].Name == name {
			return &r.Steps[i]
		}
	}
	return nil
}

// Sandbox runs jobs. Its errors are the machinery's (infrastructure) and never a verdict on the repository's code:
// what the code did is in Result. An environment that does not install is an *InstallError.
type Sandbox interface {
	Name() string
	// Prepare runs the recipe's Install over its Inputs, once per fingerprint; later calls return the stored Env. What the network, the disk
	// or the time limit ended is ErrNetwork, ErrNoSpace or ErrInstallTime.
	Prepare(ctx context.Context, r Recipe, t Tree) (Env, error)
	// Run executes a job; it returns within its limits even if the code hangs, forks or keeps its output open.
	Run(ctx context.Context, j Job) (Result, error)
	// Close removes what this process left.
	Close() error
}

// IsDocker reports whether environments of a sandbox are Debian systems of their own, which Install may change as root: those of docker's.
// What stands behind the kind in a sandbox's name are walls that were configured.
func IsDocker(s Sandbox) bool {
	kind, _, _ := strings.Cut(s.Name(), " ")
	return kind == "docker"
}

// InstallError says that a recipe's Install step failed on its own account, which InstallFault tells; Log is what it printed.
type InstallError struct {
	Step   StepResult
	Log    string
	Memory int64 // bytes that the step might have
}

func (e *InstallError) Error() string {
	msg := "installing: step " + e.Step.Name + " " + string(e.Step.Stop)
	if e.Step.Stop == OOM && e.Memory > 0 {
		msg += " at the memory limit of " + strconv.FormatInt(e.Memory>>20, 10) + " MiB"
	}
	return msg
}

// Outcome is one test's result on one state.
type Outcome string

// The outcomes. A test that a run should have held and did not is Missing; it never counts as passed.
const (
	Pass     Outcome = "pass"
	Fail     Outcome = "fail"
	Error    Outcome = "error"
	Skip     Outcome = "skip"
	Missing  Outcome = "missing"
	TimedOut Outcome = "timeout"
)

// Kind says why a test did not pass.
type Kind string

// The kinds of failure. Build means that the test's package did not compile: the test itself never ran.
const (
	Assertion  Kind = "assertion"
	Exception  Kind = "exception"
	Collection Kind = "collection"
	Build      Kind = "build"
	Crash      Kind = "crash"
)

// Test is one test's outcome with the kind of its failure. Message is the first lines of the failure, cut.
type Test struct {
	ID      string  `json:"id"` // package- or file-qualified: "example.com/m/pkg::TestX/sub", "tests/test_a.py::TestC::test_x[p]"
	Outcome Outcome `json:"outcome"`
	Kind    Kind    `json:"kind,omitempty"`
	Message string  `json:"message,omitempty"`
}

// Phase is the outcome of one of the three parts of a run, recorded apart.
type Phase string

// The outcomes of a phase. NotRun: an earlier phase made it pointless; Unknown: nothing proves either way.
const (
	OK      Phase = "ok"
	Failed  Phase = "failed"
	NotRun  Phase = "not-run"
	Unknown Phase = "unknown"
)

// Report is one run of a runner over a state.
type Report struct {
	BuildSource Phase  `json:"build_source"`
	BuildTests  Phase  `json:"build_tests"`
	RunTests    Phase  `json:"run_tests"` // OK: the runner ran to its end (tests may fail)
	Tests       []Test `json:"tests"`     // sorted by ID
	// Broken holds the packages or files that did not build or could not be collected, with the compiler's or
	// collector's words: their tests are missing, not failed.
	Broken map[string]string `json:"broken,omitempty"`
	// Stop is the way the test step ended: Timeout and OOM belong to the run, not to a test.
	Stop Stop `json:"stop"`
	// Inconsistent says why report, exit code and log disagree; "" if they agree. Such a run is evidence of nothing.
	Inconsistent string `json:"inconsistent,omitempty"`
}

// Target chooses what a runner runs. No Paths: everything.
type Target struct {
	Paths []string // test files (or for Go also folders) relative to the tree
}

// Runner knows one test tool: the steps that run it with a machine-readable report in {out}, and how to read that.
type Runner interface {
	Name() string
	Steps(r Recipe, t Target) []Step
	// Parse never panics and never invents a test. An empty or missing report is an inconsistent one.
	Parse(r Recipe, t Target, res Result) Report
}
