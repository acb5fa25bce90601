package model_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// BenchmarkAsk asks 1,000 questions of 8 kB at 50 ms latency, 16 at once. of-ideal is the share of the rate that the latency allows.
func BenchmarkAsk(b *testing.B) {
	const questions, atOnce, latency = 1000, 16, 50 * time.Millisecond
	for _, stream := range []bool{false, true} {
		b.Run(map[bool]string{false: "whole", true: "stream"}[stream], func(b *testing.B) {
			s := modeltest.New(b, modeltest.Always(modeltest.Reply{Text: strings.Repeat("word ", 100), Wait: latency}))
			config := s.Config("m")
			config.Endpoints[0].Concurrent, config.Endpoints[0].Stream = atOnce, stream
			text := strings.Repeat("evidence ", 900)
			for b.Loop() {
				c, ledger := newClient(b, config, model.Options{})
				askAll(b, c, questions, text)
				if n := len(ledger.Entries()); n != questions {
					b.Fatalf("%d reservations for %d questions", n, questions)
				}
			}
			ideal := float64(questions) / atOnce * latency.Seconds()
			b.ReportMetric(ideal/(b.Elapsed().Seconds()/float64(b.N)), "of-ideal")
		})
	}
}

func askAll(b *testing.B, c *model.Client, n int, text string) {
	b.Helper()
	var g errgroup.Group
	g.SetLimit(64)
	for i := range n {
		g.Go(func() error {
			_, err := c.Ask(b.Context(), ask(fmt.Sprint(text, i)), model.Charge{})
			return err
		})
	}
	if err := g.Wait(); err != nil {
		b.Fatal(err)
	}
}

// BenchmarkCached answers 10,000 known questions of 8 kB from the ledger in memory.
func BenchmarkCached(b *testing.B) {
	const questions = 10_000
	s := modeltest.New(b, modeltest.Always(modeltest.Text("good")))
	config := s.Config("m")
	text := strings.Repeat("evidence ", 900)
	c, _ := newClient(b, config, model.Options{})
	askAll(b, c, questions, text)
	b.ResetTimer()
	for b.Loop() {
		askAll(b, c, questions, text)
	}
	if s.Requests() != questions {
		b.Fatalf("%d requests for %d questions", s.Requests(), questions)
	}
}
