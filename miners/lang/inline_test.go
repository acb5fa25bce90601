package lang

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const inlineSource = `use std::fmt;

/// Adds.
pub fn add(a: i32) -> i32 { a }

#[cfg(test)]
use other::helper;

fn after() { "#[test] fn no() {}"; }
/* #[test] fn no() {} */
#[cfg(not(test))]
fn never() {}

#[cfg(all(test, feature = "x"))]
mod tests {
    use super::*;
    fn help() {}
    #[test]
    // why
    #[should_panic]
    fn one() {
        help();
    }
    mod deep {
        #[tokio::test(flavor = "x")]
        async fn ünï() {}
    }
    #[rstest]
    #[case(1)]
    fn cases(#[case] n: u8) {}
}

#[test]
fn outside() {}
`

func TestInlineTests(t *testing.T) {
	t.Parallel()
	got, ok := InlineTests("src/a.rs", []byte(inlineSource))
	want := Inline{
		Code: []Span{{6, 7}, {14, 31}, {33, 34}},
		Tests: []InlineTest{
			{"tests::one", Span{18, 23}}, {"tests::deep::ünï", Span{25, 26}}, {"tests::cases", Span{28, 30}}, {"outside", Span{33, 34}},
		},
	}
	if d := cmp.Diff(want, got); d != "" || !ok {
		t.Errorf("%v (-want +got):\n%s", ok, d)
	}
	whole, _ := InlineTests("src/tests.rs", []byte("#![cfg(test)]\nfn help() {}\n"))
	if d := cmp.Diff([]Span{{1, 3}}, whole.Code); d != "" {
		t.Errorf("a file for tests only (-want +got):\n%s", d)
	}
	for _, name := range []string{"a.go", "a.py", "a.txt"} {
		if _, ok := InlineTests(name, []byte(inlineSource)); ok {
			t.Errorf("%s holds tests of Rust", name)
		}
	}
}

func FuzzInlineTests(f *testing.F) {
	f.Add([]byte(inlineSource))
	f.Add([]byte("#[test]\nfn\n#[cfg(test)] mod x { #[test] fn y( {"))
	f.Add([]byte("#![cfg(test)]\xff"))
	f.Fuzz(func(t *testing.T, src []byte) {
		in, ok := InlineTests("x.rs", src)
		if !ok {
			return
		}
		lines := len(slices.Collect(strings.Lines(string(src)))) + 1
		last := 0
		for _, s := range in.Code {
			if s.First <= last || s.Last < s.First || s.Last > lines {
				t.Errorf("lines %v of %d", in.Code, lines)
			}
			last = s.Last
		}
		for _, x := range in.Tests {
			if !overlaps(in.Code, x.Span.First, x.Span.Last) || x.Span.Last > lines {
				t.Errorf("the test %+v is no test code, or not in %d lines", x, lines)
			}
		}
	})
}
