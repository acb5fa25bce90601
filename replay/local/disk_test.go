//go:build linux

package local

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"
)

func TestUsage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1<<20), 0o644); err != nil {
		t.Fatal(err)
	}
	sparse := filepath.Join(dir, "sparse")
	if err := os.WriteFile(sparse, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Truncate(sparse, 1<<40); err != nil {
		t.Fatal(err)
	}
	bytes, inodes := usage(context.Background(), []string{dir, filepath.Join(dir, "no-such")})
	if bytes < 1<<20 || bytes > 2<<20 || inodes != 3 {
		t.Errorf("got %d bytes, %d inodes", bytes, inodes)
	}
}

// deepen makes folders below dir that no path can name.
func deepen(t *testing.T, dir string) {
	t.Helper()
	cmd := exec.Command("sh", "-c", `p=$(printf 'd/%.0s' $(seq 1000)); for i in 1 2 3; do mkdir -p "$p" && cd -P "$p" || exit; done`)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
}

func TestDeepFoldersDoNotHide(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "deep")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	deepen(t, dir)
	if _, inodes := usage(context.Background(), []string{dir}); inodes <= maxInodes {
		t.Errorf("%d inodes: what lies deeper is not counted", inodes)
	}
	if err := removeAll(dir); err != nil || exists(dir) {
		t.Errorf("not removed: %v", err)
	}
}

func TestGuardEndsWithItsContext(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if guardDisk(ctx, time.Now, []string{t.TempDir()}, 0) {
		t.Error("a cancelled guard reported a full disk")
	}
}
