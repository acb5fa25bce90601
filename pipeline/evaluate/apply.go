package evaluate

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"sort"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"

	"sluice/pipeline"
	"sluice/replay"
)

// applierName is what applies patches: git itself, which knows its own format best, and strictly: lines may have moved,
// but nothing is fuzzed, and one hunk that does not apply refuses the whole patch.
const applierName = "git apply"

// refusal says why a patch cannot be applied: the patch's fault.
type refusal struct{ why string }

func (r *refusal) Error() string { return r.why }

func refuse(format string, args ...any) error { return &refusal{fmt.Sprintf(format, args...)} }

// applied is what a patch makes of the base state.
type applied struct {
	overlay replay.Overlay
	removed []Removed // by path
	applier string
	said    string // the applier's output
}

func (a applied) empty() bool { return len(a.overlay.Files)+len(a.overlay.Remove) == 0 }

// apply cleans a patch and applies it to the base state. Its error is a *refusal where the patch is at fault. What apply
// found out before is returned with it.
func apply(ctx context.Context, tree replay.Tree, inst pipeline.Instance, patch []byte) (applied, error) {
	var a applied
	if !bytes.HasSuffix(patch, []byte("\n")) {
		patch = append(append([]byte{}, patch...), '\n') // many tools cut it off, and git wants it
	}
	files, err := parse(patch)
	if err != nil {
		return a, err
	}
	b, err := readBase(ctx, tree, newGuard(inst), files)
	if err != nil {
		return a, err
	}
	exclude, targets := map[string]bool{}, map[string]bool{}
	for _, f := range files {
		targets[target(f)] = true
		for _, p := range names(f) {
			if why := b.guard.why(p); why != "" {
				a.removed = append(a.removed, Removed{p, why})
				exclude[target(f)] = true
			}
		}
	}
	a.tidy()
	if len(exclude) == len(targets) {
		return a, nil
	}
	return a, a.run(ctx, b, patch, exclude)
}

// parse reads a patch's changes.
func parse(patch []byte) ([]*gitdiff.File, error) {
	files, _, err := gitdiff.Parse(bytes.NewReader(patch))
	if err != nil {
		return nil, refuse("the patch is malformed: %v", err)
	}
	if len(files) == 0 {
		return nil, refuse("the patch is malformed: it holds no change")
	}
	// Without git's headers the parser leaves the first component on, which git takes off.
	if !bytes.HasPrefix(patch, []byte("diff --git ")) && !bytes.Contains(patch, []byte("\ndiff --git ")) {
		for _, f := range files {
			_, f.OldName, _ = strings.Cut(f.OldName, "/")
			_, f.NewName, _ = strings.Cut(f.NewName, "/")
		}
	}
	return files, checkChanges(files)
}

// names are the paths that a change touches.
func names(f *gitdiff.File) []string {
	switch {
	case f.OldName == "" || f.OldName == f.NewName:
		return []string{f.NewName}
	case f.NewName == "":
		return []string{f.OldName}
	}
	return []string{f.OldName, f.NewName}
}

// target is the path by which git knows a change.
func target(f *gitdiff.File) string {
	if f.NewName != "" {
		return f.NewName
	}
	return f.OldName
}

const (
	typeMask    = 0o170000
	typeLink    = 0o120000
	typeGitlink = 0o160000
)

// checkChanges refuses patches that reach outside of the tree.
func checkChanges(files []*gitdiff.File) error {
	links := map[string]bool{}
	for _, f := range files {
		for _, p := range names(f) {
			if why := badPath(p); why != "" {
				return refuse("the patch names %q: %s", p, why)
			}
		}
		switch f.NewMode & typeMask {
		case typeGitlink:
			return refuse("the patch makes %q a submodule", f.NewName)
		case typeLink:
			links[f.NewName] = true
		}
	}
	for _, f := range files {
		for dir := path.Dir(target(f)); dir != "."; dir = path.Dir(dir) {
			if links[dir] {
				return refuse("the patch writes %q through the symbolic link %q", target(f), dir)
			}
		}
	}
	return nil
}

// base is what apply needs of the base state.
type base struct {
	guard guard
	modes map[string]fs.FileMode
	dirs  map[string]bool
	data  map[string][]byte // of the files that the patch names
}

// readBase reads the tree once.
func readBase(ctx context.Context, tree replay.Tree, g guard, files []*gitdiff.File) (base, error) {
	wanted := map[string]bool{}
	for _, f := range files {
		for _, p := range names(f) {
			wanted[p] = true
		}
	}
	b := base{g, map[string]fs.FileMode{}, map[string]bool{}, map[string][]byte{}}
	err := tree.Each(ctx, func(f replay.File) error {
		g.know(f.Path)
		b.modes[f.Path] = f.Mode
		for dir := path.Dir(f.Path); dir != "." && !b.dirs[dir]; dir = path.Dir(dir) {
			b.dirs[dir] = true
		}
		if wanted[f.Path] {
			b.data[f.Path] = append([]byte{}, f.Data...)
		}
		return nil
	})
	if err != nil {
		return b, fmt.Errorf("reading the base state: %w", err)
	}
	return b, nil
}

