package agents

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"sluice/judges/operation"
	"sluice/miners/lang"
	"sluice/pipeline"
	"sluice/replay"
)

// What is kept of the files that a session changed. What builds leave behind is only counted.
const (
	maxChanged = 2000
	maxContent = 16 << 20 // bytes of all
)

// Changes are what a session changed in its tree.
type Changes struct {
	Files []Changed `json:"files"`
	Left  int       `json:"left,omitempty"`  // new files of builds and test runs, which do not count
	Whole bool      `json:"whole"`           // all others are among Files, with their content
	Fault string    `json:"fault,omitempty"` // why they could not be looked at
}

// Changed is one file.
type Changed struct {
	Path pipeline.Text     `json:"path"`
	Kind replay.ChangeKind `json:"kind"`
	Role operation.Role    `json:"role"`
	Mode fs.FileMode       `json:"mode,omitempty"` // now
	Was  fs.FileMode       `json:"was,omitempty"`  // the mode before; 0: it is new
	Data []byte            `json:"data,omitempty"` // now
}

// Role says what a file is for, by its path.
func Role(path string) operation.Role {
	switch lang.Classify(path) {
	case lang.Source:
		return operation.Production
	case lang.Test:
		return operation.Test
	case lang.Config, lang.Generated: // a build may well write its tracked results again
		return operation.Config
	}
	return operation.Other
}

// changes looks at the tree at the end of a session. A session without a command changed nothing.
func (s *shell) changes(ctx context.Context) (Changes, error) {
	if len(s.commands) == 0 {
		return Changes{Whole: true}, nil
	}
	if _, err := s.execute(ctx, s.commands); err != nil { // brings a session back whose outputs were all stored
		return Changes{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return Collect(ctx, s.session)
}

// Collect reads what an open session changed.
func Collect(ctx context.Context, session replay.Session) (Changes, error) {
	out := Changes{Whole: true}
	all, err := session.Changes(ctx)
	if errors.Is(err, replay.ErrTooLarge) {
		return Changes{Fault: err.Error()}, nil
	}
	if err != nil {
		return out, fmt.Errorf("looking for what a session changed: %w", err)
	}
	left := int64(maxContent)
	for _, c := range all {
		if c.Kind == replay.Added && operation.Generated(c.Path) {
			out.Left++
			continue
		}
		if len(out.Files) >= maxChanged {
			out.Whole = false
			break
		}
		f := Changed{Path: pipeline.Text(c.Path), Kind: c.Kind, Role: Role(c.Path), Mode: c.After.Mode, Was: c.Before.Mode}
		if c.Kind == replay.Added || c.Kind == replay.Modified {
			if c.After.Size > left {
				out.Whole = false
				out.Files = append(out.Files, f)
				continue
			}
			file, err := session.Read(ctx, c.Path)
			if err != nil && !errors.Is(err, replay.ErrTooLarge) {
				return out, fmt.Errorf("reading what a session changed: %w", err)
			}
			f.Data, left = file.Data, left-int64(len(file.Data))
			out.Whole = out.Whole && err == nil
		}
		out.Files = append(out.Files, f)
	}
	return out, nil
}

// Operation puts changes into the words of the operation check. Before are the files as the session found them.
func (c Changes) Operation(ctx context.Context, t replay.Tree, overlays []replay.Overlay) ([]operation.File, error) {
	var out []operation.File
	for _, f := range c.Files {
		before, err := original(ctx, t, overlays, string(f.Path))
		if err != nil {
			return nil, err
		}
		o := operation.File{Path: string(f.Path), Role: f.Role, Before: before, After: f.Data, Special: f.Kind == replay.Special}
		if f.Kind != replay.Deleted && o.After == nil {
			o.After = []byte{} // its content was too large to be kept
		}
		out = append(out, o)
	}
	return out, nil
}

// original is a file of a state as it began, nil if there was none.
func original(ctx context.Context, t replay.Tree, overlays []replay.Overlay, path string) ([]byte, error) {
	for i := len(overlays) - 1; i >= 0; i-- {
		for _, f := range overlays[i].Files {
			if f.Path == path {
				return append([]byte{}, f.Data...), nil
			}
		}
	}
	b, err := t.ReadFile(ctx, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading %q as it was: %w", path, err)
	}
	return append([]byte{}, b...), nil
}
