package report

import (
	"strings"
	"testing"
)

// TestClipNamesNoSandbox: a message has the same words and the same end in both sandboxes, wherever they keep an environment.
func TestClipNamesNoSandbox(t *testing.T) {
	t.Parallel()
	said := func(dir string) string {
		return Clip(strings.Repeat("at f (file://"+dir+"/nm/x.js:1:2)\n", 40), 30, 700)
	}
	docker, local := said("/opt/sluice-env"), said("/sluice/env")
	if docker != local || !strings.HasPrefix(docker, "at f (file://{env}/nm/x.js:1:2)\n") || !strings.HasSuffix(docker, "…") {
		t.Errorf("%q, and %q", docker, local)
	}
	if s := Clip("/opt/sluice-environment/x", 1, 100); s != "/opt/sluice-environment/x" {
		t.Errorf("another folder became %q", s)
	}
}
