// Package project is a state's files as those see them who look for a recipe: which there are, and what the small ones say.
//
// It runs nothing and trusts nothing: links are not followed, and a huge file declares nothing. It knows no test tool.
package project

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"maps"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"sluice/replay"
)

// ErrNoRecipe says that no recipe is known for a tree. It is a verdict about the tree and no fault.
type ErrNoRecipe struct{ Reason string }

func (e ErrNoRecipe) Error() string { return "no recipe: " + e.Reason }

// Language is what tools are for. Tools of one language name the same one.
type Language struct {
	Name       string
	Extensions []string // of its source and test files, with the dot; none belongs to two languages
}

// MaxFile bounds the size in bytes of a file that is read for what it declares.
const MaxFile = 4 << 20

// Bounds in bytes of the sources that are looked at for what no file declares: of one, since a longer one is data, and of all of a Tree.
const (
	maxSource  = 1 << 20
	maxSources = 128 << 20
)

// Bounds in bytes of what file systems hold: of a name, and of a path with room for the folder that the tree is laid into.
const (
	maxName = 255
	maxPath = 3840
)

// unfit reports whether a path can be laid into no folder. Git's objects may have such, and of megabytes.
func unfit(name string) bool {
	if len(name) > maxPath {
		return true
	}
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part == "." || part == ".." || len(part) > maxName {
			return true
		}
	}
	return false
}

// Tree is a tree with the list of its files. Links are none of them.
type Tree struct {
	ctx   context.Context // of the one call that made it
	tree  replay.Tree
	files map[string]bool
	dirs  map[string]bool

	looked int64           // bytes of sources that were looked at
	passed map[string]bool // sources that were not
}

// Scan lists a tree. The context holds for everything that is read later. A tree that no file system holds has no recipe: it would look
// like a fault of the sandbox, each time anew.
func Scan(ctx context.Context, t replay.Tree) (*Tree, error) {
	s := &Tree{ctx: ctx, tree: t, files: map[string]bool{}, dirs: map[string]bool{}, passed: map[string]bool{}}
	var odd *string
	err := t.Select(ctx, func(f replay.File) bool {
		if odd == nil && unfit(f.Path) {
			odd = &f.Path
		}
		if odd != nil || f.Mode&fs.ModeSymlink != 0 {
			return false
		}
		s.files[f.Path] = true
		for d := path.Dir(f.Path); d != "." && !s.dirs[d]; d = path.Dir(d) {
			s.dirs[d] = true
		}
		return false
	}, nil)
	if err != nil {
		return nil, fmt.Errorf("listing the tree: %w", err)
	}
	if odd != nil {
		begin := (*odd)[:min(len(*odd), 80)]
		return nil, ErrNoRecipe{Reason: fmt.Sprintf("a path of the tree fits into no folder: %d bytes that begin with %q", len(*odd), begin)}
	}
	return s, nil
}

// Has reports whether there is a file of that name.
func (t *Tree) Has(name string) bool { return t.files[name] }

// HasDir reports whether there is a folder of that name with a file in it.
func (t *Tree) HasDir(name string) bool { return t.dirs[name] }

// HasAny reports whether a folder holds a file of one of the names.
func (t *Tree) HasAny(dir string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return t.files[path.Join(dir, n)] })
}

// Files are the paths of all files, in no order.
func (t *Tree) Files() iter.Seq[string] { return maps.Keys(t.files) }

// Each calls do for every file whose path pick wants, in path order, until do returns an error. Links and huge files are left out.
func (t *Tree) Each(pick func(path string) bool, do func(replay.File) error) error {
	wanted := func(f replay.File) bool { return f.Mode&fs.ModeSymlink == 0 && pick(f.Path) }
	return t.tree.Select(t.ctx, wanted, func(f replay.File) error {
		if len(f.Data) > MaxFile {
			return nil
		}
		return do(f)
	})
}

