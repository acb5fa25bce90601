package classic

import (
	"context"
	"fmt"

	"sluice/miners/gitrepo"
)

// Tracer follows lines of a file at a commit back to the commits that wrote them.
type Tracer interface {
	// Trace is as gitrepo.Mirror.Blame. The result must not be changed.
	Trace(ctx context.Context, commit, file string, lines []gitrepo.Range, o gitrepo.BlameOptions) ([]gitrepo.BlameLine, error)
}

// blamer is a Tracer over a mirror that keeps results for whoever asks next.
type blamer struct {
	m    *gitrepo.Mirror
	kept *cache[string, []gitrepo.BlameLine]
}

// NewTracer makes a Tracer that asks git and keeps the results, up to 200,000 lines. It may be used by many goroutines.
func NewTracer(m *gitrepo.Mirror) Tracer {
	return &blamer{m: m, kept: newCache[string, []gitrepo.BlameLine](keptLines)}
}

// Trace asks git unless the answer is known. The lines are part of the key: what git takes for moved depends on how many
// neighbours are asked for together.
func (b *blamer) Trace(ctx context.Context, commit, file string, lines []gitrepo.Range, o gitrepo.BlameOptions) ([]gitrepo.BlameLine, error) {
	key := fmt.Sprintf("%s %q %v %+v", commit, file, lines, o)
	if found, ok := b.kept.get(key); ok {
		return found, nil
	}
	found, err := b.m.Blame(ctx, commit, file, lines, o)
	if err == nil {
		b.kept.put(key, found, len(found)+1)
	}
	return found, err
}
