package agents

import (
	"bytes"
	"compress/zlib"
	"context"
	"crypto/sha1"
	"encoding/hex"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"github.com/bluekeyes/go-gitdiff/gitdiff"
	"github.com/rogpeppe/go-internal/diff"

	"sluice/replay"
)

// Patch writes files that differ from a tree as a patch that `git apply` takes on it.
func Patch(ctx context.Context, t replay.Tree, files []File) (string, error) {
	var out strings.Builder
	for _, f := range files {
		before, err := original(ctx, t, nil, string(f.Path))
		if err != nil {
			return "", err
		}
		if err := patchFile(&out, f, before); err != nil {
			return "", fmt.Errorf("writing a patch of %q: %w", f.Path, err)
		}
	}
	return out.String(), nil
}

// patchFile writes one file. A file that becomes a link, or a link a file, is deleted and added.
func patchFile(out *strings.Builder, f File, before []byte) error {
	was, now := gitMode(f.Was), gitMode(f.Mode)
	switch {
	case f.Deleted && before == nil:
		return nil
	case !f.Deleted && before != nil && f.Was != 0 && (was == link) != (now == link):
		gone := File{Path: f.Path, Was: f.Was, Deleted: true}
		if err := patchFile(out, gone, before); err != nil {
			return err
		}
		before = nil
	}
	name, after := string(f.Path), append([]byte{}, f.Data...)
	g := gitdiff.File{
		OldName: name, NewName: name, IsNew: before == nil, IsDelete: f.Deleted,
		OldOIDPrefix: blobID(before), NewOIDPrefix: blobID(after),
	}
	switch {
	case f.Deleted:
		g.NewName, g.NewOIDPrefix, g.OldMode, after = "", blobID(nil), was, nil
	case g.IsNew:
		g.OldName, g.NewMode = "", now
	case f.Was != 0 && was != now:
		g.OldMode, g.NewMode = was, now
	}
	if before != nil && !f.Deleted && g.OldMode == 0 && bytes.Equal(before, after) {
		return nil // git takes no patch that says nothing
	}
	if err := content(&g, before, after); err != nil {
		return err
	}
	out.WriteString(g.String())
	return nil
}

const link = os.FileMode(0o120000)

// gitMode is a mode as git's patches have it.
func gitMode(m uint32) os.FileMode {
	switch replay.PlainMode(fs.FileMode(m)) {
	case 0o755:
		return 0o100755
	case 0o644:
		return 0o100644
	}
	return link
}

// blobID is git's name of a content; of none, zeros.
func blobID(data []byte) string {
	if data == nil {
		return strings.Repeat("0", 2*sha1.Size)
	}
	sum := sha1.Sum(append(fmt.Appendf(nil, "blob %d\x00", len(data)), data...))
	return hex.EncodeToString(sum[:])
}

// content adds what became of the bytes.
func content(g *gitdiff.File, before, after []byte) error {
	if bytes.Equal(before, after) {
		return nil
	}
	if bytes.IndexByte(before, 0) >= 0 || bytes.IndexByte(after, 0) >= 0 {
		g.IsBinary = true
		g.BinaryFragment, g.ReverseBinaryFragment = literal(after), literal(before)
		return nil
	}
	text := diff.Diff("a", before, "a", after)
	_, text, _ = bytes.Cut(text, []byte("\n")) // its first line is no part of a patch
	parsed, _, err := gitdiff.Parse(bytes.NewReader(text))
	if err != nil || len(parsed) != 1 {
		return fmt.Errorf("reading a difference back: %d files, %w", len(parsed), err)
	}
	g.TextFragments = parsed[0].TextFragments
	return nil
}

// literal is a content as binary patches have it.
func literal(data []byte) *gitdiff.BinaryFragment {
	var b bytes.Buffer
	z := zlib.NewWriter(&b)
	_, _ = z.Write(data) // a buffer takes everything
	_ = z.Close()
	return &gitdiff.BinaryFragment{Method: gitdiff.BinaryPatchLiteral, Size: int64(len(data)), RawData: b.Bytes()}
}
