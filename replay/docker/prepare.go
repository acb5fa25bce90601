package docker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	cerrdefs "github.com/containerd/errdefs"
	"github.com/docker/docker/api/types/container"

	"sluice/replay"
)

// envRepository holds the environments, one tag per fingerprint.
const envRepository = "sluice/env"

// Prepare returns the environment of the recipe's fingerprint: the image with its name and labels, or else a new one.
// An image that was built from another version of the recipe's base image is built again, if the engine has that one. Env.Log is empty when
// nothing was built. ErrPlatform and ErrNoImage come before any work.
func (s *Sandbox) Prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	var env replay.Env
	err := s.withRoom(ctx, func() (err error) {
		env, err = s.prepare(ctx, r, t)
		return err
	})
	if err == nil && env.Log != "" { // it was built
		_, err = s.o.Disk.Evict(ctx, 0)
	}
	if err != nil {
		return env, fmt.Errorf("preparing the environment %s: %w", short(r.Fingerprint), err)
	}
	return env, nil
}

func (s *Sandbox) prepare(ctx context.Context, r replay.Recipe, t replay.Tree) (replay.Env, error) {
	if !isTag(r.Fingerprint) {
		return replay.Env{}, fmt.Errorf("the fingerprint %q cannot name an image", r.Fingerprint)
	}
	free, err := s.hold(ctx, r.Fingerprint)
	if err != nil {
		return replay.Env{}, err
	}
	defer free()
	base, err := s.present(ctx, r.Image)
	if err != nil {
		return replay.Env{}, err
	}
	if id, err := s.find(ctx, r.Fingerprint, base); err != nil || id != "" {
		return s.env(r, id, ""), errors.Join(err, s.touch(ctx, id, r.Fingerprint))
	}
	if base == "" {
		if base, err = s.pull(ctx, r.Image); err != nil {
			return replay.Env{}, err
		}
	}
	from := base
	if r.Base != nil {
		shared, err := s.Prepare(ctx, *r.Base, t)
		if err != nil {
			return replay.Env{}, err
		}
		from = shared.ID
	}
	return s.build(ctx, r, t, origin{base: base, from: from})
}

// origin is what an environment is built from: the recipe's image, and what the container starts from, which is that image
// or the environment of the recipe's base.
type origin struct{ base, from string }

