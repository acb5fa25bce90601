package report

import (
	"strings"
	"testing"

	"sluice/replay"
)

// TestClipNamesNoFolder: what a tool says of its environment is no place of a machine.
func TestClipNamesNoFolder(t *testing.T) {
	t.Parallel()
	said := Clip(strings.Repeat("at f (file://"+replay.EnvFolder+"/nm/x.js:1:2)\n", 40), 30, 700)
	if !strings.HasPrefix(said, "at f (file://{env}/nm/x.js:1:2)\n") || !strings.HasSuffix(said, "…") {
		t.Errorf("%q", said)
	}
	if s := Clip(replay.EnvFolder+"ironment/x", 1, 100); s != replay.EnvFolder+"ironment/x" {
		t.Errorf("another folder became %q", s)
	}
}
