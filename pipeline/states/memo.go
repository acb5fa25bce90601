package states

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/store"
)

// memoVersion is part of every key: raise it when the same inputs give something else.
const memoVersion = 1

// installed is what preparing an environment came to.
type installed struct {
	Failed bool   `json:"failed,omitempty"`
	Log    string `json:"log,omitempty"` // the end of what a failed one printed
}

// observed is what a run came to.
type observed struct {
	Report replay.Report `json:"report"`
	Log    string        `json:"log,omitempty"`
	Wall   time.Duration `json:"wall_ns"`
}

// install prepares the environment of a recipe. That it cannot be installed is kept: states that share it need not try again.
func (o Options) install(ctx context.Context, r replay.Recipe, t replay.Tree) (installed, error) {
	return once(ctx, o, work{"state-environment", "environment " + r.Fingerprint, []any{o.Sandbox.Name(), r.Fingerprint}},
		func(ctx context.Context) (installed, error) {
			_, err := o.Sandbox.Prepare(ctx, r, t)
			var failed *replay.InstallError
			if errors.As(err, &failed) {
				return installed{Failed: true, Log: failed.Error() + ": " + end(failed.Log)}, nil
			}
			return installed{}, err
		})
}

// run runs the tests of a state.
func (o Options) run(ctx context.Context, r replay.Recipe, tree replay.Tree, t replay.Target) (observed, error) {
	tool, err := tools.For(r.Runner)
	if err != nil {
		return observed{}, err
	}
	job := replay.Job{Name: "state " + tree.ID(), Tree: tree, Steps: tool.Steps(r, t), Limits: o.Limits}
	return once(ctx, o, work{"state-run", job.Name, []any{o.Sandbox.Name(), r.Fingerprint, tree.ID(), job.Steps, o.Limits}},
		func(ctx context.Context) (observed, error) {
			env, err := o.Sandbox.Prepare(ctx, r, tree) // what was prepared in an earlier run may be gone
			if err != nil {
				return observed{}, fmt.Errorf("preparing the environment: %w", err)
			}
			job.Env = env
			started := o.Clock()
			res, err := o.Sandbox.Run(ctx, job)
			if err != nil {
				return observed{}, err
			}
			return observed{tool.Parse(r, t, res), logOf(res), o.Clock().Sub(started)}, nil
		})
}

// work is something to be done once.
type work struct {
	kind, label string
	inputs      []any
}

// once returns what is stored for the work, or does it and stores the result. An error is stored nowhere.
func once[T any](ctx context.Context, o Options, w work, f func(context.Context) (T, error)) (v T, err error) {
	key, err := w.key()
	if err != nil {
		return v, err
	}
	if v, ok, err := stored[T](ctx, o.Store, key); ok || err != nil {
		return v, err
	}
	started := o.Clock()
	if v, err = f(ctx); err != nil {
		return v, err
	}
	b, err := json.Marshal(v)
	if err != nil {
		return v, fmt.Errorf("encoding %s: %w", w.label, err)
	}
	digest, err := o.Store.Put(ctx, b)
	if err == nil {
		err = o.Store.PutRun(ctx, store.Run{Key: key, Kind: w.kind, Label: w.label, Digest: digest, Started: started, Ended: o.Clock()})
	}
	if errors.Is(err, store.ErrExists) { // another one was faster; its result counts
		v, _, err = stored[T](ctx, o.Store, key)
	}
	if err != nil {
		return v, fmt.Errorf("storing %s: %w", w.label, err)
	}
	return v, nil
}

func (w work) key() (string, error) {
	b, err := json.Marshal([]any{w.kind, memoVersion, w.inputs})
	if err != nil {
		return "", fmt.Errorf("encoding the key of %s: %w", w.label, err)
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

func stored[T any](ctx context.Context, s *store.Store, key string) (v T, ok bool, err error) {
	r, ok, err := s.Run(ctx, key)
	if !ok || err != nil {
		return v, false, err
	}
	b, err := s.Get(ctx, r.Digest)
	if err != nil {
		return v, false, err
	}
	if err := json.Unmarshal(b, &v); err != nil {
		return v, false, fmt.Errorf("decoding %s: %w", r.Label, err)
	}
	return v, true, nil
}

// logBytes is how much of the end of a log is kept: what went wrong is there.
const logBytes = 4 << 10

func end(s string) string {
	s = strings.TrimSpace(strings.ToValidUTF8(s, "\uFFFD"))
	if len(s) > logBytes {
		s = strings.ToValidUTF8(s[len(s)-logBytes:], "")
	}
	return s
}

// logOf is the end of what each step printed.
func logOf(res replay.Result) string {
	var b strings.Builder
	for _, s := range res.Steps {
		if s.Stop != replay.Skipped {
			fmt.Fprintf(&b, "$ step %s: %s, exit %d\n%s\n%s\n", s.Name, s.Stop, s.ExitCode, end(string(s.Stdout)), end(string(s.Stderr)))
		}
	}
	return b.String()
}
