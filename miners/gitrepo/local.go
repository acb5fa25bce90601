package gitrepo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

// copyLocal brings objects and references of a repository on this machine into the mirror. It reads files only: `git fetch`
// would run a git process under the configuration of the repository, and refuses one that has no configuration file or
// lacks objects.
func copyLocal(ctx context.Context, path string, g git) error {
	gitDir, common, err := locate(path)
	if err != nil {
		return err
	}
	// References first: whatever is written to the source meanwhile, the objects that they name are already there.
	all, err := readRefs(common)
	if err != nil {
		return err
	}
	kept := all.forMirror()
	if len(kept) == 0 {
		return ErrEmpty
	}
	if err := initialise(ctx, g, idLength(kept)); err != nil {
		return err
	}
	if err := copyObjects(ctx, filepath.Join(common, "objects"), filepath.Join(g.dir, "objects")); err != nil {
		return err
	}
	if err := copyShallow(common, g.dir); err != nil {
		return err
	}
	origin := strings.Replace(readHead(filepath.Join(common, originPrefix+"HEAD")), originPrefix, headsPrefix, 1)
	return settle(ctx, g, kept, kept.defaultBranch(readHead(filepath.Join(gitDir, "HEAD")), origin))
}

// settle writes the references whose objects arrived. The default branch must be one of them.
func settle(ctx context.Context, g git, kept refs, head string) error {
	there, err := kept.existing(ctx, g)
	if err != nil {
		return err
	}
	if head != "" && there[head] == "" {
		return fmt.Errorf("%w: %s, the tip of %s", ErrMissingObject, kept[head], head)
	}
	if err := there.write(g.dir); err != nil {
		return err
	}
	return writeHead(g.dir, head)
}

func idLength(r refs) int {
	for _, id := range r {
		return len(id)
	}
	return 0
}

// locate finds the repository of a path: a bare one, a work tree, or a linked work tree, whose references are elsewhere.
func locate(path string) (gitDir, common string, err error) {
	if _, err := os.Stat(path); err != nil {
		return "", "", fmt.Errorf("%w: %w", ErrNotRepository, err)
	}
	gitDir = path
	if exists(filepath.Join(path, ".git")) {
		gitDir = filepath.Join(path, ".git")
	}
	if data, err := os.ReadFile(gitDir); err == nil {
		target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir: ")
		if !ok {
			return "", "", ErrNotRepository
		}
		gitDir = resolve(path, target)
	}
	common = gitDir
	if data, err := os.ReadFile(filepath.Join(gitDir, "commondir")); err == nil {
		common = resolve(gitDir, strings.TrimSpace(string(data)))
	}
	if !exists(filepath.Join(gitDir, "HEAD")) || !exists(filepath.Join(common, "objects")) {
		return "", "", ErrNotRepository
	}
	return gitDir, common, nil
}

func resolve(base, path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(base, path)
}

const (
	copyTries     = 3 // git may repack the source under us
	maxAlternates = 5 // git's own limit
)

func copyObjects(ctx context.Context, from, to string) error {
	var err error
	for range copyTries {
		if err = copyStore(ctx, from, to, 0); !isAbsent(err) {
			break
		}
	}
	if err != nil {
		return fmt.Errorf("copying objects: %w", err)
	}
	return nil
}

// copyStore copies loose objects before packs, since git moves objects from there to here.
func copyStore(ctx context.Context, from, to string, depth int) error {
	loose, err := filepath.Glob(filepath.Join(globQuote(from), "[0-9a-f][0-9a-f]"))
	if err != nil {
		return err
	}
	for _, folder := range append(loose, filepath.Join(from, "pack")) {
		if err := copyFolder(ctx, folder, filepath.Join(to, filepath.Base(folder))); err != nil {
			return err
		}
	}
	alternates, err := os.ReadFile(filepath.Join(from, "info", "alternates"))
	if isAbsent(err) || depth == maxAlternates {
		return nil
	}
	if err != nil {
		return err
	}
	for line := range strings.Lines(string(alternates)) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		if err := copyStore(ctx, resolve(from, line), to, depth+1); err != nil {
			return err
		}
	}
	return nil
}

func globQuote(path string) string {
	return strings.NewReplacer(`\`, `\\`, `[`, `\[`, `*`, `\*`, `?`, `\?`).Replace(path)
}

// objectFile matches what is copied. Files that mark a pack as partial are left out: a mirror must not look for a place to
// fetch missing objects from.
var objectFile = regexp.MustCompile(`^(?:[0-9a-f]{38}|[0-9a-f]{62}|pack-[0-9a-f]+\.(?:pack|rev|idx))$`)

// copyFolder links or copies the object files of one folder that the mirror does not have. Symbolic links are not followed:
// they could point at anything on the machine. Indexes come last: git goes by them.
func copyFolder(ctx context.Context, from, to string) error {
	if info, err := os.Lstat(from); isAbsent(err) || err == nil && !info.IsDir() {
		return nil
	}
	entries, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, last := range []bool{false, true} {
		for _, e := range entries {
			if !e.Type().IsRegular() || !objectFile.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".idx") != last {
				continue
			}
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			if err := copyFile(filepath.Join(from, e.Name()), filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}

func copyFile(from, to string) error {
	if exists(to) {
		return nil
	}
	info, err := os.Lstat(from)
	if err != nil {
		return err
	}
	// Another user's file could be changed later by its owner: that one is copied.
	if stat, ok := info.Sys().(*syscall.Stat_t); ok && int(stat.Uid) == os.Geteuid() && os.Link(from, to) == nil {
		return nil
	}
	in, err := os.OpenFile(from, os.O_RDONLY|syscall.O_NOFOLLOW, 0)
	if err != nil {
		return err
	}
	defer in.Close()
	out, err := os.CreateTemp(filepath.Dir(to), "tmp_obj_*")
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	err = errors.Join(err, out.Chmod(0o444), out.Sync(), out.Close())
	if err == nil {
		err = os.Rename(out.Name(), to)
	}
	if err != nil {
		os.Remove(out.Name())
	}
	return err
}

// copyShallow takes over where the history of a shallow source ends.
func copyShallow(common, dir string) error {
	to := filepath.Join(dir, "shallow")
	data, err := os.ReadFile(filepath.Join(common, "shallow"))
	if errors.Is(err, fs.ErrNotExist) {
		return ignoreAbsent(os.Remove(to))
	}
	if err != nil {
		return fmt.Errorf("reading the shallow border: %w", err)
	}
	for line := range strings.Lines(string(data)) {
		if !objectID.MatchString(strings.TrimSpace(line)) {
			return fmt.Errorf("reading the shallow border: %q is not a commit id", line)
		}
	}
	return replaceFile(to, data)
}

func ignoreAbsent(err error) error {
	if isAbsent(err) {
		return nil
	}
	return err
}
