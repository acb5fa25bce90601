package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"sort"

	"sluice/pipeline"
)

// The files of a release. SWE-bench rows of further checks are in swebench-<check>.jsonl.
const (
	InstancesFile = "instances.jsonl" // everything, sealed: pipeline.Instance
	TasksFile     = "tasks.jsonl"     // what an agent may see: pipeline.PublicTask
	SWEbenchFile  = "swebench.jsonl"  // SWE-bench 5 rows of the check that resolves the task
	CardFile      = "card.md"
	manifestFile  = "manifest.json"
)

// Manifest names a release and everything in it. Its digest names the release's content.
type Manifest struct {
	Schema   string            `json:"schema"`
	Name     string            `json:"name"`
	Family   string            `json:"family"`
	Tool     string            `json:"tool"`
	Counts   Counts            `json:"counts"`
	Labels   map[string]string `json:"labels"` // the filter
	Settings map[string]string `json:"settings"`
	Seeds    map[string]int64  `json:"seeds"`
	Files    []File            `json:"files"`
	Excluded []Excluded        `json:"excluded"`
	Renamed  []Renamed         `json:"dropped_names"`
}

// Counts are the sizes of a release.
type Counts struct {
	Candidates int            `json:"candidates"` // of the family, in the store
	Admitted   int            `json:"admitted"`
	Instances  int            `json:"instances"`
	Languages  map[string]int `json:"languages"`
	Repos      map[string]int `json:"repositories"`
	FailToPass map[string]int `json:"fail_to_pass"` // by check
	PassToPass map[string]int `json:"pass_to_pass"` // by check
}

// File is one file of a release.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"` // lower-case hex
	Bytes  int    `json:"bytes"`
	Lines  int    `json:"lines"`
}

// Excluded is an admitted instance that is not in the release, or not in one of its files.
type Excluded struct {
	ID     string `json:"instance_id"`
	File   string `json:"file,omitempty"` // "": in none
	Reason string `json:"reason"`
}

// Renamed is the tests of one row that the target's log parser cannot tell apart or cannot see.
type Renamed struct {
	ID    string   `json:"instance_id"`
	File  string   `json:"file"`
	Tests []string `json:"tests"`
}

// render makes all files of a release, by name.
func render(o Options, c *collected) (Manifest, map[string][]byte, error) {
	files := map[string][]byte{}
	var err error
	if files[InstancesFile], err = lines(c.instances); err != nil {
		return Manifest{}, nil, err
	}
	tasks := make([]pipeline.PublicTask, len(c.instances))
	for i, inst := range c.instances {
		tasks[i] = inst.Public()
	}
	if files[TasksFile], err = lines(tasks); err != nil {
		return Manifest{}, nil, err
	}
	exp := exportSWEbench(c.instances, o.SWEbench)
	for name, rows := range exp.rows {
		if files[name], err = lines(rows); err != nil {
			return Manifest{}, nil, err
		}
	}
	files[CardFile] = card(o, c, exp)
	m := Manifest{
		Schema: Schema, Name: o.Name, Family: o.Family, Tool: o.Tool, Counts: count(c), Labels: orEmpty(o.Labels),
		Settings: orEmpty(o.Settings), Seeds: orEmpty(o.Seeds), Files: list(files),
		Excluded: append(append([]Excluded{}, c.excluded...), exp.excluded...), Renamed: exp.dropped,
	}
	sort.SliceStable(m.Excluded, func(i, j int) bool {
		a, b := m.Excluded[i], m.Excluded[j]
		return a.ID < b.ID || a.ID == b.ID && a.File < b.File
	})
	b, err := encode(m, "  ")
	if err != nil {
		return Manifest{}, nil, err
	}
	files[manifestFile] = b
	return m, files, nil
}

// orEmpty makes the manifest say {} where nothing is set.
func orEmpty[V any](m map[string]V) map[string]V {
	if m == nil {
		return map[string]V{}
	}
	return m
}

// count adds up the instances.
func count(c *collected) Counts {
	n := Counts{
		Candidates: len(c.all), Admitted: len(c.instances) + len(c.excluded), Instances: len(c.instances),
		Languages: map[string]int{}, Repos: map[string]int{}, FailToPass: map[string]int{}, PassToPass: map[string]int{},
	}
	for _, inst := range c.instances {
		n.Languages[inst.Language]++
		n.Repos[inst.Repo]++
		for _, ch := range inst.Checks {
			n.FailToPass[ch.Name] += len(ch.FailToPass)
			n.PassToPass[ch.Name] += len(ch.PassToPass)
		}
	}
	return n
}

// list describes the files, by name.
func list(files map[string][]byte) []File {
	out := make([]File, 0, len(files))
	for _, name := range sortedKeys(files) {
		b := files[name]
		sum := sha256.Sum256(b)
		out = append(out, File{name, hex.EncodeToString(sum[:]), len(b), bytes.Count(b, []byte("\n"))})
	}
	return out
}

// digestOf names bytes as the store does.
func digestOf(b []byte) string {
	sum := sha256.Sum256(b)
	return "sha256:" + hex.EncodeToString(sum[:])
}

// lines encodes values as JSON Lines.
func lines[T any](values []T) ([]byte, error) {
	var buf bytes.Buffer
	for i := range values {
		b, err := encode(values[i], "")
		if err != nil {
			return nil, fmt.Errorf("encoding line %d: %w", i+1, err)
		}
		buf.Write(b)
	}
	return buf.Bytes(), nil
}

// separators are the characters that some readers of JSON Lines take for ends of lines, and that JSON allows as they are.
var separators = []struct{ raw, escaped []byte }{
	{[]byte("\u0085"), []byte(`\u0085`)},
	{[]byte("\u2028"), []byte(`\u2028`)},
	{[]byte("\u2029"), []byte(`\u2029`)},
}

// encode returns v as JSON with a final newline. No byte of it but the last (and those of the indentation) is a line end
// to any reader. Outside of strings JSON is ASCII, so that replacing the separators' bytes touches strings alone.
func encode(v any, indent string) ([]byte, error) {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", indent)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	b := buf.Bytes()
	for _, s := range separators {
		b = bytes.ReplaceAll(b, s.raw, s.escaped)
	}
	return b, nil
}
