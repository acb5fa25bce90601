package github

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/google/go-github/v62/github"
)

const (
	slice   = time.Minute      // GitHub may give quota back before the announced time (kubernetes/test-infra#1261): look again
	penalty = time.Minute      // what GitHub asks to wait after a secondary limit that names no time
	maxWait = 15 * time.Minute // of a doubled penalty
	maxAsk  = time.Hour        // of a wait that the server asks for
	// maxLimits is how many limits in a row one request meets before it is given up; with doubling that is hours.
	maxLimits = 12
)

// token is one user's access, with a client of its own: go-github refuses by the quota that it last saw, whoever's that was.
type token struct {
	bearer  string
	gh      *github.Client
	quotas  map[string]quota // by resource: core, search, graphql
	blocked time.Time        // by a secondary limit
	strikes int              // limits in a row
	dead    bool             // not accepted
}

type quota struct {
	remaining int
	reset     time.Time
}

// pool chooses the token for a request.
type pool struct {
	c      *Client
	mu     sync.Mutex
	tokens []*token
}

// newPool makes a client for each token; without any, one that is anonymous.
func newPool(c *Client, bearers []string) *pool {
	p := &pool{c: c}
	if len(bearers) == 0 {
		bearers = []string{""}
	}
	for _, b := range bearers {
		t := &token{bearer: b, quotas: map[string]quota{}}
		p.renew(t)
		p.tokens = append(p.tokens, t)
	}
	return p
}

// renew gives a token a new client, which has forgotten what the old one refuses.
func (p *pool) renew(t *token) {
	h := *p.c.http
	h.Transport = &bearer{token: t.bearer, host: p.c.base.Host, next: p.c.http.Transport}
	t.gh = github.NewClient(&h)
	base := *p.c.base
	t.gh.BaseURL = &base
}

// acquire returns the token with the most quota left for a resource, and waits while there is none.
func (p *pool) acquire(ctx context.Context, resource string) (*token, error) {
	for {
		t, wait, err := p.choose(resource)
		if err != nil || t != nil {
			return t, err
		}
		if err := p.c.wait(ctx, "for the rate limit of "+resource, min(max(wait, time.Second), slice)); err != nil {
			return nil, err
		}
		if err := p.refresh(ctx, resource); err != nil {
			return nil, err
		}
	}
}

// choose returns a token that may be used now, or how long until there is one.
func (p *pool) choose(resource string) (best *token, wait time.Duration, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.c.now()
	alive := slices.DeleteFunc(slices.Clone(p.tokens), func(t *token) bool { return t.dead })
	if len(alive) == 0 {
		return nil, 0, ErrUnauthorized
	}
	wait = math.MaxInt64
	for _, t := range alive {
		if until := t.until(resource, now); until > 0 {
			wait = min(wait, until)
		} else if best == nil || t.left(resource, now) > best.left(resource, now) {
			best = t
		}
	}
	return best, wait, nil
}

// until is how long the token must rest.
func (t *token) until(resource string, now time.Time) time.Duration {
	d := t.blocked.Sub(now)
	if q, ok := t.quotas[resource]; ok && q.remaining == 0 {
		d = max(d, q.reset.Sub(now))
	}
	return d
}

// left is the quota that is known to be left; a quota that is unknown or was given back counts as full.
func (t *token) left(resource string, now time.Time) int {
	if q, ok := t.quotas[resource]; ok && now.Before(q.reset) {
		return q.remaining
	}
	return math.MaxInt
}

// refresh asks for the quotas of the tokens that have none left; that costs no quota. What cannot be asked stays as it was.
func (p *pool) refresh(ctx context.Context, resource string) error {
	p.mu.Lock()
	now := p.c.now()
	empty := slices.DeleteFunc(slices.Clone(p.tokens), func(t *token) bool {
		return t.dead || t.blocked.After(now) || t.until(resource, now) <= 0
	})
	p.mu.Unlock()
	for _, t := range empty {
		p.ask(ctx, t)
		if err := ctx.Err(); err != nil {
			return err
		}
	}
	return nil
}

// ask reads the quotas of a token and tells whether that worked. go-github takes over what is read, too.
func (p *pool) ask(ctx context.Context, t *token) bool {
	p.mu.Lock()
	gh := t.gh
	p.mu.Unlock()
	limits, _, err := gh.RateLimit.Get(ctx)
	if err != nil || limits == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for name, r := range map[string]*github.Rate{"core": limits.Core, "search": limits.Search, "graphql": limits.GraphQL} {
		if r != nil {
			t.quotas[name] = quota{r.Remaining, r.Reset.Time}
		}
	}
	return true
}

// saw takes over what an answer says about its quota.
func (p *pool) saw(t *token, resource string, resp *github.Response) {
	if resp == nil || resp.Response == nil || resp.Header.Get("X-Ratelimit-Remaining") == "" {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	t.quotas[cmp.Or(resp.Header.Get("X-Ratelimit-Resource"), resource)] = quota{resp.Rate.Remaining, resp.Rate.Reset.Time}
}

// resourceOf names the quota that a request counts against.
func resourceOf(method, path string) string {
	if method == "POST" { // to GraphQL, wherever that is
		return "graphql"
	}
	switch github.GetRateLimitCategory(method, path) {
	case github.SearchCategory, github.CodeSearchCategory:
		return "search"
	}
	return "core"
}

func (p *pool) bury(t *token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.dead = true
}

// rested says that a request of the token went through.
func (p *pool) rested(t *token) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.strikes = 0
}

// block lets a token rest after a limit: as long as the server asks, or the penalty, doubled with each limit in a row, with jitter.
func (p *pool) block(t *token, asked time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := min(asked, maxAsk)
	if asked <= 0 {
		d = min(penalty<<min(t.strikes, 10), maxWait)
		d += time.Duration(float64(d) / 4 * p.c.o.Jitter())
	}
	t.strikes++
	t.blocked = p.c.now().Add(d)
	p.renew(t)
}

// exhaust notes that a token has no quota left for a resource.
func (p *pool) exhaust(t *token, resource string, reset time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t.strikes++
	t.quotas[resource] = quota{0, reset}
}
