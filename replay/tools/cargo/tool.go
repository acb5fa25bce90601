// Package cargo is the test tool of Rust: what `cargo test` compiles and runs, with a report for machines.
//
// Test ids are "crate::module::test" for a library's own tests, "crate/test/name::module::test" for those of another target (bin,
// example and bench likewise), and "crate/doc::src/file.rs - item" for examples in the documentation: without the line, so that
// they stay the same from one state to the next, the second of one item ends in "#2".
//
// The events of Rust's test library are its only machine-readable report, and it calls them unstable: they are asked for with
// RUSTC_BOOTSTRAP=1 in the environment of the test programs alone, never while anything is compiled, since build scripts look at that
// variable. The other reporters have none (cargo's console) or have to be installed and may run a test twice (nextest): of projects that have
// settings for nextest, each test runs in a process of its own, as it would there. The package never reads a console where an event says the same.
package cargo

import (
	"errors"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Name of the tool in recipes.
const Name = "cargo"

// Image has Rust's compiler, cargo, and Python for the programs of ours.
const Image = "sluice/rust:trixie"

// Steps besides the tests.
const (
	stepBuild   = "build tests"
	stepExplain = "build source"
)

// The files that the steps leave.
const (
	madeFile   = "cargo-made.jsonl"
	reportFile = "cargo.jsonl"
)

// Tool runs cargo.
type Tool struct{}

// Name is "cargo".
func (Tool) Name() string { return Name }

// Language is Rust.
func (Tool) Language() project.Language {
	return project.Language{Name: "Rust", Extensions: []string{".rs"}}
}

// Image is the image with Rust's toolchain.
func (Tool) Image() string { return Image }

// CommandWords are in every command that runs the tests.
func (Tool) CommandWords() []string { return []string{"cargo", "test"} }

// Clock asks Rust's library the time.
func (Tool) Clock(replay.Recipe) []string { return []string{"sh", "-c", clockProgram} }

const clockProgram = `d=$(mktemp -d) && echo 'fn main() { println!("{}", std::time::UNIX_EPOCH.elapsed().unwrap().as_secs()) }' >"$d/c.rs" && rustc -o "$d/c" "$d/c.rs" && "$d/c"`

// BlankEnv says where cargo keeps what it brings.
func (Tool) BlankEnv() map[string]string { return environment("") }

// Owns reports whether a test is one of a crate of the workspace, which all are that cargo runs.
func (Tool) Owns(r replay.Recipe, id string) bool {
	place, _, ok := strings.Cut(id, "::")
	name, _, _ := strings.Cut(place, "/")
	return ok && (r.Module == "" || slices.Contains(strings.Fields(r.Module), name))
}

// CutShort lists the targets whose program ended in the middle of a test or at its time limit: which of its other tests ran is chance.
func (Tool) CutShort(tests []replay.Test) []string {
	var scopes []string
	for _, t := range tests {
		if t.Kind == replay.Crash || t.Outcome == replay.TimedOut {
			place, _, _ := strings.Cut(t.ID, "::")
			scopes = append(scopes, place+"::")
		}
	}
	slices.Sort(scopes)
	return slices.Compact(scopes)
}

// Names are the names of the packages of the workspace.
func (Tool) Names(t *project.Tree, paths []string) ([]string, error) {
	root, err := Tool{}.Find(t, paths)
	var w *workspace
	if err == nil {
		w, err = readWorkspace(t, root)
	}
	if errors.As(err, new(project.ErrNoRecipe)) {
		return nil, nil // no workspace, no names
	}
	if err != nil {
		return nil, err
	}
	return w.names(), nil
}

// StepsByHand is the command that a person would type.
func (Tool) StepsByHand(r replay.Recipe, _ replay.Target) []replay.Step {
	args := []string{"cargo", "test", "--workspace", "--offline", "--no-fail-fast"}
	return append(slices.Clone(r.Build), replay.Step{Name: report.StepTest, Args: args, Dir: r.Root})
}
