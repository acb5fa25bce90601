package judges

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
	"sluice/prompts"
)

// patchOf is a patch with files of that many hunks of forty lines: 2 KB a hunk.
func patchOf(files, hunks, seed int) string {
	var out strings.Builder
	for f := range files {
		fmt.Fprintf(&out, "diff --git a/pkg/file%d.go b/pkg/file%d.go\nindex 0123abc..4567def 100644\n--- a/pkg/file%d.go\n+++ b/pkg/file%d.go\n", f, f, f, f)
		for h := range hunks {
			fmt.Fprintf(&out, "@@ -%d,40 +%d,40 @@ func handle%d(ctx context.Context, items []Item) error {\n", h*50+1, h*50+1, seed)
			for l := range 40 {
				fmt.Fprintf(&out, " \tif items[%d].Count(%d) > limits[\"a\"] { // as #%d says\n", l, seed, h)
			}
		}
	}
	return out.String()
}

// BenchmarkStored rules on cases whose replies are all in the ledger: 10,000 such judgements are to take well under ten
// seconds. A case has 36 KB of evidence, of which 22 KB are sent.
func BenchmarkStored(b *testing.B) {
	answer, err := json.Marshal(map[string]string{"reasoning": "Both lines were written by the earlier change.", "code": "A", "quote": "pkg/file0.go b/pkg/file0.go"})
	if err != nil {
		b.Fatal(err)
	}
	server := modeltest.New(b, modeltest.Always(modeltest.Text(string(answer))))
	config := model.Config{
		Endpoints: []model.Endpoint{{Name: "local", URL: server.URL, Concurrent: 8}},
		Models:    []model.Spec{{Name: "m", Endpoint: "local", ID: "m", Context: 100_000, MaxOutput: 1000, InputUSD: "1", OutputUSD: "2"}},
	}
	ledger := model.NewMemory(0)
	client, err := model.New(config, model.Options{Ledger: ledger})
	if err != nil {
		b.Fatal(err)
	}
	j := benchJudge(b)
	const distinct = 200
	cases := make([]Case, distinct)
	for i := range cases {
		cases[i] = Case{"title": {fmt.Sprintf("Case %d: handle retries", i)}, "patch": {patchOf(5, 3, i)}, "talk": {strings.Repeat("A comment about it, see PR 12. ", 60), "short"}}
	}
	rule := func(asker model.Asker, i int) {
		r, err := j.Rule(context.Background(), Bench{Asker: asker}, cases[i%distinct], Panel{Models: []string{"m"}})
		if err != nil || r.Code != "A" {
			b.Fatalf("%v: %+v", err, r)
		}
	}
	for i := range cases {
		rule(client, i)
	}
	replay, err := model.New(config, model.Options{Ledger: ledger, ReplayOnly: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		rule(replay, i)
	}
	b.ReportMetric(float64(b.Elapsed().Seconds())/float64(b.N)*10_000, "s/10000")
}

func benchJudge(b testing.TB) *judge {
	b.Helper()
	p := examplePrompt(b)
	p.Budget = 24_000
	p.Slots = []prompts.Slot{
		{Name: "title", Title: "Title", Kind: prompts.Text, Bytes: 1000},
		{Name: "patch", Title: "Patch", Kind: prompts.Diff, Bytes: 20_000},
		{Name: "talk", Title: "Talk", Kind: prompts.List, Bytes: 3000, Optional: true},
	}
	return exampleJudge(b, p)
}
