package docker

import (
	"archive/tar"
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/docker/docker/api/types/image"
	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/sandboxtest"
)

const canary = "CANARY-7f3a91c5-NOT-A-CERTIFICATE"

// prepared builds a recipe anew with a bundle and mirrors that can be recognised.
func prepared(t *testing.T, r replay.Recipe) (*Sandbox, replay.Env, error) {
	t.Helper()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, []byte(canary+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := newTest(t, Options{Network: NetworkOptions{CAFile: ca, Env: map[string]string{"GOPROXY": "http://user:" + canary + "@mirror"}}})
	t.Cleanup(func() {
		forget(t, s, r.Fingerprint)
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	forget(t, s, r.Fingerprint)
	r.Image = testImage
	tree := sandboxtest.NewTree("t", sandboxtest.Text("go.mod", "module m\n"), sandboxtest.Text("secret.go", "package "+canary))
	env, err := s.Prepare(context.Background(), r, tree)
	return s, env, err
}

func TestNothingOfTheBuildIsLeft(t *testing.T) {
	t.Parallel()
	s, env, err := prepared(t, replay.Recipe{Fingerprint: "envtest-clean", Inputs: []string{"*"}, Env: map[string]string{"A": "b"}, Install: []replay.Step{
		sh("look", `set -e; for f in "$SSL_CERT_FILE" "$REQUESTS_CA_BUNDLE" "$PIP_CERT" "$CURL_CA_BUNDLE" "$GIT_SSL_CAINFO" "$NODE_EXTRA_CA_CERTS"; do grep CANARY $f; done
			test "$GOPROXY"; test "$GOTOOLCHAIN" = auto; grep CANARY secret.go; cp secret.go /tmp/copy; echo kept > {env}/kept; touch {out}/x; echo $A`),
	}})
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(env.Log, replay.Masked); n != 7 || !strings.Contains(env.Log, "\nb\n") {
		t.Errorf("the install step did not see all: %s", env.Log)
	}
	in, err := s.api.ImageInspect(context.Background(), env.ID)
	if err != nil {
		t.Fatal(err)
	}
	base, err := s.api.ImageInspect(context.Background(), testImage)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(base.Config.Env, in.Config.Env); d != "" {
		t.Errorf("variables of the image (-base +env):\n%s", d)
	}
	names := layer(t, s, env.ID)
	for _, want := range []string{"sluice/env/kept"} {
		if !names[want] {
			t.Errorf("%s is lost", want)
		}
	}
	for name := range names {
		for _, bad := range []string{"sluice-io", "run/", "tmp/", "testbed/", ".wh."} {
			if strings.HasPrefix(name, bad) && name != bad {
				t.Errorf("%s is left", name)
			}
		}
	}
}

// layer returns the names in the last layer of an image, and fails the test if the canary is anywhere in it.
func layer(t *testing.T, s *Sandbox, id string) map[string]bool {
	t.Helper()
	r, err := s.api.ImageSave(context.Background(), []string{id})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	names := map[string]bool{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if err == io.EOF {
			return names
		}
		if err != nil {
			t.Fatal(err)
		}
		if h.Size > 50<<20 { // the base image
			continue
		}
		data, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(data, []byte(canary)) {
			t.Errorf("the canary is in %s of the saved image", h.Name)
		}
		for lt := tar.NewReader(bytes.NewReader(data)); ; {
			f, err := lt.Next()
			if err != nil {
				break
			}
			names[f.Name] = true
		}
	}
}

func TestNetworkTroubleIsNoVerdict(t *testing.T) {
	t.Parallel()
	_, _, err := prepared(t, replay.Recipe{Fingerprint: "envtest-trouble", Install: []replay.Step{
		sh("fetch", "echo 'fatal: Could not resolve host: h' >&2; exit 1"),
	}})
	var install *replay.InstallError
	if !errors.Is(err, ErrNetwork) || errors.As(err, &install) {
		t.Errorf("got %v", err)
	}
}

// TestSecretsAreMasked: what Install prints of an address of the user's has no password, in the log and in the error.
func TestSecretsAreMasked(t *testing.T) {
	t.Parallel()
	_, _, err := prepared(t, replay.Recipe{Fingerprint: "envtest-masked", Install: []replay.Step{sh("install", `echo "no module at $GOPROXY" >&2; exit 1`)}})
	var failed *replay.InstallError
	if !errors.As(err, &failed) || !strings.Contains(failed.Log, "no module at http://xxxxx@mirror") || strings.Contains(err.Error(), canary) {
		t.Errorf("got %v, %+v", err, failed)
	}
}

func TestEnvironmentFollowsItsBase(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s, first, err := prepared(t, replay.Recipe{Fingerprint: "envtest-base"})
	if err != nil {
		t.Fatal(err)
	}
	other := strings.Repeat("0", 8)
	if id, err := s.find(ctx, "envtest-base", other); id != "" || err != nil {
		t.Errorf("an environment of another base was found: %q, %v", id, err)
	}
	lost := first.Recipe
	lost.Image = "sluice/removed:since"
	if env, err := s.Prepare(ctx, lost, noTree{}); err != nil || env.ID != first.ID {
		t.Errorf("without its base the environment was not found: %+v, %v", env, err)
	}
	again, err := s.Prepare(ctx, first.Recipe, noTree{})
	if err != nil || again.ID != first.ID || again.Digest == "" || again.Log != "" {
		t.Errorf("found %+v, %v; built %s", again, err, first.ID)
	}
}

func TestPlatformBeforeWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	s := newTest(t, Options{})
	const ref = "sluice/test:platform"
	arch := "arm64"
	if sameArch(arch, s.info.Architecture) {
		arch = "amd64"
	}
	r, err := s.api.ImageLoad(ctx, bytes.NewReader(savedImage(ref, arch)))
	if err != nil {
		t.Fatal(err)
	}
	io.Copy(io.Discard, r.Body)
	r.Body.Close()
	t.Cleanup(func() { s.api.ImageRemove(ctx, ref, image.RemoveOptions{}); s.Close() })
	_, err = s.Prepare(ctx, replay.Recipe{Image: ref, Fingerprint: "envtest-platform"}, noTree{})
	if !errors.Is(err, ErrPlatform) || !strings.Contains(err.Error(), "linux/"+arch) {
		t.Errorf("got %v", err)
	}
}

// savedImage is an image of one file, in the form in which engines load one.
func savedImage(ref, arch string) []byte {
	layer := archive(entry{tar.TypeReg, "f", "x"})
	config := fmt.Sprintf(`{"os":"linux","architecture":%q,"config":{},"rootfs":{"type":"layers","diff_ids":["sha256:%x"]}}`,
		arch, sha256.Sum256(layer))
	manifest := fmt.Sprintf(`[{"Config":"config.json","RepoTags":[%q],"Layers":["layer.tar"]}]`, ref)
	return archive(entry{tar.TypeReg, "config.json", config}, entry{tar.TypeReg, "layer.tar", string(layer)},
		entry{tar.TypeReg, "manifest.json", manifest})
}
