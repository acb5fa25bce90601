package mining

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"sluice/miners/gharchive"
	"sluice/store"
)

// UnresolvedRepo is what is not known of a repository and could be told by its history or its host.
type UnresolvedRepo struct {
	Repo    string         `json:"repo"`
	Leads   int            `json:"leads"`   // that have something unknown
	Unknown map[string]int `json:"unknown"` // of these leads, by what is unknown: merged, order, intro, …
	Pushes  int            `json:"pushes"`  // of hour files, of which commits stay unknown; at least
}

// maxTallied bounds the repositories whose pushes are added up.
const maxTallied = 100_000

// Unresolved lists repositories with leads that fit and have something unknown, or with pushes whose commits are unknown: the top ones by
// leads and the top ones by pushes. Pushes come from the ledger, which names the first few repositories of each hour.
func Unresolved(ctx context.Context, s *store.Store, f store.LeadFilter, top int) ([]UnresolvedRepo, error) {
	pushes := gharchive.Tally{Limit: maxTallied}
	if (f.Source == "" || f.Source == GHArchiveSource) && f.Kind == "" && f.Method == "" {
		if err := tallyPushes(ctx, s, f.Repo, &pushes); err != nil {
			return nil, err
		}
	}
	kept := map[string]*UnresolvedRepo{}
	for _, p := range pushes.Top(top) {
		kept[p.Name] = &UnresolvedRepo{Repo: p.Name, Unknown: map[string]int{}}
	}
	var best []UnresolvedRepo
	err := eachUnresolved(ctx, s, f, func(r UnresolvedRepo) {
		if k := kept[r.Repo]; k != nil {
			*k = r
			return
		}
		at, _ := slices.BinarySearchFunc(best, r, byLeads)
		if best = slices.Insert(best, at, r); len(best) > top {
			best = best[:top]
		}
	})
	if err != nil {
		return nil, err
	}
	for _, k := range kept {
		best = append(best, *k)
	}
	for i := range best {
		best[i].Pushes = pushes.N(best[i].Repo)
	}
	slices.SortFunc(best, byLeads)
	return best, nil
}

// byLeads puts the most leads first.
func byLeads(a, b UnresolvedRepo) int {
	return cmp.Or(cmp.Compare(b.Leads, a.Leads), cmp.Compare(b.Pushes, a.Pushes), cmp.Compare(a.Repo, b.Repo))
}

// tallyPushes adds up what the hours say.
func tallyPushes(ctx context.Context, s *store.Store, repo string, t *gharchive.Tally) error {
	hours, err := s.Hours(ctx)
	if err != nil {
		return err
	}
	for _, h := range hours {
		var c hourCounts
		if len(h.Counts) == 0 {
			continue
		}
		if err := json.Unmarshal(h.Counts, &c); err != nil {
			return fmt.Errorf("reading what is known of hour %s: %w", h.Name, err)
		}
		for _, u := range c.Unresolved {
			if name := strings.ToLower(u.Name); repo == "" || name == strings.ToLower(repo) {
				t.Add(name, u.N)
			}
		}
	}
	return nil
}

// eachUnresolved calls use for every repository with a lead that has something unknown. Leads come by repository.
func eachUnresolved(ctx context.Context, s *store.Store, f store.LeadFilter, use func(UnresolvedRepo)) error {
	var u unknowns
	err := s.EachLead(ctx, f, func(l store.Lead) error {
		if l.Repo != u.repo {
			u.end(use)
			u = unknowns{repo: l.Repo}
		}
		return u.add(l)
	})
	if err != nil {
		return err
	}
	u.end(use)
	return nil
}

// unknowns collects the leads of one repository.
type unknowns struct {
	repo   string
	leads  int
	by     map[string]int
	merged map[link]bool // whether some lead of the link knows if the change was merged
}

type link struct {
	issue, pr int
	external  string
}

func (u *unknowns) add(l store.Lead) error {
	var d struct {
		Unknown  []string `json:"unknown"`
		Issue    int      `json:"issue"`
		PR       int      `json:"pr"`
		External string   `json:"external"`
		Merged   *bool    `json:"merged"`
	}
	if err := json.Unmarshal(l.Data, &d); err != nil {
		return fmt.Errorf("decoding lead %s: %w", l.ID, err)
	}
	if l.Kind == store.IssuePRLead {
		if u.merged == nil {
			u.merged = map[link]bool{}
		}
		k := link{d.Issue, d.PR, d.External}
		u.merged[k] = u.merged[k] || d.Merged != nil
		return nil
	}
	if len(d.Unknown) > 0 {
		u.leads++
	}
	for _, what := range d.Unknown {
		u.count(what)
	}
	return nil
}

func (u *unknowns) count(what string) {
	if u.by == nil {
		u.by = map[string]int{}
	}
	u.by[what]++
}

// end hands over what there is. A link that was met merged or refused is known, whatever was said of it before.
func (u *unknowns) end(use func(UnresolvedRepo)) {
	for _, known := range u.merged {
		if !known {
			u.leads++
			u.count("merged")
		}
	}
	if u.leads > 0 {
		use(UnresolvedRepo{Repo: u.repo, Leads: u.leads, Unknown: u.by})
	}
}