// Sources calls do as Each does, for files that are many and of which none is needed: they only hint at something. What is over the bounds
// is left out, which Notes says.
func (t *Tree) Sources(pick func(path string) bool, do func(replay.File) error) error {
	return t.Each(pick, func(f replay.File) error {
		size := int64(len(f.Data))
		if size > maxSource || t.looked+size > maxSources {
			t.passed[f.Path] = true
			return nil
		}
		t.looked += size
		return do(f)
	})
}

// Notes say what of the tree was left out so far.
func (t *Tree) Notes() []string {
	if len(t.passed) == 0 {
		return nil
	}
	first := slices.Min(slices.Collect(maps.Keys(t.passed)))
	return []string{fmt.Sprintf("%d sources were not looked at, such as %.80q: one is longer than %d MiB, or all are longer than %d MiB",
		len(t.passed), first, maxSource>>20, maxSources>>20)}
}

// Read returns a file's text; "" if there is none. A huge one counts as none: it declares nothing.
func (t *Tree) Read(name string) (string, error) {
	if !t.files[name] {
		return "", nil
	}
	data, err := t.tree.ReadFile(t.ctx, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) > MaxFile {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// Nearest returns the folder with a marker file that most of the paths are in; ties go to the shorter one. ok is false
// if no path is in such a folder.
func (t *Tree) Nearest(paths []string, markers ...string) (root string, ok bool) {
	votes := map[string]int{}
	for _, p := range paths {
		for dir := Dir(path.Clean("/" + p)[1:]); ; dir = Dir(dir) {
			if t.HasAny(dir, markers) {
				votes[dir]++
				break
			}
			if dir == "" {
				break
			}
		}
	}
	best := 0
	for dir, n := range votes {
		if n > best || n == best && (len(dir) < len(root) || len(dir) == len(root) && dir < root) {
			root, best = dir, n
		}
	}
	return root, best > 0
}

// Inside resolves a folder or file that is named relative to root, within the tree.
func Inside(root, name string) (string, bool) {
	dir := path.Join(root, name)
	if path.IsAbs(name) || dir == ".." || strings.HasPrefix(dir, "../") {
		return "", false
	}
	return below(dir), true
}

// Within reports whether a clean path of a tree is a folder's, or the folder itself; everything is within "", the tree's own.
func Within(dir, name string) bool {
	return dir == "" || name == dir || strings.HasPrefix(name, dir+"/")
}

// Dir is the folder of a file or folder of a tree; "" is the tree's own.
func Dir(name string) string { return below(path.Dir(name)) }

// below writes a clean path as trees do. Names may begin with a dot.
func below(dir string) string {
	if dir == "." {
		return ""
	}
	return dir
}

// Relative names a path of the tree from inside the folder root the way many tools want it: with a leading dot.
func Relative(root, name string) string {
	rel, err := filepath.Rel("/"+root, "/"+name)
	if err != nil {
		return "./" + name // cannot happen: both are absolute
	}
	rel = filepath.ToSlash(rel)
	if rel == "." || rel == ".." || strings.HasPrefix(rel, "../") {
		return rel
	}
	return "./" + rel
}

// FirstLine is the first line of a text, for reasons.
func FirstLine(s string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(s), "\n")
	return line
}

// Fingerprint is the digest of a recipe and of the bytes of its inputs in a tree.
func Fingerprint(ctx context.Context, t replay.Tree, r replay.Recipe) (string, error) {
	r.Fingerprint, r.Notes, r.Tags = "", nil, nil
	r.Install = slices.DeleteFunc(slices.Clone(r.Install), func(s replay.Step) bool { return s.Warm })
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(r); err != nil {
		return "", fmt.Errorf("encoding the recipe: %w", err)
	}
	for _, name := range r.Inputs {
		if name == "*" {
			fmt.Fprintf(h, "tree %q\n", t.ID())
			continue
		}
		data, err := t.ReadFile(ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("reading the input %s: %w", name, err)
		}
		fmt.Fprintf(h, "%q %v %d\n", name, err == nil, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
