package mining

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/store"
)

func TestKeepStoresALeadOnce(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	s, err := store.OpenDir(ctx, t.TempDir(), store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	found := []Found{{
		Kind: store.PairLead, Repo: "Owner/Repo", Source: "list", Method: "list", Key: "a..b", Line: 2,
		Data: Pair{Intro: Ref{SHA: "a"}, Fix: Ref{SHA: "b"}},
	}}
	for i, want := range []int{1, 0} {
		n, err := Keep(ctx, s, []byte("row 1\nrow 2\n"), found)
		if err != nil || n != want {
			t.Fatalf("round %d added %d (%v), want %d", i, n, err, want)
		}
	}
	leads, err := s.Leads(ctx, store.LeadFilter{Repo: "owner/repo"})
	if err != nil || len(leads) != 1 {
		t.Fatal(leads, err)
	}
	evidence, err := s.Get(ctx, leads[0].Evidence)
	if err != nil || string(evidence) != "row 1\nrow 2\n" || leads[0].Line != 2 {
		t.Fatalf("evidence %q line %d: %v", evidence, leads[0].Line, err)
	}
	if diff := cmp.Diff(`{"intro":{"sha":"a"},"fix":{"sha":"b"}}`, string(leads[0].Data)); diff != "" {
		t.Error(diff)
	}
}
