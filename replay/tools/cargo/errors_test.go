package cargo

import (
	"testing"

	"sluice/replay"
)

// TestUnbound: an example that names what is not there is told from one that is wrong.
func TestUnbound(t *testing.T) {
	t.Parallel()
	found := 0
	for _, version := range []string{"1.70", "1.95"} {
		for _, got := range (Tool{}).Parse(replay.Recipe{}, replay.Target{}, captured(t, version)).Tests {
			if (Tool{}).Unbound(got) {
				found++
				if got.ID != "a/doc::src/lib.rs - add#6" {
					t.Errorf("%s: %s: %s", version, got.ID, got.Message)
				}
			}
		}
	}
	if found != 2 {
		t.Errorf("%d examples name what is not there, want one of each version", found)
	}
	for words, want := range map[string]bool{
		"error[E0432]: unresolved import `a::b`\n\nerror[E0599]: no method named `c`\nerror: aborting due to 2 previous errors": true,
		"error: cannot find macro `ask` in this scope\nerror: aborting due to 1 previous error":                                 true,
		"error[E0432]: unresolved import `a::b`\nerror[E0308]: mismatched types":                                                false,
		"error: expected one of `!` or `::`, found `x`":                                                                         false,
		"error: aborting due to 1 previous error":                                                                               false,
		"Couldn't compile the test.":                                                                                            false,
	} {
		if got := (Tool{}).Unbound(replay.Test{Outcome: replay.Error, Kind: replay.Build, Message: words}); got != want {
			t.Errorf("%q: %t", words, got)
		}
	}
	if (Tool{}).Unbound(replay.Test{Outcome: replay.Fail, Kind: replay.Exception, Message: "error[E0432]: printed by a test"}) {
		t.Error("what a test prints counts")
	}
}

// TestThreads: the number of a thread is another one in each run and stands in no message.
func TestThreads(t *testing.T) {
	t.Parallel()
	for words, want := range map[string]string{
		"\nthread 'tests::a (1)' (17396) panicked at src/lib.rs:36:27:\nboom\n": "thread 'tests::a (1)' panicked at src/lib.rs:36:27:\nboom\n",
		"x\nthread 'main' panicked at 'boom', src/lib.rs:1:2":                   "thread 'main' panicked at 'boom', src/lib.rs:1:2",
		"thread 'a' (5) is mine": "thread 'a' (5) is mine",
	} {
		if got := panicWords(words); got != want {
			t.Errorf("%q: %q", words, got)
		}
	}
}
