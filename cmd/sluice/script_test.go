package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"sluice/miners/gitrepo"
	"sluice/pipeline/build"
	"sluice/store"
)

func TestMain(m *testing.M) {
	build.Init() // the local sandbox of a script's sluice starts this binary again
	testscript.Main(m, map[string]func(){
		"sluice":   main,
		"mkstore":  func() { fixture(fillStore) },
		"damage":   func() { fixture(damageStore) },
		"mkcosts":  func() { fixture(askStore) },
		"mkchains": func() { fixture(chainStore) },
	})
}

// TestScripts runs the scripts below testdata/script. Each gets "mkstore DIR", which makes a store with four
// candidates, and "mkcosts DIR", which adds what models were asked about them; and a server of models, see fakeModels.
func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir:           "testdata/script",
		UpdateScripts: os.Getenv("UPDATE_SCRIPTS") != "",
		Setup: func(e *testscript.Env) error {
			e.Setenv("USER", "robin")
			fakeGitHub(e)
			fakeModels(e)
			return nil
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"expand": expand, "asked": asked},
	})
}

var fixtureDay = time.Date(2025, 3, 1, 9, 0, 0, 0, time.UTC)

func fixture(f func(context.Context, *store.Store, string) error) {
	ctx, dir := context.Background(), os.Args[1]
	s, err := store.OpenDir(ctx, dir, store.Options{Clock: func() time.Time { return fixtureDay }})
	if err == nil {
		err = f(ctx, s, dir)
		err = firstError(err, s.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func firstError(errs ...error) error {
	for _, err := range errs {
		if err != nil {
			return err
		}
	}
	return nil
}

// change is one authored change: its head is its letter, forty times.
func change(letter string, number int, title string) gitrepo.Change {
	return gitrepo.Change{
		Landing: gitrepo.Squash, Number: number, Title: title, Committed: fixtureDay,
		Base: strings.Repeat("0", 40), Head: strings.Repeat(letter, 40),
	}
}

func fillStore(ctx context.Context, s *store.Store, _ string) error {
	fixes := []gitrepo.Change{
		change("a", 19, "Keep the sign"), change("b", 47, "Fold the \x1b[31mcase\x1b[0m"),
		change("c", 0, "Print without fmt"), change("d", 68, "Sample once"),
	}
	var cs []store.Candidate
	for i, fix := range fixes {
		data, err := json.Marshal(map[string]any{"fix": fix})
		if err != nil {
			return err
		}
		id := fmt.Sprintf("fs-%c%c%c", fix.Head[0], fix.Head[0], fix.Head[0])
		cs = append(cs, store.Candidate{ID: id, Family: "foresight", Repo: "ada/ledger", Data: data, Order: int64(i)})
	}
	if _, err := s.AddCandidates(ctx, cs); err != nil {
		return err
	}
	long := strings.Repeat("a line of a diff\n", 100)
	link := map[string]any{"method": "testimony", "intro": change("e", 12, "Accept thousands"), "quote": "introduced in #12"}
	attempts := []struct {
		id, stage, outcome, code, reason string
		evidence                         map[string]any
		end                              store.State
	}{
		{"fs-aaa", "attribute", "pass", "", "", map[string]any{"link": link, "fix-diff": long}, store.Open},
		{"fs-aaa", "judge", "pass", "", "", map[string]any{"link-again": link}, store.Admitted},
		{"fs-bbb", "replay-fix", "reject", "not-anticipation", "TestFold passes\non h1", nil, store.Rejected},
		{"fs-ccc", "judge", "hold", "needs-model", "no model is configured", nil, store.Held},
		{"fs-ddd", "environment", "error", "error", "the engine went away", nil, store.Failed},
	}
	for i, a := range attempts {
		evs, err := putEvidence(ctx, s, a.evidence)
		if err != nil {
			return err
		}
		if _, err := s.Lease(ctx, a.id, "test", time.Minute); err != nil {
			return err
		}
		at := store.Attempt{
			Candidate: a.id, Stage: a.stage, Version: 1, Key: fmt.Sprint("key-", i), Outcome: a.outcome, Code: a.code,
			Reason: a.reason, Owner: "test", Started: fixtureDay, Ended: fixtureDay.Add(1500 * time.Millisecond), Evidence: evs,
		}
		if _, err := s.Commit(ctx, at, store.Position{State: a.end, Stage: a.stage, Code: a.code, Reason: a.reason, Transient: a.outcome == "error"}); err != nil {
			return err
		}
		if err := s.Unlease(ctx, a.id, "test"); err != nil {
			return err
		}
	}
	return putRun(ctx, s)
}

func putRun(ctx context.Context, s *store.Store) error {
	digest, err := s.Put(ctx, []byte(`{"report": {"build_source": "ok", "build_tests": "ok", "run_tests": "ok", "tests": [
		{"id": "m::TestA", "outcome": "pass"}, {"id": "m::TestB", "outcome": "fail", "message": "got 1"}],
		"broken": {"m/p": "undefined: X"}}, "log": "--- FAIL: TestB\n"}`))
	if err != nil {
		return err
	}
	return s.PutRun(ctx, store.Run{
		Key: "run", Kind: "test-run", Label: "h1+T2 #1", Digest: digest, Candidate: "fs-aaa", Started: fixtureDay, Ended: fixtureDay.Add(2 * time.Second),
	})
}

func putEvidence(ctx context.Context, s *store.Store, evidence map[string]any) ([]store.Evidence, error) {
	var out []store.Evidence
	for name, v := range evidence {
		media, data := "text/x-diff", []byte(nil)
		if text, ok := v.(string); ok {
			data = []byte(text)
		} else {
			var err error
			if media, data, err = encode(v); err != nil {
				return nil, err
			}
		}
		digest, err := s.Put(ctx, data)
		if err != nil {
			return nil, err
		}
		out = append(out, store.Evidence{Name: name, MediaType: media, Digest: digest, Size: int64(len(data))})
	}
	return out, nil
}

func encode(v any) (string, []byte, error) {
	data, err := json.Marshal(v)
	return "application/json", data, err
}

// damageStore removes a blob that evidence refers to, and adds one that nothing refers to.
func damageStore(ctx context.Context, s *store.Store, dir string) error {
	if _, err := s.Put(ctx, []byte("nothing refers to this")); err != nil {
		return err
	}
	e, ok, err := s.LatestEvidence(ctx, "fs-aaa", "fix-diff")
	if err != nil || !ok {
		return fmt.Errorf("no evidence to damage: %w", err)
	}
	hex := strings.TrimPrefix(e.Digest, "sha256:")
	return os.Remove(fmt.Sprintf("%s/blobs/%s/%s.zst", dir, hex[:2], hex[2:]))
}
