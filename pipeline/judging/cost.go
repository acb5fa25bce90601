package judging

import (
	"cmp"
	"context"
	"slices"
	"time"

	"sluice/store"
)

// Cost sums questions to models. Amounts are millionths of a dollar.
type Cost struct {
	Calls    int64         `json:"calls"`        // answered and paid
	Used     int64         `json:"cached_calls"` // answered from the store instead
	Input    int64         `json:"input_tokens"`
	Cached   int64         `json:"cached_tokens"` // of the input, from the endpoint's own cache
	Output   int64         `json:"output_tokens"`
	Paid     USD           `json:"micro_usd"`
	Lost     int64         `json:"uncertain_calls"` // that may have to be paid
	LostUSD  USD           `json:"uncertain_micro_usd"`
	OnTheWay int64         `json:"reserved_calls"`
	WayUSD   USD           `json:"reserved_micro_usd"`
	Released int64         `json:"released_calls"` // refused before any work, or not sent
	Wall     time.Duration `json:"wall_ns"`        // of the answered ones, one after the other
}

func (c *Cost) add(m store.ModelCost) {
	c.Calls, c.Used, c.Released, c.Lost, c.OnTheWay = c.Calls+m.Settled, c.Used+m.Used, c.Released+m.Released, c.Lost+m.Uncertain, c.OnTheWay+m.Reserved
	c.Input, c.Cached, c.Output, c.Wall = c.Input+m.Input, c.Cached+m.Cached, c.Output+m.Output, c.Wall+m.Latency
	c.Paid, c.LostUSD, c.WayUSD = c.Paid+USD(m.SettledUSD), c.LostUSD+USD(m.UncertainUSD), c.WayUSD+USD(m.ReservedUSD)
}

// Counted is what counts against budgets.
func (c Cost) Counted() USD { return c.Paid + c.LostUSD + c.WayUSD }

// StageCost is what a stage cost, for all candidates.
type StageCost struct {
	Stage string `json:"stage"`
	Cost
	OnAdmitted  USD `json:"admitted_micro_usd"`     // of what was paid, for candidates that are admitted
	PerAdmitted USD `json:"per_admitted_micro_usd"` // all that was paid, also for others, by each admitted candidate
}

// PartCost is what one model cost, or one candidate.
type PartCost struct {
	Name string `json:"name"`
	Cost
}

// EndCost is what candidates cost that stand alike. An empty state is what nobody's account has.
type EndCost struct {
	State      store.State `json:"state"`
	Candidates int         `json:"candidates"` // that stand so, also those that cost nothing
	Cost
}

// Costs is the ledger of models, summed.
type Costs struct {
	Stages    []StageCost // by name
	Models    []PartCost  // by name
	Ends      []EndCost   // admitted, rejected, held, failed, open, nobody's account
	Instances []PartCost  // the admitted candidates, by id, also those that cost nothing
	Total     StageCost
}

// ends is the order in which they are told.
var ends = []store.State{store.Admitted, store.Rejected, store.Held, store.Failed, store.Open, ""}

// ReadCosts sums the ledger of a store for a family and a repository; "" means all, and only then is what nobody's account has among it.
func ReadCosts(ctx context.Context, s *store.Store, family, repo string) (Costs, error) {
	lines, err := s.ModelCosts(ctx, family, repo)
	if err != nil {
		return Costs{}, err
	}
	candidates, err := s.Candidates(ctx, store.Filter{Family: family, Repo: repo})
	if err != nil {
		return Costs{}, err
	}
	var out Costs
	stages, models, instances := map[string]*StageCost{}, map[string]*PartCost{}, map[string]*PartCost{}
	standing := map[store.State]*EndCost{}
	for _, c := range candidates {
		under(standing, c.State, EndCost{State: c.State}).Candidates++
		if c.State == store.Admitted {
			under(instances, c.ID, PartCost{Name: c.ID})
		}
	}
	for _, m := range lines {
		for _, st := range []*StageCost{under(stages, m.Stage, StageCost{Stage: m.Stage}), &out.Total} {
			st.add(m)
			if m.State == store.Admitted {
				st.OnAdmitted += USD(m.SettledUSD)
			}
		}
		under(models, m.Model, PartCost{Name: m.Model}).add(m)
		under(standing, m.State, EndCost{State: m.State}).add(m)
		if m.State == store.Admitted {
			under(instances, m.Candidate, PartCost{Name: m.Candidate}).add(m)
		}
	}
	out.Stages = values(stages, func(a, b StageCost) int { return cmp.Compare(a.Stage, b.Stage) })
	byName := func(a, b PartCost) int { return cmp.Compare(a.Name, b.Name) }
	out.Models, out.Instances = values(models, byName), values(instances, byName)
	out.Ends = values(standing, func(a, b EndCost) int { return cmp.Compare(slices.Index(ends, a.State), slices.Index(ends, b.State)) })
	out.share(len(out.Instances))
	return out, nil
}

// CandidateCost sums the ledger for one candidate; the zero Cost when nothing was asked on its account.
func CandidateCost(ctx context.Context, s *store.Store, c store.Candidate) (Cost, error) {
	lines, err := s.ModelCosts(ctx, c.Family, c.Repo)
	if err != nil {
		return Cost{}, err
	}
	var out Cost
	for _, m := range lines {
		if m.Candidate == c.ID {
			out.add(m)
		}
	}
	return out, nil
}

// share divides what was paid by the admitted candidates.
func (c *Costs) share(n int) {
	for i := range c.Stages {
		c.Stages[i].PerAdmitted = c.Stages[i].Paid.Per(n)
	}
	c.Total.PerAdmitted = c.Total.Paid.Per(n)
}

// Per is the n-th part of an amount, rounded to the next millionth; 0 for none.
func (u USD) Per(n int) USD {
	if n <= 0 {
		return 0
	}
	return (u + USD(n)/2) / USD(n)
}

// under returns what a map holds under a key, which is fresh when it holds nothing.
func under[K comparable, V any](m map[K]*V, key K, fresh V) *V {
	if m[key] == nil {
		m[key] = &fresh
	}
	return m[key]
}

func values[K comparable, V any](m map[K]*V, order func(a, b V) int) []V {
	out := make([]V, 0, len(m))
	for _, v := range m {
		out = append(out, *v)
	}
	slices.SortFunc(out, order)
	return out
}
