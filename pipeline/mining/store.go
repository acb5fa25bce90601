package mining

import (
	"context"

	"sluice/store"
)

// Keep stores what was found, all with one blob of evidence (JSONL or plain text; nil for none), and tells how many leads are
// new.
func Keep(ctx context.Context, s *store.Store, evidence []byte, found []Found) (added int, err error) {
	leads, err := prepare(ctx, s, evidence, found)
	if err != nil {
		return 0, err
	}
	return s.AddLeads(ctx, leads)
}

// prepare puts the evidence where it cannot be lost and gives the finds their stored form.
func prepare(ctx context.Context, s *store.Store, evidence []byte, found []Found) ([]store.Lead, error) {
	if len(found) == 0 {
		return nil, nil
	}
	digest := ""
	if evidence != nil {
		var err error
		if digest, err = s.Put(ctx, evidence); err != nil {
			return nil, err
		}
	}
	leads := make([]store.Lead, 0, len(found))
	for _, f := range found {
		l, err := f.lead(digest)
		if err != nil {
			return nil, err
		}
		leads = append(leads, l)
	}
	return leads, nil
}
