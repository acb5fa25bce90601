package docker

import (
	"archive/tar"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"strings"

	cerrdefs "github.com/containerd/errdefs"

	"sluice/replay"
)

// session is a replay.Session: a container that stays until Close. Its own end is that of a job's container: it is removed with
// its Sandbox, by the next process if this one dies, and stops by itself some time after its wall limit.
type session struct {
	b        *box
	env      []map[string]string // layers under each step's own
	baseline replay.Contents
	steps    int
	closed   bool
}

var _ replay.Opener = (*Sandbox)(nil)

// Open implements replay.Opener. A session that builds runs as root, as install steps do; another one as jobs do. A tree that is
// read-only belongs to root while the steps do not run as root.
func (s *Sandbox) Open(ctx context.Context, spec replay.SessionSpec) (replay.Session, error) {
	var o *session
	err := s.withRoom(ctx, func() (err error) {
		o, err = s.open(ctx, spec)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("opening the session %q in docker: %w", spec.Name, err)
	}
	return o, nil
}

func (s *Sandbox) open(ctx context.Context, spec replay.SessionSpec) (*session, error) {
	box, env, ca, err := s.sessionBox(ctx, spec)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, s.o.Timeouts.Engine)
	defer cancel()
	b, err := s.newBox(ctx, box)
	if err != nil {
		if errors.Is(err, ErrNoImage) && spec.Env != nil {
			err = fmt.Errorf("%w: %w", ErrNoEnv, err)
		}
		return nil, err
	}
	if spec.Build {
		b.secrets = s.o.Network.secrets()
	}
	o := &session{b: b, env: env}
	if err = b.start(ctx); err == nil {
		err = b.upload(ctx, func(k *packer) error { return o.pack(ctx, k, spec, ca) })
	}
	if err == nil {
		o.baseline, err = replay.Baseline(ctx, spec.Tree, spec.Overlays)
	}
	if err != nil {
		return nil, errors.Join(err, o.Close())
	}
	b.end = s.o.Clock.Now().Add(box.limits.Wall)
	return o, nil
}

// sessionBox says which container the session needs, with the variables of its steps and the certificates that they trust.
func (s *Sandbox) sessionBox(ctx context.Context, spec replay.SessionSpec) (b boxSpec, env []map[string]string, ca []byte, err error) {
	b = boxSpec{job: spec.Name, network: "none", user: s.o.User, limits: spec.Limits.Or(s.limits)}
	if spec.Env != nil {
		b.image = spec.Env.ID
		return b, []map[string]string{b.limits.CoreVars(), spec.Env.Recipe.Env}, nil, nil
	}
	env = []map[string]string{spec.Recipe.Env}
	if spec.Build {
		b.limits.CPUs = cmp.Or(spec.Limits.CPUs, s.o.Install.CPUs)
		b.network, b.caps, b.user = cmp.Or(s.o.Network.Mode, "bridge"), installCaps, rootUser
		if ca, err = s.o.Network.bundle(); err != nil {
			return b, nil, nil, err
		}
		env = append(env, s.o.Network.installEnv(ca != nil))
	}
	if spec.Recipe.Base != nil {
		shared, err := s.Prepare(ctx, *spec.Recipe.Base, spec.Tree)
		b.image = shared.ID
		return b, env, ca, err
	}
	if b.image, err = s.present(ctx, spec.Recipe.Image); err == nil && b.image == "" {
		b.image, err = s.pull(ctx, spec.Recipe.Image)
	}
	return b, env, ca, err
}

func (o *session) pack(ctx context.Context, k *packer, spec replay.SessionSpec, ca []byte) error {
	user, err := parseOwner(o.b.spec.user)
	if err != nil {
		return err
	}
	if err := k.places(o.b.places, 0, user); err != nil {
		return err
	}
	if spec.Env == nil {
		for _, d := range []string{envDir, homeDir} {
			if err := k.dir(d[1:], 0o755, user); err != nil {
				return err
			}
		}
	}
	if ca != nil {
		if err := k.file("", replay.File{Path: caFile[1:], Data: ca}, owner{}); err != nil {
			return err
		}
	}
	if spec.ReadOnly {
		user = owner{}
	}
	return k.tree(ctx, spec.Tree, spec.Overlays, user)
}

// Exec implements replay.Session.
func (o *session) Exec(ctx context.Context, st replay.Step) (replay.StepResult, error) {
	r, err := o.exec(ctx, st)
	if err != nil {
		return r, fmt.Errorf("step %q of a session: %w", st.Name, err)
	}
	return r, nil
}

