package model_test

import (
	"testing"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

func TestMemory(t *testing.T) {
	t.Parallel()
	modeltest.ExerciseLedger(t, func(_ *testing.T, budget int64) model.Ledger { return model.NewMemory(budget) })
}
