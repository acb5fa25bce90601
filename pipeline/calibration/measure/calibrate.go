// Package measure has attribution, judges and people looked at: SZZ and a panel against what the authors of fixes say, rules against
// models, people against both, and judges against labelled evidence.
//
// The methods run blind: what names the answer is taken out of their evidence. The package decides about no candidate and changes none;
// what it asks is on nobody's account.
package measure

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"sluice/judges"
	"sluice/miners/gitrepo"
	"sluice/pipeline/calibration"
	"sluice/pipeline/foresight"
	"sluice/pipeline/history"
	"sluice/pipeline/judging"
	"sluice/store"
)

// Stage is the account of the questions that calibration asks; they are no candidate's.
const Stage = "calibrate"

// Config is what a calibration needs.
type Config struct {
	Store    *store.Store
	Repo     string // one repository; "": all of the store
	History  func(ctx context.Context, repo string) (*history.History, error)
	Desk     *judging.Desk         // who judges; nil: rules alone
	Progress func(done, total int) // may be nil; called from several goroutines, one after the other
}

// Judged is the table of one judge over the same chains.
type Judged struct {
	Judge  string              `json:"judge"` // judges.Attribution or calibration.RulesName
	Total  calibration.Table   `json:"total"`
	Repos  []RepoTable         `json:"repositories"`
	Chains []calibration.Chain `json:"chains"`
	Maker  *calibration.Maker  `json:"maker,omitempty"` // whose rulings these are; nil for rules and where nobody ruled
	Paid   judging.USD         `json:"micro_usd"`       // in this run
}

// RepoTable is the table of one repository.
type RepoTable struct {
	Repo string `json:"repo"`
	calibration.Table
}

// Report is all that a calibration measures.
type Report struct {
	Judged []Judged            // the panel's first, where there is one
	Rules  []judges.Comparison // rules against models, on candidates that both spoke about
	People []People
}

// Run measures a store. Chains that cannot be judged are counted as failed; what every question would meet is the error, and what was
// answered until then is kept for the next run. The tables are left in the store, for the card of a release.
func Run(ctx context.Context, c Config) (Report, error) {
	s, err := survey(ctx, c)
	if err != nil {
		return Report{}, err
	}
	var rep Report
	j := &judgeRun{Config: c, total: len(s.cases)}
	if err := j.run(ctx, s.cases); err != nil {
		return Report{}, err
	}
	if c.Desk != nil {
		panel := judged(judges.Attribution, j.panel)
		panel.Maker, panel.Paid = j.maker, j.paid
		rep.Judged = append(rep.Judged, panel)
	}
	rep.Judged = append(rep.Judged, judged(calibration.RulesName, j.rules))
	rep.Rules = s.compare(j)
	rep.People = s.people(j.panel, j.rulings)
	return rep, keep(ctx, c, rep.Judged)
}

// compare holds rules against models on the candidates that both have looked at, and on the chains that both judged blind.
func (s surveyed) compare(j *judgeRun) []judges.Comparison {
	rulings, findings := map[string][]judges.Ruling{}, map[string][]judges.Finding{}
	for id, found := range s.findings {
		rulings[id], findings[id] = s.rulings[id], found
	}
	for _, c := range j.rules {
		if r, ok := j.rulings[c.Candidate]; ok && c.Judged {
			id := "blind " + c.Candidate
			if rulings[id] = []judges.Ruling{r}; !c.Keeps {
				findings[id] = []judges.Finding{{Judge: judges.Attribution, Code: c.Code}}
			}
		}
	}
	return judges.CompareRules(findings, rulings)
}

// judged makes the tables of chains.
func judged(judge string, chains []calibration.Chain) Judged {
	out := Judged{Judge: judge, Chains: chains, Total: calibration.Tabulate(chains)}
	byRepo := map[string][]calibration.Chain{}
	for _, c := range chains {
		byRepo[c.Repo] = append(byRepo[c.Repo], c)
	}
	for _, repo := range sortedKeys(byRepo) {
		out.Repos = append(out.Repos, RepoTable{repo, calibration.Tabulate(byRepo[repo])})
	}
	return out
}

// testified is a chain on its way, with the link that it comes from.
type testified struct {
	calibration.Chain
	fix  gitrepo.Change
	link foresight.Link
}

