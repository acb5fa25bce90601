package replay

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"
)

// Opener is a sandbox that can keep a state open for many commands. Both sandboxes are.
type Opener interface {
	Sandbox
	// Open makes a fresh state: tree, then overlays. Its errors are the machinery's.
	Open(ctx context.Context, s SessionSpec) (Session, error)
}

// SessionSpec says what a session starts from.
type SessionSpec struct {
	Name     string // for logs and labels
	Tree     Tree
	Overlays []Overlay
	// Recipe gives the image, the variables and the base of the environment's folder, which is empty else: its Install is
	// not run. It is not read when Env is given.
	Recipe Recipe
	Env    *Env // a prepared environment to start from; what the session writes to it is lost with the session
	// Build gives the session what building environments has: the network, and in docker the rights to install packages.
	// Else it has what a job has: no network at all. A session with an Env never builds.
	Build bool
	// ReadOnly keeps commands from writing to the tree, where the sandbox has walls for that.
	ReadOnly bool
	Limits   Limits // Wall is for the whole session
}

// Session is one state that stays open. It is used by one caller at a time, and gone with Close, or with its process.
type Session interface {
	// Exec runs one step in the state, with the limits of the session, a time-out of its own, its output cut in the middle
	// with a mark. What it leaves running is ended. After the wall limit of the session, every step ends as Timeout.
	Exec(ctx context.Context, s Step) (StepResult, error)
	// Expand replaces the tokens {tree}, {out} and {env} as in steps.
	Expand(s string) string
	// Changes returns what the commands changed in the tree against how it started, by path. The environment's folder is
	// none of it. Folders do not count.
	Changes(ctx context.Context) ([]Change, error)
	// Read returns a file of the tree as it is now, or an error that wraps fs.ErrNotExist or ErrTooLarge. A link is not followed.
	Read(ctx context.Context, path string) (File, error)
	// Close removes the state. A second call does nothing.
	Close() error
}

// ErrTooLarge says that a session's tree holds more than may be looked at.
var ErrTooLarge = errors.New("too much to look at")

// What is looked at of a session's tree, at most: the code that ran there chose all of it.
const (
	MaxEntries = 1_000_000
	MaxRead    = 16 << 20 // bytes of one file that Read returns
)

// ChangeKind says what became of a path.
type ChangeKind string

// The kinds of changes. Special is a pipe, a socket or a device in a path's place: no file has its bytes.
const (
	Added    ChangeKind = "added"
	Modified ChangeKind = "modified"
	Deleted  ChangeKind = "deleted"
	Special  ChangeKind = "special"
)

// Change is one path of a tree that is not as it was.
type Change struct {
	Path   string     `json:"path"`
	Kind   ChangeKind `json:"kind"`
	Before Entry      `json:"before,omitzero"` // zero when added
	After  Entry      `json:"after,omitzero"`  // zero when deleted
}

// Entry is what a path holds.
type Entry struct {
	Mode   fs.FileMode `json:"mode"` // as in File; other bits of a type when it is special
	Digest string      `json:"digest"`
	Size   int64       `json:"size"`
}

// EntryOf describes a file.
func EntryOf(f File) Entry {
	sum := sha256.Sum256(f.Data)
	return Entry{Mode: PlainMode(f.Mode), Digest: "sha256:" + hex.EncodeToString(sum[:]), Size: int64(len(f.Data))}
}

// PlainMode folds a mode to one of the three that File has.
func PlainMode(m fs.FileMode) fs.FileMode {
	switch {
	case m&fs.ModeSymlink != 0:
		return fs.ModeSymlink | 0o777
	case m&0o111 != 0:
		return 0o755
	}
	return 0o644
}

// Contents are the entries of a tree by path.
type Contents map[string]Entry

// Baseline is what a tree with overlays holds, as a sandbox lays it out.
func Baseline(ctx context.Context, t Tree, overlays []Overlay) (Contents, error) {
	c := Contents{}
	err := t.Each(ctx, func(f File) error {
		c[f.Path] = EntryOf(f)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("reading the tree %s: %w", t.ID(), err)
	}
	for _, o := range overlays {
		for _, p := range o.Remove {
			c.drop(p)
		}
		for _, f := range o.Files {
			c.drop(f.Path)
			for i, r := range f.Path {
				if r == '/' {
					delete(c, f.Path[:i]) // a file in a folder's place
				}
			}
			c[f.Path] = EntryOf(f)
		}
	}
	return c, nil
}

func (c Contents) drop(p string) {
	maps.DeleteFunc(c, func(k string, _ Entry) bool { return k == p || strings.HasPrefix(k, p+"/") })
}

// Compare lists what differs between a tree before and after, by path.
func Compare(before, after Contents) []Change {
	var out []Change
	for p, a := range after {
		b, was := before[p]
		switch {
		case special(a.Mode):
			out = append(out, Change{p, Special, b, a})
		case !was:
			out = append(out, Change{p, Added, b, a})
		case a != b:
			out = append(out, Change{p, Modified, b, a})
		}
	}
	for p, b := range before {
		if _, is := after[p]; !is {
			out = append(out, Change{p, Deleted, b, Entry{}})
		}
	}
	slices.SortFunc(out, func(a, b Change) int { return strings.Compare(a.Path, b.Path) })
	return out
}

func special(m fs.FileMode) bool { return m&fs.ModeType&^fs.ModeSymlink != 0 }
