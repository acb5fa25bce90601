package gharchive

import (
	"bytes"
	"context"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/miners/gharchive/synth"
)

// evenHistory is at hand for every other repository, and tells one commit for each push.
type evenHistory struct{}

func (evenHistory) AtHand(repo string) bool { return len(repo)%2 == 0 }

func (evenHistory) Pushed(_ context.Context, _, _, head string, use func(Commit)) (bool, error) {
	use(Commit{SHA: head, Message: "Fix\n\nFixes: 0123456789abcdef0123456789abcdef01234567 (\"x\")"})
	return false, nil
}

func (evenHistory) Landed(context.Context, string, int) (string, error) { return "", nil }

// TestScreenLetsKnownPushesPass: with a history the screen loses no push of a repository at hand, in any era.
func TestScreenLetsKnownPushesPass(t *testing.T) {
	t.Parallel()
	for era := synth.API2011; era <= synth.Short2025; era++ {
		var hour bytes.Buffer
		if _, err := synth.Write(&hour, synth.Config{Seed: 5, Bytes: 1 << 20, Era: era, Leads: 20}); err != nil {
			t.Fatal(err)
		}
		scan := func(searchAll bool) (Result, []Find) {
			var finds []Find
			o := Options{searchAll: searchAll, History: evenHistory{}, Sink: func(_ []byte, fs []Find) error {
				finds = append(finds, fs...)
				return nil
			}}
			res, err := Scan(t.Context(), bytes.NewReader(hour.Bytes()), o)
			if err != nil {
				t.Fatal(err)
			}
			return res, finds
		}
		some, screened := scan(false)
		every, all := scan(true)
		if diff := cmp.Diff(all, screened); diff != "" {
			t.Errorf("era %d: %s", era, diff)
		}
		for _, name := range []string{cPushesUnknown, cPushesResolved, cPushesRepeated} {
			if some.Counts[name] != every.Counts[name] {
				t.Errorf("era %d: %s is %d, and %d without the screen", era, name, some.Counts[name], every.Counts[name])
			}
		}
		if diff := cmp.Diff(every.Unresolved, some.Unresolved); diff != "" {
			t.Errorf("era %d: %s", era, diff)
		}
		if n := some.Counts[cPushesResolved]; era == synth.Short2025 && (n < 100 || n == some.Types["PushEvent"] || len(some.Unresolved) == 0) {
			t.Errorf("%d of %d pushes resolved show little", n, some.Types["PushEvent"])
		}
	}
}

// TestTally: no count is too high, and none too low by more than what it says, which is at most a share of all.
func TestTally(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		tally, exact, all := Tally{Limit: rapid.IntRange(1, 5).Draw(t, "limit")}, map[string]int{}, 0
		for range rapid.IntRange(0, 60).Draw(t, "names") {
			name, n := fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "name")), rapid.IntRange(1, 4).Draw(t, "n")
			tally.Add(name, n)
			exact[name] += n
			all += n
		}
		for name, n := range exact {
			if got := tally.N(name); got > n || got < n-tally.Lost {
				t.Fatalf("%s: %d of %d, %d lost", name, got, n, tally.Lost)
			}
		}
		top := tally.Top(9)
		if len(top) > tally.Limit || tally.Lost*(tally.Limit+1) > all {
			t.Fatalf("%d names, %d lost of %d", len(top), tally.Lost, all)
		}
		for i, x := range top[min(1, len(top)):] {
			if x.N > top[i].N {
				t.Fatalf("the order is %v", top)
			}
		}
	})
}
