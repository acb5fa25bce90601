package attribution

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/miners/gitrepo"
	"sluice/miners/szz"
)

// Options says how many fixes are attributed.
type Options struct {
	Workers int              // fixes at once; 0 means 1
	Clock   func() time.Time // for how long a fix took
	// Done, when set, is called after each fix, from any goroutine.
	Done func()
}

// Result is what a strategy said of a fix.
type Result struct {
	szz.Answer
	Took time.Duration
	Err  error // git's; the answer says nothing then
}

// Run attributes fixes, in parallel, and returns the results in their order. A fix that fails does not stop the others; the only
// error is the context's.
func Run(ctx context.Context, s szz.Strategy, fixes []szz.Fix, o Options) ([]Result, error) {
	out := make([]Result, len(fixes))
	var g errgroup.Group
	g.SetLimit(max(o.Workers, 1))
	for i, fix := range fixes {
		if ctx.Err() != nil {
			break
		}
		g.Go(func() error {
			start := o.Clock()
			answer, err := s.Attribute(ctx, fix)
			out[i] = Result{answer, o.Clock().Sub(start), err}
			if o.Done != nil {
				o.Done()
			}
			return nil
		})
	}
	_ = g.Wait() // no task returns an error
	return out, context.Cause(ctx)
}

// Attribute attributes the fixes of a kit's repository, by commit id, which may be abbreviated. Every id has a result, in their
// order; one that is no commit of the repository abstains with the reason missing-object.
func (k *Kit) Attribute(ctx context.Context, v Variant, ids []string, o Options) ([]Result, error) {
	s, err := v.New(ctx, k)
	if err != nil {
		return nil, err
	}
	out := make([]Result, len(ids))
	var fixes []szz.Fix
	var at []int
	for i, id := range ids {
		c, err := k.Repo.Mirror.Commit(ctx, id)
		if errors.Is(err, gitrepo.ErrMissingObject) {
			out[i].Answer = szz.Answer{Strategy: s.Name(), Fix: id, Suspects: []szz.Suspect{}, Abstained: szz.MissingObject, MergeMode: szz.FirstParent}
			continue
		}
		if err != nil {
			return nil, err
		}
		at = append(at, i)
		fixes = append(fixes, szz.Fix{Commit: c.ID, Base: c.FirstParent()})
	}
	found, err := Run(ctx, s, fixes, o)
	for i, r := range found {
		out[at[i]] = r
	}
	return out, err
}