func (o *session) exec(ctx context.Context, st replay.Step) (replay.StepResult, error) {
	b, clock := o.b, o.b.s.o.Clock
	ctx, cancel := context.WithTimeout(ctx, max(0, b.end.Sub(clock.Now()))+b.s.o.Timeouts.Engine)
	defer cancel()
	i := o.steps
	o.steps++
	user, err := parseOwner(b.spec.user)
	if err != nil {
		return replay.StepResult{}, err
	}
	err = b.upload(ctx, func(k *packer) error {
		for _, stream := range []string{"out", "err"} {
			p := strings.TrimPrefix(b.places.stream(i, stream), "/")
			if err := k.file(path.Dir(p), replay.File{Path: path.Base(p)}, user); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return replay.StepResult{}, err
	}
	r, err := b.step(ctx, i, st, o.env)
	if err != nil {
		return r, err
	}
	return r, o.streams(ctx, i, &r)
}

// streams reads what the i-th step printed.
func (o *session) streams(ctx context.Context, i int, r *replay.StepResult) error {
	c := collected{streams: map[string]cut{}}
	for _, stream := range []string{"out", "err"} {
		name := o.b.places.stream(i, stream)
		err := o.b.archive(ctx, name, func(_ *tar.Header, data io.Reader) (err error) {
			c.streams["0."+stream], err = readCut(data, o.b.spec.limits.Output)
			return err
		})
		if err != nil && !errors.Is(err, fs.ErrNotExist) { // a root step may have removed it
			return err
		}
	}
	one := []replay.StepResult{*r}
	c.fill(one)
	o.b.mask(one)
	*r = one[0]
	return nil
}

// archive calls f for what a path of the container holds, in the order of the engine's archive. Nothing runs there.
func (b *box) archive(ctx context.Context, name string, f func(*tar.Header, io.Reader) error) error {
	r, _, err := b.s.api.CopyFromContainer(ctx, b.id, name)
	if cerrdefs.IsNotFound(err) {
		return fmt.Errorf("%q: %w", name, fs.ErrNotExist)
	}
	if err != nil {
		return engineError("copying files out of a container", err)
	}
	defer r.Close()
	for tr := tar.NewReader(&budget{r: r, left: maxStream}); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return nil
		}
		if err == nil {
			err = f(h, tr)
		}
		if errors.Is(err, errTooMuch) {
			return replay.ErrTooLarge
		}
		if err != nil {
			return fmt.Errorf("reading an archive: %w", err)
		}
	}
}

// Expand implements replay.Session.
func (o *session) Expand(s string) string { return o.b.places.expand(s) }

// Changes implements replay.Session.
func (o *session) Changes(ctx context.Context) ([]replay.Change, error) {
	found := replay.Contents{}
	if err := o.b.archive(ctx, treeDir, func(h *tar.Header, data io.Reader) error { return digest(found, h, data) }); err != nil {
		return nil, fmt.Errorf("looking for changes: %w", err)
	}
	return replay.Compare(o.baseline, found), nil
}

// digest notes what one entry of an archive of the tree holds.
func digest(found replay.Contents, h *tar.Header, data io.Reader) error {
	name, ok := below(h.Name)
	mode := h.FileInfo().Mode()
	switch {
	case !ok || h.Typeflag == tar.TypeDir:
		return nil
	case len(found) >= replay.MaxEntries:
		return replay.ErrTooLarge
	case h.Typeflag == tar.TypeLink: // a second name of a file that came before
		first, _ := below(h.Linkname)
		found[name] = found[first]
		return nil
	case h.Typeflag == tar.TypeSymlink:
		found[name] = replay.EntryOf(replay.File{Mode: fs.ModeSymlink, Data: []byte(h.Linkname)})
		return nil
	case h.Typeflag != tar.TypeReg:
		found[name] = replay.Entry{Mode: mode}
		return nil
	}
	sum := sha256.New()
	n, err := io.Copy(sum, data)
	found[name] = replay.Entry{Mode: replay.PlainMode(mode), Digest: "sha256:" + hex.EncodeToString(sum.Sum(nil)), Size: n}
	return err
}

// below is a name without its first folder, which is the tree's.
func below(name string) (string, bool) {
	_, rest, ok := strings.Cut(name, "/")
	return rest, ok && clean(rest)
}

// Read implements replay.Session. The engine would follow links on the way to the file, so each folder is asked for first.
func (o *session) Read(ctx context.Context, name string) (replay.File, error) {
	f, err := o.read(ctx, name)
	if err != nil {
		return f, fmt.Errorf("reading a file of the tree: %w", err)
	}
	return f, nil
}

func (o *session) read(ctx context.Context, name string) (f replay.File, err error) {
	if !clean(name) {
		return f, fmt.Errorf("%q is not a path inside the tree", name)
	}
	none := fmt.Errorf("%q: %w", name, fs.ErrNotExist)
	parents(name, func(d string) bool {
		st, serr := o.b.s.api.ContainerStatPath(ctx, o.b.id, path.Join(treeDir, d))
		switch {
		case cerrdefs.IsNotFound(serr), serr == nil && !st.Mode.IsDir():
			err = none
		case serr != nil:
			err = engineError("looking at a file", serr)
		}
		return err == nil
	})
	if err != nil {
		return f, err
	}
	f = replay.File{Path: name}
	seen := false
	err = o.b.archive(ctx, path.Join(treeDir, name), func(h *tar.Header, data io.Reader) (err error) {
		f.Mode = replay.PlainMode(h.FileInfo().Mode())
		switch {
		case seen:
			return nil
		case h.Typeflag == tar.TypeSymlink:
			f.Data = []byte(h.Linkname)
		case h.Typeflag != tar.TypeReg:
			return none
		case h.Size > replay.MaxRead:
			return replay.ErrTooLarge
		default:
			f.Data, err = io.ReadAll(data)
		}
		seen = true
		return err
	})
	return f, err
}

// Close implements replay.Session.
func (o *session) Close() error {
	if o.closed {
		return nil
	}
	o.closed = true
	o.b.discard(context.Background())
	return nil
}
