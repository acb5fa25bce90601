// Package hostile is programs that attack the sandbox that runs them, as data: what each tries, how it must end, and what must not have
// happened. It runs them all on a sandbox, beside bystanders of the host's that no program may reach, and says how many of
// each kind were held.
//
// The programs lie in programs/, one archive for each kind. A program stops at the door: it shows that it could have done harm to
// the host, and does none. It is imported by tests only, and never runs a program outside of a sandbox.
package hostile

import (
	"embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/rogpeppe/go-internal/txtar"

	"sluice/replay"
)

//go:embed programs/*.txtar
var archives embed.FS

// Program is one program, or one project whose tests are the program.
type Program struct {
	Kind, Name string
	Fast       bool   // it belongs to the subset that every run of the tests has
	Tool       string // the test tool that reads what it left; "" for none
	Alone      bool   // the tool does not run it, as if the tool had been replaced
	Recipe     bool   // it is a project whose recipe the tool makes, with an environment and a build of its own
	Files      []replay.File
	Main       string // the file that is started, or that holds the tests
	Limits     replay.Limits
	Timeout    time.Duration
	// Stops are the ends that it may have: "exited", "exited:0", "exited:!0", "signal", "timeout", "oom", "disk".
	Stops []string
	// Says is in what it prints; Reports is one of the files that must have been collected.
	Says, Reports string
	// Outcomes are what its tests may be said to have done: "fail", "error", …, or "inconsistent" of the whole.
	Outcomes             []string
	Lingering, Truncated bool
}

// Programs are all programs, by kind and in the order of their archives. An archive is txtar: a file "name.ext" is a program that begins
// with a line "#: key=value …"; a file "name/path" belongs to the project "name", and its main file has that line.
func Programs() ([]Program, error) {
	entries, err := archives.ReadDir("programs")
	if err != nil {
		return nil, err
	}
	var all []Program
	for _, e := range entries {
		data, err := archives.ReadFile("programs/" + e.Name())
		if err != nil {
			return nil, err
		}
		kind := strings.TrimSuffix(e.Name(), ".txtar")
		list, err := parse(kind, data)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", e.Name(), err)
		}
		all = append(all, list...)
	}
	return all, nil
}

// parse reads one archive.
func parse(kind string, data []byte) ([]Program, error) {
	var list []Program
	at := map[string]int{}
	for _, f := range txtar.Parse(data).Files {
		name, below, project := strings.Cut(f.Name, "/")
		if !project {
			below = f.Name
		}
		i, known := at[name]
		if known && !project {
			return nil, fmt.Errorf("program %s is there twice", name)
		}
		if !known {
			i = len(list)
			at[name] = i
			list = append(list, Program{Kind: kind, Name: name, Timeout: 40 * time.Second})
		}
		p := &list[i]
		p.Files = append(p.Files, replay.File{Path: below, Mode: 0o644, Data: f.Data})
		line, _, _ := strings.Cut(string(f.Data), "\n")
		if _, words, ok := strings.Cut(line, "#:"); ok || strings.HasPrefix(line, "//:") {
			if !ok {
				words = line[len("//:"):]
			}
			p.Main = below
			if err := p.settings(words); err != nil {
				return nil, fmt.Errorf("program %s: %w", name, err)
			}
		}
	}
	for _, p := range list {
		if p.Main == "" || len(p.Stops) == 0 && len(p.Outcomes) == 0 {
			return nil, fmt.Errorf("program %s does not say how it must end", p.Name)
		}
	}
	return list, nil
}

// settings reads "fast want=timeout pids=50 says=x".
func (p *Program) settings(words string) error {
	for _, w := range strings.Fields(words) {
		key, value, _ := strings.Cut(w, "=")
		var err error
		switch key {
		case "fast":
			p.Fast = true
		case "want":
			p.Stops = strings.Split(value, "|")
		case "outcome":
			p.Outcomes = strings.Split(value, "|")
		case "alone":
			p.Alone = true
		case "recipe":
			p.Recipe, p.Timeout = true, 3*time.Minute
		case "tool":
			p.Tool = value
		case "says":
			p.Says = value
		case "reports":
			p.Reports = value
		case "lingering":
			p.Lingering = true
		case "truncated":
			p.Truncated = true
		case "wall":
			p.Timeout, err = time.ParseDuration(value)
		case "pids":
			p.Limits.Pids, err = strconv.ParseInt(value, 10, 64)
		case "memory":
			p.Limits.Memory, err = megabytes(value)
		case "disk":
			p.Limits.Disk, err = megabytes(value)
		default:
			err = fmt.Errorf("unknown setting %q", w)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func megabytes(s string) (int64, error) {
	n, err := strconv.ParseInt(strings.TrimSuffix(s, "M"), 10, 64)
	return n << 20, err
}

// ends reports whether a step ended in one of the ways that the program may end.
func (p *Program) ends(r replay.StepResult) bool {
	return len(p.Stops) == 0 || slices.ContainsFunc(p.Stops, func(want string) bool {
		stop, code, coded := strings.Cut(want, ":")
		if stop != string(r.Stop) {
			return false
		}
		not, negated := strings.CutPrefix(code, "!")
		return !coded || negated && strconv.Itoa(r.ExitCode) != not || !negated && strconv.Itoa(r.ExitCode) == code
	})
}
