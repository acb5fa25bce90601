package build

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/dustin/go-humanize"

	"sluice/replay/docker/images"
)

// DiskMarks say how much room prepared environments may take, in bytes.
type DiskMarks struct {
	// High and Low are water marks: once environments take more than High, those used longest ago are removed until they take no more
	// than Low. High 0: only a disk that gets full has any removed.
	High, Low int64
	// Free must be free on the disk before something begins; 0 = the sandbox's default.
	Free int64
}

// recent is how lately an environment was used that no mark removes: the run that took it may be about to start its container.
const recent = 2 * time.Minute

// evictor removes environments of the docker sandbox while a run goes on. An environment that is removed is made anew when it is needed.
type evictor struct {
	open  func(context.Context) (*images.Engine, error)
	marks DiskMarks
	clock func() time.Time
	log   func(string)
	mu    sync.Mutex
}

// evict implements docker.DiskOptions.
func (e *evictor) evict(ctx context.Context, need int64) (freed int64, err error) {
	if need == 0 && e.marks.High == 0 {
		return 0, nil
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	engine, err := e.open(ctx)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, engine.Close()) }()
	list, err := engine.List(ctx)
	if err != nil {
		return 0, err
	}
	gone, err := engine.Remove(ctx, e.plan(list, need))
	freed = images.Total(gone)
	if len(gone) > 0 {
		e.log(fmt.Sprintf("removed %d environments that were used longest ago, %s: the disk is getting full", len(gone), humanize.Bytes(uint64(max(0, freed)))))
	}
	return freed, err
}

// plan lists the environments to remove: for the marks' sake, or, where need is not 0, for that many bytes.
func (e *evictor) plan(list []images.Image, need int64) []images.Image {
	list = slices.Clone(list)
	rest := int64(0) // what toolchains take: they count for no mark, and none goes while a run goes on, however old it is
	for n := range list {
		if list[n].Kind == images.KindToolchain {
			list[n].Stale = false
			rest += list[n].Own
		}
	}
	p := images.Policy{High: e.marks.High + rest, Low: e.marks.Low + rest, Keep: recent}
	if need > 0 {
		p.High, p.Low = 1, max(0, images.Total(list)-need)
	}
	return images.Plan(list, p, e.clock())
}
