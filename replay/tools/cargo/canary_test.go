package cargo

import (
	"strings"
	"testing"

	"sluice/replay"
	"sluice/replay/tools/canary"
)

// TestCanaryText: ours is added where the file has tests of the test library; where names of ours may mean something else there is none.
func TestCanaryText(t *testing.T) {
	t.Parallel()
	const test = "#[test]\nfn a() {}\n"
	for _, tt := range []struct {
		file, text string
		scope      string // "" for none
	}{
		{"tests/a.rs", test, "/test/a::"},
		{"crates/x/tests/a-b/main.rs", "#[test]\n#[should_panic]\npub fn a() {}", "/test/a-b::"},
		{"tests/a.rs", "use pretty_assertions::assert_eq;\n" + test, "/test/a::"},
		{"tests/a/b.rs", test, ""},
		{"src/lib.rs", test, ""},
		{"tests/a.rs", "fn main() {}\n", ""},
		{"tests/a.rs", "mod m {\n    #[test]\n    fn a() {}\n}\n", ""},
		{"tests/a.rs", "#[tokio::test]\nasync fn a() {}\n", ""},
		{"tests/a.rs", "use tokio::test;\n\n#[test]\nasync fn a() {}\n", ""},
		{"tests/a.rs", "use {a::b, test_log::test};\n" + test, ""},
		{"tests/a.rs", "use other::equal as assert_eq;\n" + test, ""},
		{"tests/a.rs", "#![no_std]\n" + test, ""},
	} {
		got := Tool{}.Canaries(canary.Request{Word: "w0rd", Tests: []canary.Test{{Fails: true}}, Files: []replay.File{canary.Text(tt.file, tt.text)}})
		if tt.scope == "" || len(got) != 1 {
			if (tt.scope == "") != (len(got) == 0) {
				t.Errorf("%s %q: %+v", tt.file, tt.text, got)
			}
			continue
		}
		want := tt.text + "\n\n#[test]\nfn zzw0rd() {\n    let n: u32 = \"zzw0rd\".bytes().map(u32::from).sum();\n    assert_eq!(n, 626);\n}\n"
		if string(got[0].Data) != want || got[0].Ends[0] != tt.scope+"zzw0rd" || !got[0].Beside("x"+tt.scope+"a") || got[0].Beside("x::a") {
			t.Errorf("%s: %q %+v", tt.file, got[0].Data, got[0])
		}
	}
	if got := (Tool{}).Unloadable("shop/test/a", "w"); got.Path != "" {
		t.Errorf("what is no file cannot be loaded: %+v", got)
	}
}

func TestCanaryTarget(t *testing.T) {
	t.Parallel()
	files := []replay.File{canary.Text("tests/a.rs", "#[test]\nfn a() {}\n"), canary.Text("tests/b.rs", "#[test]\nfn b() {}\n")}
	var got []string
	for _, f := range (Tool{}).Canaries(canary.Request{Tests: []canary.Test{{}}, Files: files, Target: []string{"tests/b.rs"}, Max: 8}) {
		got = append(got, f.Path)
	}
	if strings.Join(got, " ") != "tests/b.rs" {
		t.Errorf("beside %v", got)
	}
}
