package store

import (
	"context"
	"database/sql"
)

// Sum is money and tokens that count: settled, uncertain and reserved.
type Sum struct {
	MicroUSD int64
	Tokens   int64
}

// ModelTotals is what counts in all that a call counts in.
type ModelTotals struct {
	Store     Sum
	Run       Sum
	Stage     Sum // of the call's run only
	Candidate Sum // of all runs; zero for a call without a candidate
}

// The scopes of model_total; the name of a stage's sum is "stage run".
const (
	scopeStore     = "store"
	scopeRun       = "run"
	scopeStage     = "stage"
	scopeCandidate = "candidate"
)

func modelTotals(ctx context.Context, tx *sql.Tx, c ModelCall) (t ModelTotals, err error) {
	type total struct {
		scope string
		Sum
	}
	ts, err := list(ctx, tx, func(s scanner) (t total, err error) {
		err = s.Scan(&t.scope, &t.MicroUSD, &t.Tokens)
		return t, err
	}, `SELECT scope, micro_usd, tokens FROM model_total WHERE scope = 'store' AND name = '' OR scope = 'run' AND name = ?
		OR scope = 'stage' AND name = ? OR scope = 'candidate' AND name = ?`, c.Run, c.Stage+" "+c.Run, c.Candidate)
	for _, row := range ts {
		switch row.scope {
		case scopeStore:
			t.Store = row.Sum
		case scopeRun:
			t.Run = row.Sum
		case scopeStage:
			t.Stage = row.Sum
		case scopeCandidate:
			t.Candidate = row.Sum
		}
	}
	return t, err
}

// totalProblems compares each kept sum with the calls themselves.
const totalProblems = `WITH counted (scope, name, micro_usd, tokens) AS (
		SELECT 'store', '', sum(micro_usd), sum(tokens) FROM model_call HAVING count(*) > 0
		UNION ALL SELECT 'run', run, sum(micro_usd), sum(tokens) FROM model_call GROUP BY run
		UNION ALL SELECT 'stage', stage || ' ' || run, sum(micro_usd), sum(tokens) FROM model_call GROUP BY stage, run
		UNION ALL SELECT 'candidate', candidate, sum(micro_usd), sum(tokens) FROM model_call WHERE candidate IS NOT NULL GROUP BY candidate
	) SELECT rtrim('models ' || scope || ' ' || name), 'the calls sum up to ' || coalesce(c.micro_usd, 0) || ' millionths of a dollar and '
		|| coalesce(c.tokens, 0) || ' tokens, the kept sums are ' || coalesce(t.micro_usd, 0) || ' and ' || coalesce(t.tokens, 0)
	FROM counted c FULL JOIN model_total t USING (scope, name)
	WHERE c.micro_usd IS NOT t.micro_usd OR c.tokens IS NOT t.tokens ORDER BY 1`
