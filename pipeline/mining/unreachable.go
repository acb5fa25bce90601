package mining

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"sluice/store"
)

// GoneLead is a lead that names commits which no reference of its repository reaches: its history was rewritten, or they never were
// there.
type GoneLead struct {
	Lead    string   `json:"lead"`
	Commits []string `json:"commits"`
}

const goneMark = "unreachable:"

// PutUnreachable keeps the list (JSON lines of GoneLead) for a repository in place of the last one. Leads themselves never change.
func PutUnreachable(ctx context.Context, s *store.Store, repo string, list []byte) error {
	digest, err := s.Put(ctx, list)
	if err != nil {
		return err
	}
	return s.PutMark(ctx, goneMark+strings.ToLower(repo), digest)
}

// Unreachable returns, for a repository, the commits that no reference reaches by the id of the lead that names them.
func Unreachable(ctx context.Context, s *store.Store, repo string) (map[string][]string, error) {
	gone := map[string][]string{}
	digest, ok, err := s.Mark(ctx, goneMark+strings.ToLower(repo))
	if err != nil || !ok {
		return gone, err
	}
	list, err := s.Get(ctx, digest)
	if err != nil {
		return nil, err
	}
	for line := range bytes.Lines(list) {
		var g GoneLead
		if err := json.Unmarshal(line, &g); err != nil {
			return nil, fmt.Errorf("reading the unreachable leads of %s: %w", repo, err)
		}
		gone[g.Lead] = g.Commits
	}
	return gone, nil
}