// hold waits until no other call builds the fingerprint.
func (s *Sandbox) hold(ctx context.Context, fingerprint string) (free func(), err error) {
	s.mu.Lock()
	token, ok := s.building[fingerprint]
	if !ok {
		token = make(chan struct{}, 1)
		s.building[fingerprint] = token
	}
	s.mu.Unlock()
	select {
	case token <- struct{}{}:
		return func() { <-token }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// present returns the id of an image for the engine's platform, or "" if the engine does not have it.
func (s *Sandbox) present(ctx context.Context, ref string) (string, error) {
	in, err := s.api.ImageInspect(ctx, ref)
	if cerrdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", engineError("looking for the image "+ref, err)
	}
	if in.Os != s.info.OSType || !sameArch(in.Architecture, s.info.Architecture) {
		return "", fmt.Errorf("%w: %s is for %s/%s, the engine runs %s/%s",
			ErrPlatform, ref, in.Os, in.Architecture, s.info.OSType, s.info.Architecture)
	}
	return in.ID, nil
}

// sameArch compares the names that images have with those that kernels have.
func sameArch(image, kernel string) bool {
	names := map[string]string{"x86_64": "amd64", "aarch64": "arm64", "armv7l": "arm", "i686": "386", "i386": "386"}
	return image == cmp.Or(names[kernel], kernel)
}

// find returns the id of the fingerprint's image, or "" if there is none that was built from base, in the folder of today; base "" is any.
func (s *Sandbox) find(ctx context.Context, fingerprint, base string) (string, error) {
	in, err := s.api.ImageInspect(ctx, envRepository+":"+fingerprint)
	if cerrdefs.IsNotFound(err) {
		return "", nil
	}
	if err != nil {
		return "", engineError("looking for an environment", err)
	}
	if l := in.Config.Labels; l[LabelEnv] != fingerprint || l[labelFolder] != envDir || base != "" && l[LabelBase] != base {
		return "", nil
	}
	return in.ID, nil
}

// touch notes in the engine that an environment is used: the time at which an image was last named is what sluice images gc goes by.
func (s *Sandbox) touch(ctx context.Context, id, fingerprint string) error {
	if id == "" {
		return nil
	}
	err := s.api.ImageTag(ctx, id, envRepository+":"+fingerprint)
	if err == nil || cerrdefs.IsNotFound(err) { // removed just now: the run will say so
		return nil
	}
	return engineError("noting the use of an environment", err)
}

func (s *Sandbox) build(ctx context.Context, r replay.Recipe, t replay.Tree, o origin) (env replay.Env, err error) {
	limits := s.o.Install.Or(s.limits)
	ca, err := s.o.Network.bundle()
	if err != nil {
		return env, err
	}
	ctx, cancel := context.WithTimeout(ctx, limits.Wall+s.o.Timeouts.Engine)
	defer cancel()
	b, err := s.newBox(ctx, boxSpec{
		image: o.from, job: "prepare " + short(r.Fingerprint), network: cmp.Or(s.o.Network.Mode, "bridge"), caps: installCaps,
		user: rootUser, limits: limits,
	})
	if err != nil {
		return env, err
	}
	defer b.discard(ctx)
	b.secrets = s.o.Network.secrets()
	if err := b.start(ctx); err != nil {
		return env, err
	}
	if err := b.upload(ctx, func(k *packer) error { return b.pack(ctx, k, r, t, ca) }); err != nil {
		return env, err
	}
	done, err := b.steps(ctx, mustPass(r.Install), r.Env, s.o.Network.installEnv(ca != nil))
	if err != nil {
		return env, err
	}
	res, err := b.results(ctx, done)
	if err != nil {
		return env, err
	}
	log := installLog(res.Steps)
	if err := installed(r.Install, res.Steps, log, limits.Memory); err != nil {
		return env, err
	}
	id, err := b.commit(ctx, r.Fingerprint, o.base, s.o.User)
	return s.env(r, id, log), err
}

func (s *Sandbox) env(r replay.Recipe, id, log string) replay.Env {
	walls := s.Walls()
	return replay.Env{Recipe: r, Sandbox: s.Name(), ID: id, Digest: id, Walls: &walls, Log: log}
}

// pack writes what install steps find: the recipe's inputs, empty folders, and the certificate authorities. The bundle
// is copied rather than mounted: the engine may be on another host, and a mount leaves its empty mount point behind.
func (b *box) pack(ctx context.Context, k *packer, r replay.Recipe, t replay.Tree, ca []byte) error {
	if err := k.places(b.places, len(r.Install), owner{}); err != nil {
		return err
	}
	for _, d := range []string{envDir, homeDir} {
		if err := k.dir(d[1:], 0o755, owner{}); err != nil {
			return err
		}
	}
	if ca != nil {
		if err := k.file("", replay.File{Path: caFile[1:], Data: ca}, owner{}); err != nil {
			return err
		}
	}
	if slices.Contains(r.Inputs, "*") {
		return k.tree(ctx, t, nil, owner{})
	}
	files, err := inputs(ctx, r.Inputs, t)
	if err != nil {
		return err
	}
	return k.tree(ctx, noTree{}, []replay.Overlay{{Files: files}}, owner{})
}

// inputs reads the named files; one that this state lacks is left out, as it was from the fingerprint.
func inputs(ctx context.Context, names []string, t replay.Tree) ([]replay.File, error) {
	var files []replay.File
	for _, name := range names {
		data, err := t.ReadFile(ctx, name)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("reading the input %q: %w", name, err)
		}
		files = append(files, replay.File{Path: name, Mode: 0o644, Data: data})
	}
	return files, nil
}

// noTree is a tree without files.
type noTree struct{}

func (noTree) ID() string                                          { return "" }
func (noTree) Each(context.Context, func(replay.File) error) error { return nil }
func (noTree) Select(context.Context, func(replay.File) bool, func(replay.File) error) error {
	return nil
}
func (noTree) ReadFile(context.Context, string) ([]byte, error) { return nil, fs.ErrNotExist }

