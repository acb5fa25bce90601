package store

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
)

// reference is one place in the ledger that names a blob.
type reference struct {
	where  string
	digest string
	size   int64 // -1 when the ledger does not know it
}

func scanReference(s scanner) (r reference, err error) {
	err = s.Scan(&r.where, &r.digest, &r.size)
	return r, err
}

var blobRefs = []string{evidenceRefs, runRefs, releaseRefs, modelCallRefs, leadRefs}

func (s *Store) references(ctx context.Context, queries ...string) ([]reference, error) {
	return list(ctx, s.r, scanReference, strings.Join(queries, " UNION ALL ")+" ORDER BY 2, 1")
}

// Check reads everything and reports what is wrong with the database, its references, the candidates' positions and the
// blobs; it changes nothing. What a killed process or another program leaves in the folder is reported as harmless. When the
// database itself is damaged, only that is reported. The error is for what could not be looked at.
func (s *Store) Check(ctx context.Context) ([]Problem, error) {
	problems := s.checkDatabase(ctx)
	if len(problems) > 0 {
		return problems, ctx.Err()
	}
	for _, check := range []func(context.Context) ([]Problem, error){
		s.checkForeignKeys, s.checkPositions, s.checkTotals, s.checkBlobs, s.checkFolder,
	} {
		ps, err := check(ctx)
		problems = append(problems, ps...)
		if err != nil {
			return problems, fmt.Errorf("checking the store: %w", err)
		}
	}
	return problems, nil
}

func (s *Store) checkDatabase(ctx context.Context) (ps []Problem) {
	lines, err := list(ctx, s.r, scanOne[string], `PRAGMA integrity_check`)
	if err != nil {
		lines = append(lines, err.Error())
	}
	for _, l := range lines {
		if l != "ok" {
			ps = append(ps, Problem{What: "integrity", Where: dbName, Detail: l})
		}
	}
	return ps
}

func (s *Store) checkForeignKeys(ctx context.Context) ([]Problem, error) {
	return list(ctx, s.r, func(s scanner) (Problem, error) {
		var table, parent, row any
		var key int
		err := s.Scan(&table, &row, &parent, &key)
		return Problem{What: "foreign-key", Where: fmt.Sprintf("%v row %v", table, row),
			Detail: fmt.Sprintf("refers to a row of %v that is not there", parent)}, err
	}, `PRAGMA foreign_key_check`)
}

func (s *Store) checkPositions(ctx context.Context) ([]Problem, error) {
	return list(ctx, s.r, func(s scanner) (Problem, error) {
		p := Problem{What: "position"}
		err := s.Scan(&p.Where, &p.Detail)
		return p, err
	}, positionProblems)
}

func (s *Store) checkTotals(ctx context.Context) ([]Problem, error) {
	return list(ctx, s.r, func(s scanner) (Problem, error) {
		p := Problem{What: "total"}
		err := s.Scan(&p.Where, &p.Detail)
		return p, err
	}, totalProblems)
}

// checkBlobs verifies each blob once, however often it is referred to.
func (s *Store) checkBlobs(ctx context.Context) (ps []Problem, err error) {
	refs, err := s.references(ctx, blobRefs...)
	if err != nil {
		return nil, err
	}
	for i := 0; i < len(refs); {
		n := i + 1
		for n < len(refs) && refs[n].digest == refs[i].digest {
			n++
		}
		if err := ctx.Err(); err != nil {
			return ps, err
		}
		ps = append(ps, s.checkBlob(refs[i:n])...)
		i = n
	}
	return ps, nil
}

// checkBlob looks at a blob for all that refer to it.
func (s *Store) checkBlob(refs []reference) (ps []Problem) {
	where := refs[0].where
	if n := len(refs) - 1; n > 0 {
		where += fmt.Sprintf(" and %d more", n)
	}
	data, err := s.blobs.get(refs[0].digest)
	switch {
	case errors.Is(err, ErrMissing):
		return []Problem{{What: "missing-blob", Where: where, Detail: err.Error()}}
	case errors.Is(err, ErrCorrupt):
		return []Problem{{What: "corrupt-blob", Where: where, Detail: err.Error()}}
	case err != nil:
		return []Problem{{What: "unreadable-blob", Where: where, Detail: err.Error()}}
	}
	for _, r := range refs {
		if r.size >= 0 && r.size != int64(len(data)) {
			ps = append(ps, Problem{What: "wrong-size", Where: r.where,
				Detail: fmt.Sprintf("%s has %d bytes, not %d", r.digest, len(data), r.size)})
		}
	}
	return ps
}

// checkFolder reports files that are no blobs. They harm nothing.
func (s *Store) checkFolder(context.Context) (ps []Problem, err error) {
	err = s.blobs.each(func(f blobFile) error {
		where := filepath.Join("blobs", f.rel)
		switch {
		case f.temp:
			ps = append(ps, Problem{What: "leftover-temp", Where: where, Harmless: true,
				Detail: "being written now, or left by a process that was killed; gc removes it when it is old"})
		case f.digest == "":
			ps = append(ps, Problem{What: "stray-file", Where: where, Harmless: true, Detail: "not a blob; gc leaves it alone"})
		}
		return nil
	})
	slices.SortFunc(ps, func(a, b Problem) int { return strings.Compare(a.Where, b.Where) })
	return ps, err
}
