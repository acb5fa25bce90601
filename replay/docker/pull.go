package docker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/docker/docker/api/types/image"
)

// PullOptions say how images are pulled. Registries limit pulls per hour and account: what pulls too often is refused for long.
type PullOptions struct {
	// Tries is how often a pull is tried that the network or a busy registry fails; 0 = 5. What a registry does not have, or does not
	// give, is not asked for again.
	Tries int
	// Pause is the wait before the second try, twice as long before each further one; 0 = 5 s.
	Pause time.Duration
	// Every is the least time from one pull's start to the next one's, of this Sandbox; 0 = 2 s. One pull runs at a time.
	Every time.Duration
}

func (p PullOptions) withDefaults() PullOptions {
	return PullOptions{Tries: cmp.Or(p.Tries, 5), Pause: cmp.Or(p.Pause, 5*time.Second), Every: cmp.Or(p.Every, 2*time.Second)}
}

// localOnly images are made by package images; no registry is asked for them.
const localOnly = "sluice/"

// pull fetches an image and returns its id. A failure that passes is tried again.
func (s *Sandbox) pull(ctx context.Context, ref string) (string, error) {
	if strings.HasPrefix(ref, localOnly) {
		name, _, _ := strings.Cut(strings.TrimPrefix(ref, localOnly), ":")
		return "", fmt.Errorf("%w: %s: make it with sluice images build %s", ErrNoImage, ref, name)
	}
	select {
	case s.pulls <- struct{}{}:
		defer func() { <-s.pulls }()
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if id, err := s.present(ctx, ref); err != nil || id != "" { // pulled while we waited
		return id, err
	}
	pause := s.o.Pull.Pause
	for try := 1; ; try++ {
		err := s.pullOnce(ctx, ref)
		if err == nil {
			break
		}
		if !errors.Is(err, ErrNetwork) || ctx.Err() != nil {
			return "", err
		}
		if try >= s.o.Pull.Tries {
			return "", fmt.Errorf("%w (tried %d times)", err, try)
		}
		if werr := s.o.Clock.Wait(ctx, pause); werr != nil {
			return "", errors.Join(err, werr)
		}
		pause *= 2
	}
	id, err := s.present(ctx, ref)
	if err == nil && id == "" {
		err = fmt.Errorf("%w: %s, although it was pulled", ErrNoImage, ref)
	}
	return id, err
}

func (s *Sandbox) pullOnce(ctx context.Context, ref string) error {
	if wait := s.pulled.Add(s.o.Pull.Every).Sub(s.o.Clock.Now()); wait > 0 && !s.pulled.IsZero() {
		if err := s.o.Clock.Wait(ctx, wait); err != nil {
			return err
		}
	}
	s.pulled = s.o.Clock.Now()
	limited, cancel := context.WithTimeout(ctx, s.o.Timeouts.Pull)
	defer cancel()
	r, err := s.api.ImagePull(limited, ref, image.PullOptions{})
	if err == nil {
		err = errors.Join(readPull(r), r.Close())
	}
	switch {
	case err == nil:
		return nil
	case limited.Err() != nil && ctx.Err() == nil:
		return fmt.Errorf("pulling %s: %w: it took longer than %v", ref, ErrNetwork, s.o.Timeouts.Pull)
	}
	return engineError("pulling "+ref, err)
}

// readPull reads the engine's progress of a pull to its end: the pull is over only then, and its error is a line of it.
func readPull(r io.Reader) error {
	for d := json.NewDecoder(r); ; {
		var line struct {
			Error string `json:"error"`
		}
		err := d.Decode(&line)
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return fmt.Errorf("reading the progress: %w", err)
		}
		if line.Error != "" {
			return errors.New(line.Error)
		}
	}
}
