package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"sluice/pipeline"
)

// ErrCorrupt says that a file of a release is not what its manifest says.
var ErrCorrupt = errors.New("the release is damaged")

// Release is a frozen release, read back and checked.
type Release struct {
	Dir       string
	Digest    string // of the manifest: it names the content
	Manifest  Manifest
	Instances []pipeline.Instance // by id
	// Lines holds the digest of each instance's line, by id: it names the instance's revision.
	Lines map[string]string
}

// Open reads a release's folder and checks every file against the manifest.
func Open(dir string) (*Release, error) {
	b, err := readRegular(dir, manifestFile)
	if err != nil {
		return nil, fmt.Errorf("opening the release: %w", err)
	}
	r := &Release{Dir: dir, Digest: digestOf(b), Lines: map[string]string{}}
	if err := json.Unmarshal(b, &r.Manifest); err != nil {
		return nil, fmt.Errorf("opening the release: %w: %s: %w", ErrCorrupt, manifestFile, err)
	}
	if r.Manifest.Schema != Schema {
		return nil, fmt.Errorf("opening the release: its schema is %q, this sluice reads %q", r.Manifest.Schema, Schema)
	}
	var instances []byte
	for _, f := range r.Manifest.Files {
		b, err := readChecked(dir, f)
		if err != nil {
			return nil, fmt.Errorf("opening the release: %w", err)
		}
		if f.Name == InstancesFile {
			instances = b
		}
	}
	return r, r.read(instances)
}

// readRegular reads a file that is one: opening a pipe would wait for somebody to write to it.
func readRegular(dir, name string) ([]byte, error) {
	path := filepath.Join(dir, name)
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%w: %s is not a file", ErrCorrupt, name)
	}
	return os.ReadFile(path)
}

// readChecked reads one file and compares its digest.
func readChecked(dir string, f File) ([]byte, error) {
	if f.Name != filepath.Base(f.Name) {
		return nil, fmt.Errorf("%w: the manifest lists %q", ErrCorrupt, f.Name)
	}
	b, err := readRegular(dir, f.Name)
	if err != nil {
		return nil, err
	}
	if sum := sha256.Sum256(b); hex.EncodeToString(sum[:]) != f.SHA256 {
		return nil, fmt.Errorf("%w: %s does not have the digest of the manifest", ErrCorrupt, f.Name)
	}
	return b, nil
}

// read decodes the instances.
func (r *Release) read(b []byte) error {
	for len(b) > 0 {
		line, rest, _ := bytes.Cut(b, []byte("\n"))
		b = rest
		var inst pipeline.Instance
		if err := json.Unmarshal(line, &inst); err != nil {
			return fmt.Errorf("opening the release: %w: %s: %w", ErrCorrupt, InstancesFile, err)
		}
		r.Instances = append(r.Instances, inst)
		r.Lines[inst.ID] = digestOf(line)
	}
	if len(r.Instances) == 0 || len(r.Lines) != len(r.Instances) {
		return fmt.Errorf("opening the release: %w: %d lines with %d ids in %s", ErrCorrupt, len(r.Instances), len(r.Lines), InstancesFile)
	}
	return nil
}

// Instance returns the instance of that id.
func (r *Release) Instance(id string) (pipeline.Instance, bool) {
	for _, inst := range r.Instances {
		if inst.ID == id {
			return inst, true
		}
	}
	return pipeline.Instance{}, false
}