// surveyed is what a store holds.
type surveyed struct {
	cases    []testified
	findings map[string][]judges.Finding
	rulings  map[string][]judges.Ruling
	reviews  []Review
}

// survey reads the chains of a store, and what rules, models and people said. SZZ's stored answer is blind: it reads no messages.
func survey(ctx context.Context, c Config) (surveyed, error) {
	s := surveyed{findings: map[string][]judges.Finding{}, rulings: map[string][]judges.Ruling{}}
	all, err := c.Store.Candidates(ctx, store.Filter{Family: foresight.Name, Repo: c.Repo})
	if err != nil {
		return s, err
	}
	for _, cand := range all {
		st, err := foresight.Read(ctx, c.Store, cand)
		if err != nil {
			return s, err
		}
		if s.rulings[cand.ID] = st.Rulings; st.Examined {
			s.findings[cand.ID] = st.Findings
		}
		if st.Link == nil {
			continue
		}
		if named := st.Link.Named(); len(named) > 0 {
			s.cases = append(s.cases, newCase(cand, st, named))
		}
	}
	s.reviews, err = reviews(ctx, c.Store, c.Repo)
	return s, err
}

func newCase(cand store.Candidate, st foresight.Stored, named []string) testified {
	t := testified{fix: st.Fix, link: *st.Link}
	t.Chain = calibration.Chain{Candidate: cand.ID, Repo: cand.Repo, Fix: st.Fix.Head, Link: st.LinkDigest, Truth: named[0], Also: named[1:]}
	if votes := st.Link.SZZ.Votes; len(votes) > 0 {
		t.Proposed = votes[0].Change
	} else {
		t.Why = cmp.Or(st.Link.SZZ.Abstained, "unknown")
	}
	return t
}

// judgeRun has the panel and the rules look at what SZZ proposes.
type judgeRun struct {
	Config
	total int

	mu        sync.Mutex
	done      int
	histories map[string]*opened
	panel     []calibration.Chain
	rules     []calibration.Chain
	rulings   map[string]judges.Ruling // by candidate
	maker     *calibration.Maker
	paid      judging.USD
}

// opened is a repository, or why there is none.
type opened struct {
	once sync.Once
	h    *history.History
	err  error
}

func (j *judgeRun) run(ctx context.Context, cases []testified) error {
	j.panel, j.rules = make([]calibration.Chain, len(cases)), make([]calibration.Chain, len(cases))
	j.histories, j.rulings = map[string]*opened{}, map[string]judges.Ruling{}
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(j.parallel())
	for i, c := range cases {
		g.Go(func() error {
			if err := ctx.Err(); err != nil {
				return err
			}
			err := j.one(ctx, i, c)
			j.progress()
			return err
		})
	}
	return g.Wait()
}

// atOnce bounds the chains whose evidence is read at once.
const atOnce = 16

func (j *judgeRun) parallel() int {
	if j.Desk == nil {
		return atOnce / 4 // git alone
	}
	return max(1, min(atOnce, j.Desk.Parallel()))
}

func (j *judgeRun) progress() {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.done++; j.Progress != nil {
		j.Progress(j.done, j.total)
	}
}

// one judges a chain. The error ends the run.
func (j *judgeRun) one(ctx context.Context, i int, c testified) error {
	j.panel[i], j.rules[i] = c.Chain, c.Chain
	if c.Proposed == "" {
		return nil
	}
	h, pair, err := j.pair(ctx, c)
	if err != nil {
		fail(&j.panel[i], failedRepository, err)
		fail(&j.rules[i], failedRepository, err)
		return ctx.Err()
	}
	j.rules[i] = byRules(ctx, h, pair, c)
	if j.Desk != nil {
		j.panel[i], err = j.byPanel(ctx, h, pair, c)
		if err != nil {
			return fmt.Errorf("judging what blame names for %.12s of %s: %w", c.Fix, c.Repo, err)
		}
	}
	return ctx.Err()
}

// failedRepository says that the evidence could not be read.
const failedRepository = "repository"

func fail(c *calibration.Chain, kind string, err error) {
	c.Failed, c.Reason = kind, oneLine(err.Error())
}

