package judges_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"sluice/judges"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
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
// seconds. The judge is that of attribution; a case has 40 KB of evidence.
func BenchmarkStored(b *testing.B) {
	golden := load(b, judges.Attribution)
	server := modeltest.New(b, modeltest.Always(modeltest.Text(golden.reply)))
	config := model.Config{
		Endpoints: []model.Endpoint{{Name: "local", URL: server.URL, Concurrent: 8}},
		Models:    []model.Spec{{Name: "m", Endpoint: "local", ID: "m", Context: 100_000, MaxOutput: 1000, InputUSD: "1", OutputUSD: "2"}},
	}
	ledger := model.NewMemory(0)
	client, err := model.New(config, model.Options{Ledger: ledger})
	if err != nil {
		b.Fatal(err)
	}
	j, ok := judges.ByName(judges.Attribution)
	if !ok {
		b.Fatal("there is no judge of attribution")
	}
	const distinct = 200
	cases := make([]judges.Case, distinct)
	for i := range cases {
		cases[i] = golden.with("task_patch", golden.given["task_patch"][0]+patchOf(5, 3, i)).given
	}
	rule := func(asker model.Asker, i int) {
		r, err := j.Rule(context.Background(), judges.Bench{Asker: asker}, cases[i%distinct], judges.Panel{Models: []string{"m"}})
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
	b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*10_000, "s/10000")
}
