package states

import (
	"context"
	"errors"
	"fmt"

	"sluice/pipeline"
	"sluice/store"
)

// once returns what is stored for the work, or does it and stores the result, under the key that candidates use too. An error is stored
// nowhere.
func (o Options) once(ctx context.Context, w pipeline.Work, f func(context.Context) ([]byte, error)) ([]byte, error) {
	key, err := w.Key(0)
	if err != nil {
		return nil, err
	}
	if b, ok, err := o.stored(ctx, key); ok || err != nil {
		return b, err
	}
	started := o.Clock()
	b, err := f(ctx)
	if err != nil {
		return nil, err
	}
	digest, err := o.Store.Put(ctx, b)
	if err == nil {
		err = o.Store.PutRun(ctx, store.Run{Key: key, Kind: w.Kind, Label: w.Label, Digest: digest, Started: started, Ended: o.Clock()})
	}
	if errors.Is(err, store.ErrExists) { // another one was faster; its result counts
		b, _, err = o.stored(ctx, key)
	}
	if err != nil {
		return nil, fmt.Errorf("storing %s: %w", w.Label, err)
	}
	return b, nil
}

func (o Options) stored(ctx context.Context, key string) ([]byte, bool, error) {
	r, ok, err := o.Store.Run(ctx, key)
	if !ok || err != nil {
		return nil, false, err
	}
	b, err := o.Store.Get(ctx, r.Digest)
	return b, err == nil, err
}