// pair is the fix with the change that SZZ proposes, and all that must be hidden.
func (j *judgeRun) pair(ctx context.Context, c testified) (*history.History, foresight.Pair, error) {
	p := foresight.Pair{Repo: c.Repo, Fix: c.fix, Lines: c.link.SZZ.Lines}
	h, err := j.history(ctx, c.Repo)
	if err != nil {
		return nil, p, err
	}
	_, idx, err := h.Changes(ctx)
	if err != nil {
		return nil, p, err
	}
	intro, ok := idx.ByCommit(c.Proposed)
	if !ok {
		return nil, p, fmt.Errorf("the default branch of the mirror does not hold %.12s", c.Proposed)
	}
	p.Intro, p.Quotes = intro, c.link.Hide(idx)
	return h, p, nil
}

func (j *judgeRun) history(ctx context.Context, repo string) (*history.History, error) {
	j.mu.Lock()
	o := j.histories[repo]
	if o == nil {
		o = &opened{}
		j.histories[repo] = o
	}
	j.mu.Unlock()
	o.once.Do(func() { o.h, o.err = j.History(ctx, repo) })
	return o.h, o.err
}

// byPanel asks the panel. Only what ends the run is an error.
func (j *judgeRun) byPanel(ctx context.Context, h *history.History, p foresight.Pair, t testified) (calibration.Chain, error) {
	c := t.Chain
	evidence, err := foresight.Dossier(ctx, h, p)
	if err != nil {
		fail(&c, failedRepository, err)
		return c, ctx.Err()
	}
	judge, ok := judges.ByName(judges.Attribution)
	if !ok {
		return c, fmt.Errorf("there is no judge %q", judges.Attribution)
	}
	r, err := judge.Rule(ctx, j.Desk.Bench("", Stage), judges.Fitting(judges.Attribution, evidence), j.Desk.Panel(judges.Attribution))
	j.note(c.Candidate, r, err == nil)
	if err != nil {
		kind := judging.Failure(err)
		if kind == "" || ctx.Err() != nil {
			return c, err
		}
		fail(&c, kind, err)
		return c, nil
	}
	c.Judged, c.Code, c.Keeps = true, r.Code, r.Keeps
	return c, nil
}

// note adds up what was paid, and remembers whole rulings.
func (j *judgeRun) note(candidate string, r judges.Ruling, whole bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, v := range r.Votes {
		j.paid += judging.USD(v.MicroUSD)
	}
	if !whole {
		return
	}
	j.rulings[candidate] = r
	if j.maker == nil {
		j.maker = calibration.NewMaker(r, j.Desk)
	}
}

// silent is the code of a chain about which the rules say nothing: it stays.
const silent = "nothing"

// byRules has the rules look. They have no word for what is well: what they say nothing about stays.
func byRules(ctx context.Context, h *history.History, p foresight.Pair, t testified) calibration.Chain {
	c := t.Chain
	found, err := foresight.Attributions(ctx, h, p, t.link.SZZ.Ignored)
	if err != nil {
		fail(&c, failedRepository, err)
		return c
	}
	c.Judged, c.Keeps, c.Code = true, true, silent
	if len(found) > 0 {
		c.Keeps, c.Code = false, found[0].Code
	}
	return c
}

// keep leaves what was measured of each repository in the store.
func keep(ctx context.Context, c Config, all []Judged) error {
	byRepo := map[string]*calibration.Kept{}
	for _, j := range all {
		for _, chain := range j.Chains {
			k := byRepo[chain.Repo]
			if k == nil {
				k = &calibration.Kept{Family: foresight.Name, Repo: chain.Repo}
				byRepo[chain.Repo] = k
			}
			if n := len(k.Judges); n == 0 || k.Judges[n-1].Judge != j.Judge {
				k.Judges = append(k.Judges, calibration.KeptJudge{Judge: j.Judge, Maker: j.Maker})
			}
			last := &k.Judges[len(k.Judges)-1]
			last.Chains = append(last.Chains, chain)
		}
	}
	for _, repo := range sortedKeys(byRepo) {
		if err := calibration.Keep(ctx, c.Store, *byRepo[repo]); err != nil {
			return err
		}
	}
	return nil
}

// lineBytes bounds what is kept of an error.
const lineBytes = 300

func oneLine(s string) string {
	s = strings.ToValidUTF8(strings.Join(strings.Fields(s), " "), "\uFFFD")
	if len(s) > lineBytes {
		s = strings.ToValidUTF8(s[:lineBytes], "") + "…"
	}
	return s
}

// sortedKeys returns a map's keys in order.
func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }
