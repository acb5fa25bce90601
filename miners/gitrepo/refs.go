package gitrepo

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// refs maps full reference names to object ids.
type refs map[string]string

var (
	objectID = regexp.MustCompile(`^(?:[0-9a-f]{40}|[0-9a-f]{64})$`)
	mirrored = regexp.MustCompile(`^refs/(?:heads/.+|tags/.+|(?:pull|merge-requests)/\d+/head)$`)
)

const (
	headsPrefix  = "refs/heads/"
	originPrefix = "refs/remotes/origin/"
)

// readRefs reads the references of a repository on this machine from its files. Broken lines are passed over.
func readRefs(common string) (refs, error) {
	if exists(filepath.Join(common, "reftable")) {
		return nil, fmt.Errorf("reading references: the repository keeps them as reftable, which is not supported")
	}
	found := refs{}
	packed, err := os.ReadFile(filepath.Join(common, "packed-refs"))
	if err != nil && !isAbsent(err) {
		return nil, fmt.Errorf("reading references: %w", err)
	}
	for line := range bytes.Lines(packed) {
		if id, name, ok := strings.Cut(strings.TrimSpace(string(line)), " "); ok && objectID.MatchString(id) {
			found[name] = id
		}
	}
	return found, readLoose(common, found)
}

func readLoose(common string, found refs) error {
	err := filepath.WalkDir(filepath.Join(common, "refs"), func(path string, d fs.DirEntry, err error) error {
		if isAbsent(err) {
			return nil // removed meanwhile
		}
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		data, err := os.ReadFile(path)
		if id := strings.TrimSpace(string(data)); err == nil && objectID.MatchString(id) {
			name, _ := filepath.Rel(common, path)
			found[filepath.ToSlash(name)] = id
		}
		return nil
	})
	if err != nil {
		return fmt.Errorf("reading references: %w", err)
	}
	return nil
}

// readHead is the branch that a HEAD file names; "" when it is detached or not there.
func readHead(path string) string {
	data, _ := os.ReadFile(path)
	target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "ref: ")
	if !ok {
		return ""
	}
	return strings.TrimSpace(target)
}

// forMirror is what a mirror keeps of a local repository's references: branches, tags and pull requests. A branch that is only
// known as origin's becomes a branch.
func (r refs) forMirror() refs {
	kept := refs{}
	for name, id := range r {
		if branch, ok := strings.CutPrefix(name, originPrefix); ok && branch != "HEAD" && r[headsPrefix+branch] == "" {
			kept[headsPrefix+branch] = id
		}
		if mirrored.MatchString(name) {
			kept[name] = id
		}
	}
	return kept
}

// defaultBranch is the first of the candidates that exists, else the only one of the usual names that does; "" is unknown.
func (r refs) defaultBranch(candidates ...string) string {
	for _, name := range candidates {
		if r[name] != "" {
			return name
		}
	}
	var usual []string
	for _, name := range []string{"main", "master", "trunk", "develop"} {
		if r[headsPrefix+name] != "" {
			usual = append(usual, headsPrefix+name)
		}
	}
	if len(usual) != 1 {
		return ""
	}
	return usual[0]
}

// existing are the references whose object is there.
func (r refs) existing(ctx context.Context, g git) (refs, error) {
	names := r.names()
	var ids strings.Builder
	for _, name := range names {
		ids.WriteString(r[name] + "\n")
	}
	out, err := g.output(ctx, strings.NewReader(ids.String()), "cat-file", "--batch-check=%(objecttype)", "--buffer")
	if err != nil {
		return nil, err
	}
	there := refs{}
	lines := strings.Split(string(out), "\n")
	for i, name := range names {
		if i < len(lines) && !strings.HasSuffix(lines[i], " missing") {
			there[name] = r[name]
		}
	}
	return there, nil
}

func (r refs) names() []string {
	names := make([]string, 0, len(r))
	for name := range r {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// write replaces all references of a mirror at once.
func (r refs) write(dir string) error {
	var out bytes.Buffer
	out.WriteString("# pack-refs with: sorted \n")
	for _, name := range r.names() {
		fmt.Fprintf(&out, "%s %s\n", r[name], name)
	}
	return replaceFile(filepath.Join(dir, "packed-refs"), out.Bytes())
}

// writeHead makes HEAD name the branch, or one that cannot exist when the default branch is unknown.
func writeHead(dir, ref string) error {
	if ref == "" {
		ref = unknownHead
	}
	return replaceFile(filepath.Join(dir, "HEAD"), []byte("ref: "+ref+"\n"))
}

const unknownHead = "refs/unknown-default-branch"

func replaceFile(path string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "tmp_*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	err = errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("replacing %s: %w", path, err)
	}
	return nil
}
