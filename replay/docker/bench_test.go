package docker

import (
	"context"
	"testing"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

// BenchmarkEmptyJob measures what a job of one step costs beyond its command.
func BenchmarkEmptyJob(b *testing.B) {
	ctx := context.Background()
	s, err := New(ctx, Options{})
	if err != nil {
		b.Skip(err)
	}
	defer s.Close()
	env, err := s.Prepare(ctx, replay.Recipe{Image: testImage, Fingerprint: "bench"}, noTree{})
	if err != nil {
		b.Fatal(err)
	}
	var files []replay.File
	for _, d := range []string{"a", "b", "c", "d"} {
		for i := range 100 {
			files = append(files, sandboxtest.Text(d+"/"+string(rune('a'+i%26))+string(rune('a'+i/26)), string(make([]byte, 4000))))
		}
	}
	tree := sandboxtest.NewTree("t", files...)
	for b.Loop() {
		if _, err := s.Run(ctx, replay.Job{Tree: tree, Env: env, Steps: []replay.Step{sh("true", "true")}}); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSessionCommand measures what one command of an open session costs.
func BenchmarkSessionCommand(b *testing.B) {
	s, err := New(b.Context(), Options{})
	if err != nil {
		b.Skip(err)
	}
	defer s.Close()
	spec := replay.SessionSpec{Name: "bench", Tree: noTree{}, Recipe: replay.Recipe{Image: testImage}}
	sandboxtest.BenchmarkCommand(b, s, spec)
}