// run applies the patch in a scratch folder that holds the named files of the base state and nothing else.
func (a *applied) run(ctx context.Context, b base, patch []byte, exclude map[string]bool) error {
	dir, err := os.MkdirTemp("", "sluice-apply-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	scratch := filepath.Join(dir, "tree")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return err
	}
	for p, data := range b.data {
		if err := writeFile(scratch, replay.File{Path: p, Mode: b.modes[p], Data: data}); err != nil {
			return err
		}
	}
	args := []string{"apply", "--verbose", "--whitespace=nowarn"}
	for _, p := range sorted(exclude) {
		args = append(args, "--exclude="+literal(p))
	}
	cmd := exec.CommandContext(ctx, "git", append(args, "-")...)
	cmd.Dir, cmd.Stdin = scratch, bytes.NewReader(patch)
	// The scratch folder belongs to no repository, and nobody's configuration holds in it.
	cmd.Env = []string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + dir, "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL=/dev/null",
		"GIT_CEILING_DIRECTORIES=" + dir,
	}
	out, err := cmd.CombinedOutput()
	a.applier, a.said = applierName, strings.TrimSpace(strings.ToValidUTF8(string(out), "\uFFFD"))
	var exit *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.As(err, &exit):
		return refuse("the patch does not apply: %s", firstError(a.said))
	case err != nil:
		return fmt.Errorf("running git apply: %w", err)
	}
	return a.collect(scratch, b)
}

// firstError is git's first complaint.
func firstError(said string) string {
	for _, line := range strings.Split(said, "\n") {
		if msg, ok := strings.CutPrefix(line, "error: "); ok && !strings.HasPrefix(msg, "while searching for") {
			return msg
		}
	}
	return said
}

// literal makes a pattern that matches just this path.
func literal(p string) string {
	return strings.NewReplacer(`\`, `\\`, `*`, `\*`, `?`, `\?`, `[`, `\[`).Replace(p)
}

// collect compares the scratch folder with the base state. What the patch may not decide on is checked here again, on
// what git really did: two readers of one patch may differ.
func (a *applied) collect(scratch string, b base) error {
	found := map[string]bool{}
	err := filepath.WalkDir(scratch, func(full string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(scratch, full)
		if err != nil {
			return err
		}
		p := filepath.ToSlash(rel)
		found[p] = true
		f, err := readFile(scratch, p)
		if err != nil {
			return err
		}
		if old, ok := b.data[p]; ok && b.modes[p] == f.Mode && bytes.Equal(old, f.Data) {
			return nil
		}
		return a.keep(b, f)
	})
	if err != nil {
		return err
	}
	for p := range b.data {
		if !found[p] && b.guard.why(p) == "" {
			a.overlay.Remove = append(a.overlay.Remove, p)
		}
	}
	sort.Strings(a.overlay.Remove)
	sort.Slice(a.overlay.Files, func(i, j int) bool { return a.overlay.Files[i].Path < a.overlay.Files[j].Path })
	a.tidy()
	return nil
}

// keep takes a changed file into the overlay, or notes why not.
func (a *applied) keep(b base, f replay.File) error {
	if why := badPath(f.Path); why != "" {
		return refuse("the patch writes %q: %s", f.Path, why)
	}
	if b.dirs[f.Path] {
		return refuse("the patch writes %q, which is a folder", f.Path)
	}
	for dir := path.Dir(f.Path); dir != "."; dir = path.Dir(dir) {
		// A named file that stood there is gone: the scratch folder has a folder in its place.
		_, named := b.data[dir]
		if mode, ok := b.modes[dir]; ok && (!named || mode&fs.ModeSymlink != 0) {
			return refuse("the patch writes %q below %q, which is no folder", f.Path, dir)
		}
	}
	if f.Mode&fs.ModeSymlink != 0 {
		to := string(f.Data)
		if at := path.Join(path.Dir(f.Path), to); path.IsAbs(to) || at == ".." || strings.HasPrefix(at, "../") {
			return refuse("the patch makes %q a link to %q, outside of the tree", f.Path, to)
		}
	}
	why := b.guard.why(f.Path)
	if why == "" && configChanged(f.Path, b.data[f.Path], f.Data) {
		why = whySetUp
	}
	if why != "" {
		a.removed = append(a.removed, Removed{f.Path, why})
		return nil
	}
	a.overlay.Files = append(a.overlay.Files, f)
	return nil
}

// tidy sorts what was removed, each path once.
func (a *applied) tidy() {
	sort.Slice(a.removed, func(i, j int) bool { return a.removed[i].Path < a.removed[j].Path })
	out := a.removed[:0]
	for i, r := range a.removed {
		if i == 0 || r.Path != a.removed[i-1].Path {
			out = append(out, r)
		}
	}
	a.removed = out
}

// writeFile lays one file of a tree.
func writeFile(root string, f replay.File) error {
	full := filepath.Join(root, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
		return err
	}
	if f.Mode&fs.ModeSymlink != 0 {
		return os.Symlink(string(f.Data), full)
	}
	return os.WriteFile(full, f.Data, f.Mode.Perm())
}

// readFile reads one file of a folder as a tree has it.
func readFile(root, p string) (replay.File, error) {
	full := filepath.Join(root, filepath.FromSlash(p))
	info, err := os.Lstat(full)
	if err != nil {
		return replay.File{}, err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		to, err := os.Readlink(full)
		return replay.File{Path: p, Mode: fs.ModeSymlink | 0o777, Data: []byte(to)}, err
	}
	mode := fs.FileMode(0o644)
	if info.Mode()&0o100 != 0 {
		mode = 0o755
	}
	data, err := os.ReadFile(full)
	return replay.File{Path: p, Mode: mode, Data: data}, err
}

// sorted returns a set's members in order.
func sorted(set map[string]bool) []string {
	out := make([]string, 0, len(set))
	for k := range set {
		out = append(out, k)
	}
	sort.Strings(out)
	return out
}
