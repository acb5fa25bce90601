package pipeline

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"sluice/store"
)

// ErrNoEvidence says that no earlier stage made the evidence for this candidate.
var ErrNoEvidence = errors.New("no such evidence")

// Case is one candidate in the hands of a stage: what it may read, what it makes.
type Case struct {
	candidate store.Candidate
	stage     *Stage
	engine    *Engine
	key       string                    // the stage's memo key
	inputs    map[string]store.Evidence // made by earlier stages
	made      []store.Evidence
	slot      *slot // of the stage's pool
}

// ID is the candidate's id.
func (c *Case) ID() string { return c.candidate.ID }

// Generation counts how often the candidate was opened anew by a person.
func (c *Case) Generation() int { return c.candidate.Generation }

// Failures counts the earlier runs of this stage on the same inputs and settings that ended in a permanent error. Somebody opened the
// candidate again since: a stage whose answers are kept elsewhere must then not fall back on those that failed.
func (c *Case) Failures(ctx context.Context) (int, error) {
	attempts, err := c.engine.store.Attempts(ctx, c.ID())
	if err != nil {
		return 0, fmt.Errorf("counting failures: %w", err)
	}
	n := 0
	for _, a := range attempts {
		if a.Key == c.key && a.Outcome == outcomeError && !a.Transient {
			n++
		}
	}
	return n, nil
}

// Data decodes the miner's proposal into v.
func (c *Case) Data(v any) error {
	if err := json.Unmarshal(c.candidate.Data, v); err != nil {
		return Permanent(fmt.Errorf("decoding the proposal of %s: %w", c.ID(), err))
	}
	return nil
}

// Read decodes the JSON evidence of that name into v. A stage may read only what it declares.
func (c *Case) Read(ctx context.Context, name string, v any) error {
	b, err := c.ReadBytes(ctx, name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(b, v); err != nil {
		return Permanent(fmt.Errorf("decoding evidence %s: %w", name, err))
	}
	return nil
}

// ReadBytes returns the evidence of that name, or an error that wraps ErrNoEvidence.
func (c *Case) ReadBytes(ctx context.Context, name string) ([]byte, error) {
	if !slices.Contains(c.stage.Reads, name) {
		return nil, Permanent(fmt.Errorf("stage %s reads evidence %q that it does not declare", c.stage.Name, name))
	}
	ev, ok := c.inputs[name]
	if !ok {
		return nil, fmt.Errorf("%w: %s", ErrNoEvidence, name)
	}
	b, err := c.engine.store.Get(ctx, ev.Digest)
	if err != nil {
		return nil, fmt.Errorf("reading evidence %s: %w", name, err)
	}
	return b, nil
}

// Write stores v as JSON evidence of that name.
func (c *Case) Write(ctx context.Context, name string, v any) error {
	b, err := json.Marshal(v)
	if err != nil {
		return Permanent(fmt.Errorf("encoding evidence %s: %w", name, err))
	}
	return c.WriteBytes(ctx, name, "application/json", b)
}

// WriteBytes stores evidence of that name; a second write of a name replaces the first.
func (c *Case) WriteBytes(ctx context.Context, name, mediaType string, b []byte) error {
	if !slices.Contains(c.stage.Makes, name) {
		return Permanent(fmt.Errorf("stage %s makes evidence %q that it does not declare", c.stage.Name, name))
	}
	digest, err := c.engine.store.Put(ctx, b)
	if err != nil {
		return fmt.Errorf("storing evidence %s: %w", name, err)
	}
	ev := store.Evidence{Name: name, MediaType: mediaType, Digest: digest, Size: int64(len(b))}
	c.made = slices.DeleteFunc(c.made, func(e store.Evidence) bool { return e.Name == name })
	c.made = append(c.made, ev)
	return nil
}

// Work describes one memoised piece of work of a stage.
type Work struct {
	Kind   string // "test-run", "environment", …: sums of time are kept by kind
	Label  string // for people: "h1+T2 #2"
	Inputs any    // everything that the result depends on; encoded as JSON into the key
}

// Key is the key under which a store keeps the work's result, for candidates that were opened anew so many times; 0 is what work
// that is no candidate's has too.
func (w Work) Key(generation int) (string, error) {
	key, err := digestJSON(w.Kind, w.Inputs, generation)
	if err != nil {
		return "", Permanent(fmt.Errorf("keying %s: %w", w.Label, err))
	}
	return key, nil
}

// Once returns the stored result of w, or runs f and stores it. All candidates share the results: the same work is never
// done twice, also not after a kill. A re-opened candidate has work of its own. An error of f is not stored.
func (c *Case) Once(ctx context.Context, w Work, f func(context.Context) ([]byte, error)) ([]byte, error) {
	key, err := w.Key(c.candidate.Generation)
	if err != nil {
		return nil, err
	}
	fl, first := c.engine.board(key)
	if first {
		go func() {
			b, err := c.engine.once(ctx, key, c.ID(), w, f)
			c.engine.land(key, fl, b, err)
		}()
	}
	idle := !first && c.stage.Pool == Sandbox // its stages do one thing after the other
	if idle {
		c.slot.give() // who only waits keeps nobody else from working
	}
	select {
	case <-fl.done:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if idle {
		if err := c.slot.take(ctx); err != nil {
			return nil, err
		}
	}
	return fl.result, fl.err
}
