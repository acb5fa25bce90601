package gittest

import (
	"bytes"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// load feeds everything to one `git fast-import`.
func (b *Builder) load(dir string) (map[string]string, error) {
	var in bytes.Buffer
	for _, c := range b.commits {
		writeCommit(&in, c)
	}
	for _, name := range slices.Sorted(maps.Keys(b.branches)) {
		fmt.Fprintf(&in, "reset refs/heads/%s\nfrom :%d\n\n", name, b.branches[name].mark)
	}
	for _, ref := range slices.Sorted(maps.Keys(b.refs)) {
		fmt.Fprintf(&in, "reset %s\nfrom :%d\n\n", ref, b.refs[ref].mark)
	}
	marks := filepath.Join(dir, "gittest-marks")
	defer os.Remove(marks)
	if _, err := run(dir, in.String(), "fast-import", "--quiet", "--force", "--export-marks="+marks); err != nil {
		return nil, err
	}
	// fast-import wants a reference to commit to; nobody else should see it. It is not packed yet.
	if err := os.RemoveAll(filepath.Join(dir, filepath.Dir(scratch))); err != nil {
		return nil, err
	}
	return b.readMarks(marks)
}

const scratch = "refs/gittest/scratch"

func writeCommit(w *bytes.Buffer, c *commit) {
	if len(c.parents) == 0 {
		// Without this, the commit would continue the scratch reference.
		fmt.Fprintf(w, "reset %s\n\n", scratch)
	}
	fmt.Fprintf(w, "commit %s\nmark :%d\n", scratch, c.mark)
	fmt.Fprintf(w, "author %s %d +0000\n", c.Author, c.Date.Unix())
	fmt.Fprintf(w, "committer %s %d +0000\n", c.Author, c.Date.Unix())
	fmt.Fprintf(w, "data %d\n%s\n", len(c.Message), c.Message)
	var first map[string]file
	for i, p := range c.parents {
		word := "merge"
		if i == 0 {
			word, first = "from", p.tree
		}
		fmt.Fprintf(w, "%s :%d\n", word, p.mark)
	}
	for _, path := range changed(first, c.tree) {
		writeFile(w, path, c.tree[path])
	}
	w.WriteByte('\n')
}

func writeFile(w *bytes.Buffer, path string, f file) {
	name := `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(path) + `"`
	switch f.mode {
	case "":
		fmt.Fprintf(w, "D %s\n", name)
	case "160000":
		fmt.Fprintf(w, "M 160000 %s %s\n", f.data, name)
	default:
		fmt.Fprintf(w, "M %s inline %s\ndata %d\n%s\n", f.mode, name, len(f.data), f.data)
	}
}

func (b *Builder) readMarks(path string) (map[string]string, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("reading marks: %w", err)
	}
	byMark := map[int]string{}
	for line := range strings.Lines(string(data)) {
		var mark int
		var id string
		if _, err := fmt.Sscanf(line, ":%d %s", &mark, &id); err != nil {
			return nil, fmt.Errorf("reading mark %q: %w", line, err)
		}
		byMark[mark] = id
	}
	ids := map[string]string{}
	for _, c := range b.commits {
		ids[c.Name] = byMark[c.mark]
	}
	return ids, nil
}
