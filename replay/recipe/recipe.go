// Package recipe finds out, from a state's files alone, how the state is made executable.
//
// Detect is a function of the tree: it runs nothing, asks no network and reads no clock, so one tree always has one
// recipe. What a repository says is read as data, never as shell: requirements that name addresses, folders outside of
// the tree or options of the installer are dropped, and the recipe's notes say so.
package recipe

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"

	"sluice/replay"
)

// DefaultImage is the base image of the docker sandbox.
const DefaultImage = "sluice/base:trixie"

// Options say what of a tree the recipe is for.
type Options struct {
	Image string // "" for DefaultImage
	// Paths are the files that a change touches: they choose the module or project in a repository of many, and between
	// Go and Python. None: the tree's root decides.
	Paths []string
}

// ErrNoRecipe says that no recipe is known for a tree. It is a verdict about the tree and no fault.
type ErrNoRecipe struct{ Reason string }

func (e ErrNoRecipe) Error() string { return "no recipe: " + e.Reason }

// maxFile bounds the size of a file that is read for what it declares.
const maxFile = 4 << 20

// Detect makes the recipe of a state, or returns an ErrNoRecipe.
func Detect(ctx context.Context, t replay.Tree, o Options) (replay.Recipe, error) {
	s, err := scan(ctx, t)
	if err != nil {
		return replay.Recipe{}, fmt.Errorf("listing the tree: %w", err)
	}
	r, err := s.detect(o)
	if err != nil {
		return replay.Recipe{}, err
	}
	if r.Image = o.Image; r.Image == "" {
		r.Image = DefaultImage
	}
	if r.Base != nil {
		r.Base.Image = r.Image
		if r.Base.Fingerprint, err = s.fingerprint(*r.Base); err != nil {
			return replay.Recipe{}, err
		}
	}
	slices.Sort(r.Inputs)
	r.Inputs = slices.Compact(r.Inputs)
	if r.Fingerprint, err = s.fingerprint(r); err != nil {
		return replay.Recipe{}, err
	}
	return r, nil
}

func (s *source) detect(o Options) (replay.Recipe, error) {
	goRoot, goErr := s.goRoot(o.Paths)
	pyRoot, pyErr := s.pyRoot(o.Paths)
	switch {
	case goErr != nil && pyErr != nil:
		return replay.Recipe{}, ErrNoRecipe{goErr.Error() + "; " + pyErr.Error()}
	case pyErr != nil, goErr == nil && preferGo(o.Paths, goRoot, pyRoot):
		return s.golang(goRoot)
	}
	return s.python(pyRoot)
}

// preferGo decides for a repository of both: by the touched files, else by the project nearer to the root.
func preferGo(paths []string, goRoot, pyRoot string) bool {
	n := 0
	for _, p := range paths {
		switch path.Ext(p) {
		case ".go":
			n++
		case ".py":
			n--
		}
	}
	if n != 0 {
		return n > 0
	}
	return len(goRoot) <= len(pyRoot)
}

// source is a tree with the list of its files.
type source struct {
	ctx   context.Context // of the one Detect call that made it
	tree  replay.Tree
	files map[string]bool
	dirs  map[string]bool
}

func scan(ctx context.Context, t replay.Tree) (*source, error) {
	s := &source{ctx: ctx, tree: t, files: map[string]bool{}, dirs: map[string]bool{}}
	err := t.Each(ctx, func(f replay.File) error {
		if f.Mode&fs.ModeSymlink != 0 {
			return nil
		}
		s.files[f.Path] = true
		for d := path.Dir(f.Path); d != "." && !s.dirs[d]; d = path.Dir(d) {
			s.dirs[d] = true
		}
		return nil
	})
	return s, err
}

// read returns a file's text; "" if there is none. A huge one counts as none: it declares nothing.
func (s *source) read(name string) (string, error) {
	if !s.files[name] {
		return "", nil
	}
	data, err := s.tree.ReadFile(s.ctx, name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && len(data) > maxFile {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, err)
	}
	return strings.ToValidUTF8(string(data), "\uFFFD"), nil
}

// nearest returns the folder with a marker file that most of the paths are in; ties go to the shorter one. ok is false
// if no path is in such a folder.
func (s *source) nearest(paths []string, markers ...string) (root string, ok bool) {
	votes := map[string]int{}
	for _, p := range paths {
		for dir := path.Dir(path.Clean("/" + p)[1:]); ; dir = path.Dir(dir) {
			dir = strings.TrimPrefix(dir, ".")
			if s.hasAny(dir, markers) {
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

func (s *source) hasAny(dir string, names []string) bool {
	return slices.ContainsFunc(names, func(n string) bool { return s.files[path.Join(dir, n)] })
}

// fingerprint is the digest of the recipe and of the bytes of its inputs.
func (s *source) fingerprint(r replay.Recipe) (string, error) {
	r.Fingerprint, r.Notes = "", nil
	r.Install = slices.DeleteFunc(slices.Clone(r.Install), func(s replay.Step) bool { return s.Warm })
	h := sha256.New()
	if err := json.NewEncoder(h).Encode(r); err != nil {
		return "", fmt.Errorf("encoding the recipe: %w", err)
	}
	for _, name := range r.Inputs {
		if name == "*" {
			fmt.Fprintf(h, "tree %q\n", s.tree.ID())
			continue
		}
		data, err := s.tree.ReadFile(s.ctx, name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", fmt.Errorf("reading the input %s: %w", name, err)
		}
		fmt.Fprintf(h, "%q %v %d\n", name, err == nil, len(data))
		h.Write(data)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
