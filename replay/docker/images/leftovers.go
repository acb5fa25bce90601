package images

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"sluice/internal/process"
	"sluice/replay/docker"
)

// workPrefix begins the names of the folders that images are made in, below the one for temporary files. The rest names the process.
const workPrefix = "sluice-images-"

// lifeline lets a script not outlive the process that started it, however that ends: it ends all processes of the script when the other end
// of descriptor 3 is closed. $0 and $1 are the script's name and text.
const lifeline = `(read -r _ <&3; kill -s TERM 0) >/dev/null 2>&1 &
exec /bin/sh -c "$1" "$0" 3<&-`

// tidy removes what builds left whose process is dead: their containers, images that lost their name, folders. What stays is told of and
// stops no work.
func (e *Engine) tidy(ctx context.Context, log func(string)) {
	err := docker.Reap(ctx, e.api)
	me, serr := process.Self()
	if serr == nil {
		serr = sweep(os.TempDir(), me)
	}
	if err = errors.Join(err, serr); err != nil && log != nil && ctx.Err() == nil {
		log("removing what dead builds left: " + err.Error())
	}
}

// sweep removes from a folder those that images were made in by processes of this machine that are gone.
func sweep(dir string, me process.ID) error {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("looking for what builds left: %w", err)
	}
	var errs []error
	for _, d := range entries {
		name, ok := strings.CutPrefix(d.Name(), workPrefix)
		owner, named := process.OwnerOf(name, me)
		if !ok || !named || !owner.Dead() || !mine(d) {
			continue
		}
		errs = append(errs, removeWork(filepath.Join(dir, d.Name())))
	}
	return errors.Join(errs...)
}

// mine reports whether an entry is a folder of this user's. Everybody may lay things into the folder for temporary files.
func mine(d os.DirEntry) bool {
	info, err := d.Info()
	if err != nil || !info.IsDir() {
		return false
	}
	st, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(st.Uid) == os.Geteuid()
}

// removeWork removes a folder that an image was made in. debootstrap mounts file systems of the kernel's there, whose files are not ours
// to remove.
func removeWork(dir string) error {
	list, _ := os.ReadFile("/proc/self/mountinfo") // where there is none, nothing is mounted for us
	mounts := mountsIn(string(list), dir)
	for _, m := range slices.Backward(mounts) {
		if out, err := exec.Command("umount", "-l", m).CombinedOutput(); err != nil {
			return fmt.Errorf("unmounting %s: %w: %s", m, err, strings.TrimSpace(string(out)))
		}
	}
	if out, err := exec.Command("rm", "-rf", "--one-file-system", dir).CombinedOutput(); err != nil {
		return fmt.Errorf("removing %s: %w: %s", dir, err, strings.TrimSpace(string(out)))
	}
	return nil
}

// mountsIn are the mount points below a folder, in the order in which they were mounted.
func mountsIn(mountinfo, dir string) (out []string) {
	unescape := strings.NewReplacer(`\040`, " ", `\011`, "\t", `\012`, "\n", `\134`, `\`)
	for line := range strings.Lines(mountinfo) {
		f := strings.Fields(line)
		if len(f) < 5 {
			continue
		}
		if point := unescape.Replace(f[4]); strings.HasPrefix(point, dir+"/") {
			out = append(out, point)
		}
	}
	return out
}
