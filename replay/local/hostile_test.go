//go:build linux

package local_test

import (
	"os"
	"testing"

	"sluice/replay/local"
	"sluice/replay/sandboxtest/hostile"
)

// TestHostilePrograms runs programs that attack the sandbox: a subset, or all with SLUICE_HOSTILE=all.
func TestHostilePrograms(t *testing.T) {
	s := walled(t, local.Options{MaxDisk: hostile.MaxDisk})
	o := hostile.Options{All: os.Getenv(hostile.Variable) != "", Only: hostile.Only(os.Getenv(hostile.Variable))}
	o.Recipe.Fingerprint = "hostile"
	t.Logf("\n%s", hostile.Exercise(t, s, o))
}
