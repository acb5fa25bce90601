package model

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestParseUSD(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]uint64{"0": 0, "1": 1e6, "0.25": 250000, "0.000001": 1, "15.00": 15e6, "007": 7e6, "1000000": 1e12} {
		if got, err := parseUSD(text); err != nil || got != want {
			t.Errorf("%s: got %d, %v; want %d", text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", ".5", "1.", "-1", "+1", "1e3", "1,5", " 1", "0x1", "1.0000001", "1000000.000001", "99999999999999999999", "NaN", "1_0", "１"} {
		if got, err := parseUSD(text); err == nil {
			t.Errorf("%q is read as %d", text, got)
		}
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	p, err := Spec{InputUSD: "1", CachedUSD: "0.1", OutputUSD: "2"}.price()
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		use  Usage
		want int64
	}{
		{Usage{}, 0}, {Usage{Input: 1}, 1}, {Usage{Input: 10, Cached: 10}, 1}, {Usage{Input: 1000, Cached: 400, Output: 100}, 840},
		{Usage{Input: 3, Cached: 9, Output: 0}, 1}, {Usage{Input: -5, Cached: -5, Output: -5}, 0}, {Usage{Input: math.MaxInt64, Output: math.MaxInt64}, math.MaxInt64},
	} {
		if got := p.cost(tt.use); got != tt.want {
			t.Errorf("%+v costs %d, want %d", tt.use, got, tt.want)
		}
	}
	free := price{}
	if got := free.cost(Usage{Input: 1e9, Output: 1e9}); got != 0 {
		t.Errorf("what is free costs %d", got)
	}
}

// TestCostLaws: never negative, never less for more, a sum costs at most what its parts cost and hardly less, and a bound holds.
func TestCostLaws(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		amount := rapid.Uint64Range(0, dearest*million)
		p := price{amount.Draw(t, "input"), amount.Draw(t, "cached"), amount.Draw(t, "output")}
		tokens := rapid.Int64Range(0, 1e8)
		use := func(name string) Usage {
			in := tokens.Draw(t, name+" input")
			return Usage{Input: in, Cached: rapid.Int64Range(0, in).Draw(t, name+" cached"), Output: tokens.Draw(t, name+" output")}
		}
		a, b := use("a"), use("b")
		sum := Usage{a.Input + b.Input, a.Cached + b.Cached, a.Output + b.Output}
		ca, cb, cs := p.cost(a), p.cost(b), p.cost(sum)
		if ca < 0 || cb < 0 || cs < ca || cs < cb || cs > ca+cb || cs < ca+cb-1 {
			t.Fatalf("%v: %+v costs %d, %+v costs %d, both cost %d", p, a, ca, b, cb, cs)
		}
		more := Usage{a.Input, a.Cached, a.Output + tokens.Draw(t, "more")}
		if p.cost(more) < ca {
			t.Fatalf("more output costs less")
		}
		if most := p.most(Usage{Input: a.Input, Output: a.Output}); most < ca {
			t.Fatalf("the bound is %d, the cost %d", most, ca)
		}
	})
}

// TestCharge: what the endpoint says counts as long as it can be right; a priced question never costs nothing.
func TestCharge(t *testing.T) {
	t.Parallel()
	p := price{input: 1e6, cached: 1e5, output: 2e6}
	most := Usage{Input: 300, Output: 100} // at most 500
	for _, tt := range []struct {
		name  string
		reply Reply
		want  int64
		note  string
	}{
		{"reported", Reply{Text: "abc", Usage: Usage{Input: 100, Output: 10}}, 120, ""},
		{"cached", Reply{Text: "abc", Usage: Usage{Input: 100, Cached: 100, Output: 10}}, 30, ""},
		{"nothing", Reply{Text: "abc"}, 500, "no usage"},
		{"no output", Reply{Text: "abc", Usage: Usage{Input: 100}}, 500, "smaller"},
		{"no input", Reply{Text: "abc", Usage: Usage{Output: 100}}, 500, "smaller"},
		{"too little", Reply{Text: strings.Repeat("abc ", 1000), Usage: Usage{Input: 100, Output: 5}}, 500, "smaller"},
		{"no text", Reply{Usage: Usage{Input: 100}}, 100, ""},
		{"too much", Reply{Text: "abc", Usage: Usage{Input: 4000, Output: 10}}, 4020, "larger"},
		{"absurd", Reply{Text: "abc", Usage: Usage{Input: 6000, Output: 10}}, 500, "absurd"},
		{"absurd output", Reply{Text: "abc", Usage: Usage{Input: 100, Output: 9e18}}, 500, "absurd"},
	} {
		got, note := p.charge(tt.reply, most)
		if got != tt.want || !strings.Contains(note, tt.note) || (note == "") != (tt.note == "") {
			t.Errorf("%s: got %d (%s), want %d (%s)", tt.name, got, note, tt.want, tt.note)
		}
	}
}

// TestChargeOfLongQuestions: fewer tokens of input than its bytes must have taken cannot be right either.
func TestChargeOfLongQuestions(t *testing.T) {
	t.Parallel()
	p, most := price{input: 1e6, cached: 1e5, output: 2e6}, Usage{Input: 51200, Output: 100} // at most 51400
	for input, want := range map[int64]int64{1: 51400, 99: 51400, 100: 120, 20000: 20020} {
		if got, note := p.charge(Reply{Text: "abc", Usage: Usage{Input: input, Output: 10}}, most); got != want || (note != "") != (want == 51400) {
			t.Errorf("%d tokens: %d (%s), want %d", input, got, note, want)
		}
	}
}

// TestBound: every byte may be a token, and the marks of a template come on top.
func TestBound(t *testing.T) {
	t.Parallel()
	r := Request{Messages: []Message{{Role: System, Content: "ä"}, {Role: User, Content: "abc"}}}
	want := Usage{Input: 64 + 2*16 + 6 + 2 + 4 + 3, Output: 50}
	if diff := cmp.Diff(want, bound(r, 50)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	r.Schema = []byte(`{}`)
	if got := bound(r, 50).Input; got != want.Input+2+int64(len(schemaIntroduction)) {
		t.Errorf("with a schema: %d", got)
	}
}

// TestSecret: however a key is printed, it does not show.
func TestSecret(t *testing.T) {
	t.Parallel()
	s := secret{"sk-0123456789"}
	var log strings.Builder
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", s)
	b, err := json.Marshal(map[string]any{"key": s})
	if err != nil {
		t.Fatal(err)
	}
	for _, got := range []string{fmt.Sprint(s), fmt.Sprintf("%v %+v %#v %q %x %s", s, s, s, s, s, s), string(b), log.String(), s.GoString(), s.String()} {
		if strings.Contains(got, "0123") || !strings.Contains(got, redacted) {
			t.Errorf("printed as %s", got)
		}
	}
	for _, text := range []string{"none of your business", "EMPTY"} {
		if got := (secret{"EMPTY"}).hide(text); got != text {
			t.Errorf("a placeholder is taken for a key: %s", got)
		}
	}
}
