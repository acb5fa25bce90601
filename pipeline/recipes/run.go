package recipes

import (
	"fmt"
	"strings"

	"sluice/pipeline"
	"sluice/replay"
)

// RunVersion is part of every run's key: it is raised when the same commands would be read differently, or run with other defaults.
const RunVersion = 2

// RunKind is the kind of work that one run of a state's tests is: a run that showed a recipe to work is not done again where its outcome
// is wanted.
const RunKind = "test-run"

// RunInputs is everything that a run's result depends on.
func RunInputs(sandbox string, r replay.Recipe, j replay.Job, repeat int) any {
	type file struct {
		Path pipeline.Text
		Mode uint32
		Data pipeline.Text
	}
	type overlay struct {
		Files  []file
		Remove []pipeline.Text
	}
	var overlays []overlay // one by one: what the first removes the second may write, and the other way round
	for _, o := range j.Overlays {
		var k overlay
		for _, p := range o.Remove {
			k.Remove = append(k.Remove, pipeline.Text(p))
		}
		for _, f := range o.Files {
			k.Files = append(k.Files, file{pipeline.Text(f.Path), uint32(f.Mode), f.Data})
		}
		overlays = append(overlays, k)
	}
	key := []any{RunVersion, sandbox, r.Fingerprint, j.Tree.ID(), overlays, j.Steps, j.Limits, repeat}
	if j.Ahead != 0 {
		key = append(key, j.Ahead)
	}
	return key
}

const (
	logLimit  = 192 << 10 // bytes of log kept of a run
	stepLimit = 64 << 10  // of each stream of a step
)

// LogOf is what people read of a run.
func LogOf(res replay.Result) string {
	var b strings.Builder
	for _, s := range res.Steps {
		if s.Stop == replay.Skipped {
			continue
		}
		fmt.Fprintf(&b, "$ step %s: %s, exit %d\n", s.Name, s.Stop, s.ExitCode)
		b.WriteString(cutMiddle(strings.ToValidUTF8(string(s.Stdout), "\uFFFD"), stepLimit))
		b.WriteString(cutMiddle(strings.ToValidUTF8(string(s.Stderr), "\uFFFD"), stepLimit))
		if b.Len() > 0 && !strings.HasSuffix(b.String(), "\n") {
			b.WriteByte('\n')
		}
	}
	return cutMiddle(b.String(), logLimit)
}

func cutMiddle(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	head, tail := s[:limit/2], s[len(s)-limit/2:]
	return strings.ToValidUTF8(head, "") + fmt.Sprintf("\n[… %d bytes left out …]\n", len(s)-limit) + strings.ToValidUTF8(tail, "")
}
