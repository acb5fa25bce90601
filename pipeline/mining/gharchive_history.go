package mining

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"sluice/miners/gharchive"
	"sluice/miners/gitrepo"
)

// Bounds of what is asked of git and of what is remembered.
const (
	maxPushed  = 1000    // commits of one push
	maxFolders = 200_000 // names of repositories with their folders
	maxWarm    = 16      // mirrors with running children
	maxLanded  = 500_000 // pull requests of all mirrors together
	maxNamed   = 10      // histories that are named as unusable
)

// histories are the mirrors that resolve what events leave unknown. One question is put to git at a time.
type histories struct {
	find func(repo string) string
	dir  string // of the mirrors

	names   sync.RWMutex
	folders map[string]string // by full name; "" for none

	git      sync.Mutex
	known    map[string]*pastOf // by folder
	warm     []*pastOf
	requests int // in all landed
	unusable []string
}

// pastOf is one repository.
type pastOf struct {
	mirror *gitrepo.Mirror
	err    error
	landed map[int]string // commits by the number of the pull request; nil: not read
	blind  error          // why they could not be read
}

func newHistories(find func(string) string, dir string) *histories {
	return &histories{find: find, dir: dir, folders: map[string]string{}, known: map[string]*pastOf{}}
}

// AtHand implements gharchive.History.
func (h *histories) AtHand(repo string) bool { return h.folder(repo) != "" }

func (h *histories) folder(repo string) string {
	h.names.RLock()
	dir, ok := h.folders[repo]
	h.names.RUnlock()
	if ok {
		return dir
	}
	dir = h.find(repo)
	h.names.Lock()
	defer h.names.Unlock()
	if len(h.folders) >= maxFolders {
		clear(h.folders)
	}
	h.folders[strings.Clone(repo)] = dir
	return dir
}

// open finds the mirror of a repository; what cannot be opened is named once.
func (h *histories) open(ctx context.Context, repo string) (*pastOf, error) {
	dir := h.folder(repo)
	p := h.known[dir]
	if p == nil {
		m, err := gitrepo.Open(ctx, dir, h.dir, gitrepo.Options{})
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if p = (&pastOf{mirror: m, err: err}); err != nil && len(h.unusable) < maxNamed {
			h.unusable = append(h.unusable, fmt.Sprintf("%s: %v", repo, err))
		}
		h.known[dir] = p
	}
	if p.err != nil {
		return nil, fmt.Errorf("%w: %w", gharchive.ErrNoHistory, p.err)
	}
	return p, h.warmUp(p)
}

// warmUp ends the children of the mirror that was first among too many.
func (h *histories) warmUp(p *pastOf) error {
	for _, w := range h.warm {
		if w == p {
			return nil
		}
	}
	h.warm = append(h.warm, p)
	if len(h.warm) <= maxWarm {
		return nil
	}
	first := h.warm[0]
	h.warm = h.warm[1:]
	return first.mirror.Close()
}

// Pushed implements gharchive.History.
func (h *histories) Pushed(ctx context.Context, repo, before, head string, use func(gharchive.Commit)) (cut bool, err error) {
	h.git.Lock()
	defer h.git.Unlock()
	p, err := h.open(ctx, repo)
	if err != nil {
		return false, err
	}
	if err := p.has(ctx, before, gharchive.ErrNoBefore); err != nil {
		return false, err
	}
	if err := p.has(ctx, head, gharchive.ErrNoHead); err != nil {
		return false, err
	}
	return p.mirror.Between(ctx, gitrepo.Span{Base: before, Head: head, Most: maxPushed}, func(c gitrepo.Logged) error {
		name, address, _ := strings.Cut(c.Author, " <")
		use(gharchive.Commit{
			SHA: c.ID, Message: strings.ToValidUTF8(c.Message, "\uFFFD"), Author: name, Email: gharchive.HashEmail(strings.TrimSuffix(address, ">")),
		})
		return nil
	})
}

// has fails with gone when the commit is not there.
func (p *pastOf) has(ctx context.Context, id string, gone error) error {
	_, err := p.mirror.Commit(ctx, id)
	if errors.Is(err, gitrepo.ErrMissingObject) {
		return fmt.Errorf("%w: %w", gone, err)
	}
	return err
}

// Landed implements gharchive.History.
func (h *histories) Landed(ctx context.Context, repo string, number int) (sha string, err error) {
	h.git.Lock()
	defer h.git.Unlock()
	p, err := h.open(ctx, repo)
	if err != nil {
		return "", err
	}
	if p.landed == nil {
		changes, err := p.mirror.Changes(ctx, gitrepo.Window{})
		if ctx.Err() != nil {
			return "", ctx.Err()
		}
		h.keep(p, changes, err)
	}
	return p.landed[number], p.blind
}

// keep remembers which change has which number, and forgets what was remembered of all others when it is too much.
func (h *histories) keep(p *pastOf, changes []gitrepo.Change, err error) {
	idx := gitrepo.NewIndex(changes)
	landed := map[int]string{}
	for _, c := range changes {
		if best, ok := idx.ByNumber(c.Number); c.Number > 0 && ok {
			landed[c.Number] = best.Head
		}
	}
	if h.requests += len(landed); h.requests > maxLanded {
		for _, o := range h.known {
			o.landed = nil
		}
		h.requests = len(landed)
	}
	p.landed, p.blind = landed, err
}

// close ends the children of all mirrors. What is asked after it is told as before.
func (h *histories) close() {
	h.git.Lock()
	defer h.git.Unlock()
	for _, p := range h.warm {
		_ = p.mirror.Close() // nothing is written
	}
	h.warm = nil
}
