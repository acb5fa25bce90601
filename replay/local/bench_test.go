//go:build linux

package local_test

import (
	"context"
	"testing"

	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/sandboxtest"
)

// BenchmarkStep measures what the walls cost: a job of one step, and each further step.
func BenchmarkStep(b *testing.B) {
	s, err := local.New(local.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	env, err := s.Prepare(context.Background(), replay.Recipe{Fingerprint: "bench"}, sandboxtest.NewTree("empty"))
	if err != nil {
		b.Fatal(err)
	}
	run := func(b *testing.B, steps int) {
		j := replay.Job{Name: "bench", Tree: sandboxtest.NewTree("empty"), Env: env}
		for range steps {
			j.Steps = append(j.Steps, replay.Step{Name: "true", Args: []string{"true"}})
		}
		if _, err := s.Run(context.Background(), j); err != nil {
			b.Fatal(err)
		}
	}
	b.Run("job", func(b *testing.B) {
		for b.Loop() {
			run(b, 1)
		}
	})
	b.Run("job of 11 steps", func(b *testing.B) {
		for b.Loop() {
			run(b, 11)
		}
	})
}

// BenchmarkSessionCommand measures what one command of an open session costs.
func BenchmarkSessionCommand(b *testing.B) {
	s, err := local.New(local.Options{Root: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	sandboxtest.BenchmarkCommand(b, s, replay.SessionSpec{Name: "bench", Tree: sandboxtest.NewTree("t")})
}
