package store

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
)

// Kinds of leads.
const (
	PairLead     = "pair"     // a change that introduced a defect, and one that fixes it
	IssuePRLead  = "issue-pr" // an issue, and the change that closes it
	ReportLead   = "report"   // a report that names the first bad commit
	InstanceLead = "instance" // a finished instance of another data set
)

// Lead is something that a miner found and that may become a candidate of a family. It is never changed: what is found
// again by the same source keeps its first evidence.
type Lead struct {
	ID       string // a digest of source, kind, repository and what was found
	Kind     string
	Repo     string // "owner/name" in lower case, or the mirror's name
	Source   string // gharchive, github, history, changelog, advisory, list, swebench
	Method   string // how it is known: testimony, trailer, keyword, timeline, …
	Data     []byte // JSON, of a form that the kind fixes; see pipeline/mining
	Evidence string // digest of the blob that holds what was seen; "" for none
	Line     int    // of that blob, from 1; 0 for the whole
}

// LeadFilter chooses leads; zero fields match all.
type LeadFilter struct{ Kind, Repo, Source, Method string }

// LeadCount counts leads that have these in common.
type LeadCount struct {
	Source, Kind, Method string
	N                    int
}

const (
	leadColumns = `id, kind, repo, source, method, data, evidence, line`
	leadRefs    = `SELECT 'lead ' || id, evidence, -1 FROM lead WHERE evidence <> ''`
)

func scanLead(s scanner) (l Lead, err error) {
	err = s.Scan(&l.ID, &l.Kind, &l.Repo, &l.Source, &l.Method, &l.Data, &l.Evidence, &l.Line)
	return l, err
}

// AddLeads adds those whose id is new and leaves the others as they are.
func (s *Store) AddLeads(ctx context.Context, leads []Lead) (added int, err error) {
	for part := range slices.Chunk(leads, chunk) {
		n := 0
		err := s.pinLeads(part)
		if err != nil {
			return added, fmt.Errorf("adding leads: %w", err)
		}
		err = s.write(ctx, func(tx *sql.Tx) (err error) {
			n, err = insertLeads(ctx, tx, part)
			return err
		})
		if err != nil {
			return added, fmt.Errorf("adding leads: %w", err)
		}
		added += n
	}
	return added, nil
}

// pinLeads keeps GC from removing evidence that is about to be referred to.
func (s *Store) pinLeads(leads []Lead) error {
	var digests []string
	for _, l := range leads {
		if l.Evidence != "" {
			digests = append(digests, l.Evidence)
		}
	}
	slices.Sort(digests)
	return s.blobs.pin(slices.Compact(digests)...)
}

func insertLeads(ctx context.Context, tx *sql.Tx, leads []Lead) (added int, err error) {
	stmt, err := tx.PrepareContext(ctx, `INSERT INTO lead (`+leadColumns+`) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
		ON CONFLICT (id) DO NOTHING`)
	if err != nil {
		return 0, err
	}
	defer stmt.Close() //nolint:errcheck // the transaction's end says what went wrong
	for _, l := range leads {
		res, err := stmt.ExecContext(ctx, l.ID, l.Kind, l.Repo, l.Source, l.Method, string(l.Data), l.Evidence, l.Line)
		if err != nil {
			return 0, fmt.Errorf("lead %q: %w", l.ID, err)
		}
		n, err := res.RowsAffected()
		if err != nil {
			return 0, err
		}
		added += int(n)
	}
	return added, nil
}

// where is the condition of a filter.
func (f LeadFilter) where() (cond string, args []any) {
	for _, eq := range [][2]string{{"kind", f.Kind}, {"repo", f.Repo}, {"source", f.Source}, {"method", f.Method}} {
		if eq[1] != "" {
			cond, args = cond+" AND "+eq[0]+" = ?", append(args, eq[1])
		}
	}
	return " WHERE 1 = 1" + cond, args
}

// Leads returns those that fit, ordered by repository, kind, source and id.
func (s *Store) Leads(ctx context.Context, f LeadFilter) ([]Lead, error) {
	cond, args := f.where()
	leads, err := list(ctx, s.r, scanLead, `SELECT `+leadColumns+` FROM lead`+cond+` ORDER BY repo, kind, source, id`, args...)
	if err != nil {
		return nil, fmt.Errorf("reading leads: %w", err)
	}
	return leads, nil
}

// EachLead calls use for those that fit, in the order of Leads, without holding them all. use must not write to the store.
func (s *Store) EachLead(ctx context.Context, f LeadFilter, use func(Lead) error) error {
	cond, args := f.where()
	rows, err := s.r.QueryContext(ctx, `SELECT `+leadColumns+` FROM lead`+cond+` ORDER BY repo, kind, source, id`, args...)
	if err != nil {
		return fmt.Errorf("reading leads: %w", explain(err))
	}
	defer rows.Close() //nolint:errcheck // rows.Err below says what went wrong
	for rows.Next() {
		l, err := scanLead(rows)
		if err != nil {
			return fmt.Errorf("reading leads: %w", err)
		}
		if err := use(l); err != nil {
			return err
		}
	}
	if err := rows.Err(); err != nil {
		return fmt.Errorf("reading leads: %w", explain(err))
	}
	return nil
}

// LeadCounts counts the leads that fit by source, kind and method.
func (s *Store) LeadCounts(ctx context.Context, f LeadFilter) ([]LeadCount, error) {
	cond, args := f.where()
	scan := func(s scanner) (c LeadCount, err error) {
		err = s.Scan(&c.Source, &c.Kind, &c.Method, &c.N)
		return c, err
	}
	counts, err := list(ctx, s.r, scan, `SELECT source, kind, method, count(*) FROM lead`+cond+`
		GROUP BY source, kind, method ORDER BY source, kind, method`, args...)
	if err != nil {
		return nil, fmt.Errorf("counting leads: %w", err)
	}
	return counts, nil
}
