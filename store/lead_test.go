package store

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLeadsKeepTheirFirstEvidence(t *testing.T) {
	ctx := t.Context()
	s, _ := fresh(t)
	first := Lead{ID: "l1", Kind: PairLead, Repo: "o/r", Source: "list", Method: "list", Data: []byte(`{"a":1}`), Line: 3}
	again := first
	again.Data, again.Line = []byte(`{"a":2}`), 9
	other := Lead{ID: "l2", Kind: ReportLead, Repo: "o/r", Source: "github", Method: "bisect", Data: []byte(`{}`)}
	if n, err := s.AddLeads(ctx, []Lead{first}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	if n, err := s.AddLeads(ctx, []Lead{again, other}); err != nil || n != 1 {
		t.Fatal(n, err)
	}
	got, err := s.Leads(ctx, LeadFilter{Repo: "o/r"})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Lead{first, other}, got); diff != "" {
		t.Error(diff)
	}
	var each []Lead
	err = s.EachLead(ctx, LeadFilter{Repo: "o/r"}, func(l Lead) error {
		each = append(each, l)
		return nil
	})
	if diff := cmp.Diff(got, each); diff != "" || err != nil {
		t.Error(diff, err)
	}
	if err := s.EachLead(ctx, LeadFilter{}, func(Lead) error { return ErrNotFound }); !errors.Is(err, ErrNotFound) {
		t.Errorf("an error of the caller became %v", err)
	}
	counts, err := s.LeadCounts(ctx, LeadFilter{Kind: ReportLead})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]LeadCount{{"github", ReportLead, "bisect", 1}}, counts); diff != "" {
		t.Error(diff)
	}
}

func TestHourIsDoneTogetherWithItsLeads(t *testing.T) {
	ctx := t.Context()
	s, _ := fresh(t)
	h := Hour{Name: "2015-01-01-8", State: "partial", Size: 7, Counts: []byte(`{"events":1}`), Version: 1, At: time.Unix(5, 0).UTC()}
	broken := Lead{ID: "l1", Kind: "no such kind", Repo: "o/r", Source: "gharchive", Data: []byte(`{}`)}
	if _, err := s.FinishHour(ctx, h, []Lead{broken}); err == nil {
		t.Fatal("a lead of an unknown kind was stored")
	}
	if _, ok, err := s.Hour(ctx, h.Name); ok || err != nil {
		t.Fatal("the hour was recorded without its leads", err)
	}
	for _, state := range []string{"partial", "done"} {
		h.State = state
		if _, err := s.FinishHour(ctx, h, nil); err != nil {
			t.Fatal(err)
		}
	}
	got, err := s.Hours(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]Hour{h}, got); diff != "" {
		t.Error(diff)
	}
}

func TestGCKeepsTheEvidenceOfLeads(t *testing.T) {
	ctx := t.Context()
	s, _ := fresh(t)
	digest, err := s.Put(ctx, []byte("an event"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.AddLeads(ctx, []Lead{{ID: "l", Kind: PairLead, Repo: "o/r", Source: "list", Data: []byte(`{}`), Evidence: digest}}); err != nil {
		t.Fatal(err)
	}
	if removed, _, err := s.GC(ctx, -time.Hour); err != nil || removed != 0 {
		t.Fatal(removed, err)
	}
}
