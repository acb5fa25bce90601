package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// childEnv names the store on which this binary, run again, commits until it is killed; hoursEnv is how far its clock is
// ahead, so that the lease of the one killed before has expired.
const (
	childEnv = "STORE_TEST_CHILD"
	hoursEnv = "STORE_TEST_HOURS"
)

func TestMain(m *testing.M) {
	if dir := os.Getenv(childEnv); dir != "" {
		hours, err := strconv.Atoi(os.Getenv(hoursEnv))
		fmt.Fprintln(os.Stderr, errors.Join(err, child(dir, time.Duration(hours)*time.Hour)))
		os.Exit(1)
	}
	os.Exit(m.Run())
}

const victim = "is-1"

// child commits one attempt after another, each with evidence and a run, and acknowledges each on standard output.
func child(dir string, ahead time.Duration) error {
	ctx := context.Background()
	s, err := OpenDir(ctx, dir, Options{MustExist: true, Clock: func() time.Time { return time.Now().Add(ahead) }})
	if err != nil {
		return err
	}
	owner := fmt.Sprint(os.Getpid())
	for {
		if got, err := s.Lease(ctx, victim, owner, time.Hour/2); err != nil || !got {
			return fmt.Errorf("leased: %v, %w", got, err)
		}
		done, err := s.Attempts(ctx, victim)
		if err != nil {
			return err
		}
		key := fmt.Sprintf("k%d", len(done))
		if err := step(ctx, s, owner, key); err != nil {
			return err
		}
		fmt.Println(key)
	}
}

func step(ctx context.Context, s *Store, owner, key string) error {
	data := []byte(key + strings.Repeat(" of a log", 2000))
	d, err := s.Put(ctx, data)
	if err != nil {
		return err
	}
	if _, known, err := s.Run(ctx, key); err != nil {
		return err
	} else if !known {
		if err := s.PutRun(ctx, Run{Key: key, Digest: d, Candidate: victim}); err != nil {
			return err
		}
	}
	a := Attempt{Candidate: victim, Stage: "build", Key: key, Outcome: "reject", Code: key, Owner: owner,
		Evidence: []Evidence{{Name: "log", Digest: d, Size: int64(len(data))}}}
	_, err = s.Commit(ctx, a, Position{State: Rejected, Stage: a.Stage, Code: a.Code})
	return err
}

// Killed at any instant, a process loses nothing that it acknowledged, and the next one goes on from there.
func TestKill(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s, err := OpenDir(t.Context(), dir, Options{})
	ok(t, err)
	add(t, s, victim)
	ok(t, s.Close()) // so that each child opens, recovers and closes by itself
	acknowledged := 0
	for round := range 25 {
		acks := killed(t, dir, round)
		acknowledged += len(acks)
		s, err := OpenDir(t.Context(), dir, Options{})
		ok(t, err)
		got := committed(t, s)
		for _, key := range acks {
			if !slices.Contains(got, key) {
				t.Errorf("round %d: %s was acknowledged and is lost", round, key)
			}
		}
		clean(t, s)
		ok(t, s.Close())
	}
	if acknowledged < 25 {
		t.Errorf("only %d commits", acknowledged)
	}
	t.Logf("%d commits acknowledged", acknowledged)
}

// killed runs a child, kills it some time after its first commit, and returns what it acknowledged.
func killed(t *testing.T, dir string, round int) (acks []string) {
	t.Helper()
	after := time.Duration(rand.IntN(40_000)) * time.Microsecond
	self, err := os.Executable()
	ok(t, err)
	cmd := exec.Command(self)
	cmd.Env = append(os.Environ(), childEnv+"="+dir, fmt.Sprintf("%s=%d", hoursEnv, round))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	ok(t, err)
	ok(t, cmd.Start())
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if len(acks) == 0 {
			time.AfterFunc(after, func() { cmd.Process.Kill() }) //nolint:errcheck // a dead one fails the test below
		}
		acks = append(acks, lines.Text())
	}
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		t.Errorf("the child was not killed: %v", err)
	}
	return acks
}

// committed returns the keys of all attempts, which must be k0, k1, … without a gap or a repetition.
func committed(t *testing.T, s *Store) (keys []string) {
	t.Helper()
	as, err := s.Attempts(t.Context(), victim)
	ok(t, err)
	for i, a := range as {
		keys = append(keys, a.Key)
		if want := fmt.Sprintf("k%d", i); a.Key != want {
			t.Fatalf("attempt %d has key %s, want %s", i, a.Key, want)
		}
		if _, err := s.Get(t.Context(), a.Evidence[0].Digest); err != nil {
			t.Error(err)
		}
	}
	if len(as) > 0 {
		c, err := s.Candidate(t.Context(), victim)
		ok(t, err)
		same(t, "code", c.Code, as[len(as)-1].Code)
	}
	return keys
}
