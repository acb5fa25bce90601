//go:build linux

package local

import (
	"testing"

	"sluice/internal/process"
)

func TestOrphan(t *testing.T) {
	t.Parallel()
	me, err := process.Self()
	if err != nil {
		t.Fatal(err)
	}
	s := &Sandbox{owner: me}
	reused := me
	reused.Start++
	elsewhere := reused
	elsewhere.Namespace++
	for name, want := range map[string]bool{me.NewName(): false, reused.NewName(): true, elsewhere.NewName(): false, "a-folder": false} {
		if got := s.orphan(name); got != want {
			t.Errorf("%s: orphan is %t", name, got)
		}
	}
}
