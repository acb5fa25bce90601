package localgit

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sluice/miners/gitrepo"
	"sluice/pipeline/mining"
	"sluice/store"
)

// markUnreachable notes which leads of a repository name a commit that no reference reaches any more: the leads stay, and say where
// they came from. It returns how many there are.
func markUnreachable(ctx context.Context, s *store.Store, repo string, d *gitrepo.DAG) (int, error) {
	leads, err := s.Leads(ctx, store.LeadFilter{Kind: store.PairLead, Repo: strings.ToLower(repo)})
	if err != nil {
		return 0, err
	}
	var list bytes.Buffer
	n := 0
	for _, l := range leads {
		var p mining.Pair
		if err := json.Unmarshal(l.Data, &p); err != nil {
			return 0, fmt.Errorf("decoding lead %s: %w", l.ID, err)
		}
		var gone []string
		for _, sha := range []string{p.Intro.SHA, p.Fix.SHA} {
			if sha != "" && len(d.Prefix(sha)) == 0 {
				gone = append(gone, sha)
			}
		}
		if len(gone) == 0 {
			continue
		}
		n++
		line, err := json.Marshal(mining.GoneLead{Lead: l.ID, Commits: gone})
		if err != nil {
			return 0, fmt.Errorf("encoding lead %s: %w", l.ID, err)
		}
		list.Write(append(line, '\n'))
	}
	return n, mining.PutUnreachable(ctx, s, repo, list.Bytes())
}