// installed returns the error of the first step that failed: the machinery's, or an *replay.InstallError.
func installed(recipe []replay.Step, steps []replay.StepResult, log string, memory int64) error {
	for i, st := range steps {
		if st.Stop == replay.Skipped || st.Passed() || recipe[i].Warm {
			continue
		}
		if fault := replay.InstallFault(st); fault != nil {
			return fault
		}
		return &replay.InstallError{Step: st, Log: log, Memory: memory}
	}
	return nil
}

// mustPass returns the steps with MustPass set: nothing is installed on top of a failure, but for that of a warming step.
func mustPass(steps []replay.Step) []replay.Step {
	steps = slices.Clone(steps)
	for i := range steps {
		steps[i].MustPass = !steps[i].Warm
	}
	return steps
}

func installLog(steps []replay.StepResult) string {
	var b bytes.Buffer
	for _, st := range steps {
		if st.Stop == replay.Skipped {
			continue
		}
		fmt.Fprintf(&b, "== %s: %s, code %d\n", st.Name, st.Stop, st.ExitCode)
		b.Write(st.Stdout)
		b.Write(st.Stderr)
	}
	return b.String()
}

// sweepScript leaves of the install container only what the image shall hold: $1 the steps' user, $2 its group. The
// files were made and are removed in one layer, so no layer holds them. A user without an entry breaks programs that
// ask for their own name.
const sweepScript = `set -e
rm -rf ` + ioRoot + ` ` + caFile + ` /var/lib/apt/lists/* /var/cache/apt/*.bin /var/cache/apt/archives/*.deb
find /tmp /var/tmp ` + treeDir + ` -mindepth 1 -delete
find ` + envDir + ` ! -user "$1" -exec chown -h "$1:$2" {} +
grep -q "^[^:]*:[^:]*:$1:" /etc/passwd || echo "sandbox:x:$1:$2::` + homeDir + `:/bin/sh" >>/etc/passwd
grep -q "^[^:]*:[^:]*:$2:" /etc/group || echo "sandbox:x:$2:" >>/etc/group
`

// commit cleans the container up and makes it the fingerprint's image.
func (b *box) commit(ctx context.Context, fingerprint, base, user string) (string, error) {
	if err := b.sweep(ctx, user); err != nil {
		return "", err
	}
	c, err := b.s.api.ContainerCommit(ctx, b.id, container.CommitOptions{
		Reference: envRepository + ":" + fingerprint,
		Config: &container.Config{
			Cmd: []string{"/bin/sh"}, WorkingDir: treeDir,
			Labels: map[string]string{LabelEnv: fingerprint, LabelBase: base, labelFolder: envDir},
		},
	})
	if err != nil {
		return "", engineError("committing an environment", err)
	}
	return c.ID, nil
}

func (b *box) sweep(ctx context.Context, user string) error {
	o, err := parseOwner(user)
	if err != nil {
		return err
	}
	if err := b.start(ctx); err != nil {
		return err
	}
	ids := []string{fmt.Sprint(o.uid), fmt.Sprint(o.gid)}
	end, err := b.exec(ctx, container.ExecOptions{
		User: rootUser, Cmd: append([]string{"/bin/sh", "-c", sweepScript, "sh"}, ids...),
	}, b.s.o.Clock.Now().Add(b.s.o.Timeouts.Engine))
	if err != nil {
		return err
	}
	if end.stop != replay.Exited || end.code != 0 {
		return fmt.Errorf("cleaning the environment: %s with code %d", end.stop, end.code)
	}
	return b.halt(ctx)
}

// isTag reports whether a fingerprint can be an image's tag.
func isTag(s string) bool {
	ok := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("_.-", r)
	}
	return s != "" && len(s) <= 128 && s[0] != '.' && s[0] != '-' && !strings.ContainsFunc(s, func(r rune) bool { return !ok(r) })
}

func short(fingerprint string) string { return fingerprint[:min(12, len(fingerprint))] }
