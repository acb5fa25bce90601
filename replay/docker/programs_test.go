package docker

import (
	"os"
	"testing"

	"sluice/replay"
	"sluice/replay/sandboxtest/hostile"
)

// programsImage has all that the programs are written in.
const programsImage = "sluice/node:trixie"

// TestHostilePrograms runs programs that attack the sandbox: a subset, or all with SLUICE_HOSTILE=all.
func TestHostilePrograms(t *testing.T) {
	s := newTest(t, Options{Total: hostile.MaxDisk})
	fingerprint := "hostile-" + randomName() // other runs on this engine have theirs
	t.Cleanup(func() {
		forget(t, s, fingerprint)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	o := hostile.Options{All: os.Getenv(hostile.Variable) != "", Only: hostile.Only(os.Getenv(hostile.Variable))}
	o.Recipe = replay.Recipe{Image: programsImage, Fingerprint: fingerprint}
	t.Logf("\n%s", hostile.Exercise(t, s, o))
}
