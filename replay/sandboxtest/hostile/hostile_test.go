package hostile

import "testing"

// TestPrograms reads all archives: each program says how it must end, and there are as many as were promised.
func TestPrograms(t *testing.T) {
	t.Parallel()
	all, err := Programs()
	if err != nil {
		t.Fatal(err)
	}
	fast := 0
	for _, p := range all {
		if p.Fast {
			fast++
		}
	}
	if len(all) < 200 || fast < 30 {
		t.Errorf("%d programs, %d of them fast", len(all), fast)
	}
}
