// Package operation checks, without a model, whether those who made a state executable obeyed the rules: production files are
// as they were, tests are not weaker, nothing of the repository's own later history was fetched, what had to be done was done,
// and the report says what happened.
//
// A finding is sure, or it is a question for the judge of the same name. It reads commands as data and runs nothing; what the text
// of a command does not show is a question, never an acquittal. What it finds nothing wrong with may still be wrong: commands can
// hide more than their text shows, which is why a recipe is replayed from scratch before it counts.
package operation

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// The codes, as the judge of operations has them. No finding at all is "ok".
const (
	EditedProduction = "edited_production" // also: replaced by a release of the project, or by its history
	WeakenedTest     = "weakened_test"
	SkippedRequired  = "skipped_required"
	Misreported      = "misreported"
)

// Finding is one breach of the rules, or what looks like one.
type Finding struct {
	Code string `json:"code"`
	Sure bool   `json:"sure"`           // else the judge decides
	Turn int    `json:"turn,omitempty"` // of the command, if it is one
	Path string `json:"path,omitempty"` // of the file, if it is one
	What string `json:"what"`           // one line
}

func (f Finding) String() string {
	where := f.Path
	if f.Turn > 0 {
		where = fmt.Sprintf("turn %d", f.Turn)
	}
	if where != "" {
		where += ": "
	}
	return f.Code + ": " + where + f.What
}

// Sure returns the first finding that needs no judge, or nil.
func Sure(findings []Finding) *Finding {
	i := slices.IndexFunc(findings, func(f Finding) bool { return f.Sure })
	if i < 0 {
		return nil
	}
	return &findings[i]
}

// Questions are the findings that are for the judge.
func Questions(findings []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Sure })
}

// Role says what a file is for.
type Role string

// The roles. Other is documentation, data and what builds leave behind.
const (
	Production Role = "production"
	Test       Role = "test"
	Config     Role = "config" // of builds and of tests
	Other      Role = "other"
)

// File is one file that is not as it was. Before is nil when it was added, After when it was deleted.
type File struct {
	Path    string
	Role    Role
	Before  []byte
	After   []byte
	Special bool // a pipe, a device or a link out of the tree stands there now
}

// Command is one command of a session.
type Command struct {
	Turn     int
	Text     string
	Ended    bool // it exited by itself; ExitCode holds
	ExitCode int
	Output   string
}

// Self says by which names the project can be fetched.
type Self struct {
	Repo  string   // "owner/name" on a forge
	Names []string // of its distributions and modules in any registry: "requests", "github.com/o/r", "@o/r"
}

// Need is a step that must be there: a command with all these words, which ran to its end.
type Need struct {
	Name  string
	Words []string
}

// Claim is what a report says about one command. Counts are by outcome: "passed", "failed", "errors", "skipped".
type Claim struct {
	Command  string
	ExitCode *int
	Counts   map[string]int
}

// Input is what is checked.
type Input struct {
	Files    []File
	Allowed  []string // test files that may be adapted
	Commands []Command
	Self     Self
	Needs    []Need
	Claims   []Claim
	Quotes   []string                         // lines that the report says were printed
	Vars     map[string]string                // that every command finds set
	Source   func(path string) (string, bool) // a file of the tree as it was; may be nil
}

// Check returns everything that breaks a rule or may do so, sure findings first, each kind in the order of files and commands.
func Check(in Input) []Finding {
	var out []Finding
	out = append(out, files(in)...)
	out = append(out, fetches(in)...)
	out = append(out, needs(in)...)
	out = append(out, claims(in)...)
	slices.SortStableFunc(out, func(a, b Finding) int {
		return boolInt(b.Sure) - boolInt(a.Sure)
	})
	return out
}

func boolInt(b bool) int {
	if b {
		return 1
	}
	return 0
}

// files compares what is in the tree with what was.
func files(in Input) []Finding {
	var out []Finding
	for _, f := range in.Files {
		add := func(code string, sure bool, what string) {
			out = append(out, Finding{Code: code, Sure: sure, Path: f.Path, What: what})
		}
		existed := f.Before != nil || f.Special
		switch {
		case Generated(f.Path) && f.Before == nil:
		case f.Role == Production && existed:
			add(EditedProduction, true, "a production file is not as it was")
		case f.Role == Production:
			add(EditedProduction, false, "a production file was added")
		case f.Role == Test && slices.Contains(in.Allowed, f.Path):
			out = append(out, weakened(f)...)
		case f.Role == Test && existed:
			add(WeakenedTest, true, "a test file outside of the allowed ones is not as it was")
		case f.Role == Test:
			add(WeakenedTest, false, "a test file was added")
		case f.Role == Config:
			add(EditedProduction, false, "a configuration file is not as it was")
		}
	}
	return out
}

// Generated reports whether a new file is what builds and test runs leave behind.
func Generated(p string) bool {
	for _, part := range strings.Split(path.Dir(p), "/") {
		switch part {
		case "__pycache__", "build", "dist", "node_modules", "target", ".venv", "venv", ".tox", ".nox", ".eggs", ".git", ".cache", "htmlcov":
			return true
		}
		if strings.HasSuffix(part, ".egg-info") || strings.HasSuffix(part, ".dist-info") || strings.HasSuffix(part, "_cache") {
			return true
		}
	}
	switch path.Ext(p) {
	case ".pyc", ".so", ".o", ".a", ".pyd", ".log", ".egg-link":
		return true
	}
	return slices.Contains([]string{"_version.py", ".coverage", "junit.xml"}, path.Base(p))
}
