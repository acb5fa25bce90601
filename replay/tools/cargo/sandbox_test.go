package cargo_test

import (
	"maps"
	"testing"

	"sluice/replay"
	"sluice/replay/tools"
	"sluice/replay/tools/cargo"
	"sluice/replay/tools/tooltest"
)

// lock keeps the compiler the image's, and the registry's package what it is.
const lock = `version = 3

[[package]]
name = "app"
version = "0.1.0"
dependencies = ["cfg-if 0.1.0", "cfg-if 1.0.0"]

[[package]]
name = "cfg-if"
version = "0.1.0"
dependencies = ["mac"]

[[package]]
name = "cfg-if"
version = "1.0.0"
source = "registry+https://github.com/rust-lang/crates.io-index"
checksum = "baf1de4339761588bc0619e3cbc0120ee582ebb74b53b4efbf79117bd2da40fd"

[[package]]
name = "mac"
version = "0.1.0"
`

// workspaceTree is a workspace whose members use a package of the registry, each other, a macro and a build script. None of that is in
// the environment but the registry's package, although a member has its name.
func workspaceTree(answer string) tooltest.Tree {
	return tooltest.Tree{
		"Cargo.lock": lock,
		"Cargo.toml": "[workspace]\nmembers = [\"app\", \"lib\", \"mac\"]\nresolver = \"2\"\n",
		"app/Cargo.toml": "[package]\nname = \"app\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[dependencies]\nlib = { path = \"../lib\", package = \"cfg-if\" }\n" +
			"[dev-dependencies]\nreleased = { package = \"cfg-if\", version = \"=1.0.0\" }\n[[test]]\nname = \"plain\"\nharness = false\n",
		"app/build.rs":       `fn main() { println!("cargo:rustc-env=MADE=` + answer + `") }`,
		"app/src/main.rs":    `fn main() { println!("{}", lib::answer()) }`,
		"app/tests/plain.rs": "fn main() {}",
		"app/tests/uses.rs": `released::cfg_if! { if #[cfg(unix)] { const WANT: &str = "1\n"; } }
			#[test] fn program() { assert_eq!(std::process::Command::new(env!("CARGO_BIN_EXE_app")).output().unwrap().stdout, WANT.as_bytes()) }
			#[test] fn script() { assert_eq!(env!("MADE"), "1") }`,
		"lib/Cargo.toml": "[package]\nname = \"cfg-if\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nname = \"lib\"\n[dependencies]\nmac = { path = \"../mac\" }\n",
		"lib/src/lib.rs": "/// ```\n/// assert_eq!(lib::answer(), 1);\n/// ```\npub fn answer() -> u8 { mac::answer!() }\n" +
			"#[cfg(test)]\nmod tests { #[test] fn macros() { assert_eq!(super::answer(), 1) } }\n",
		"mac/Cargo.toml": "[package]\nname = \"mac\"\nversion = \"0.1.0\"\nedition = \"2021\"\n[lib]\nproc-macro = true\n",
		"mac/src/lib.rs": "use proc_macro::TokenStream;\n#[proc_macro] pub fn answer(_: TokenStream) -> TokenStream { \"" + answer + "\".parse().unwrap() }\n",
	}
}

// TestWorkspace: states that differ in sources only share an environment, and nothing of one is in the other. Of the second one only a
// target is compiled, with what it needs.
func TestWorkspace(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from the registry, and compiles")
	}
	b := tooltest.Docker(t, cargo.Image)
	for _, c := range []struct {
		answer string
		target replay.Target
		want   string
	}{
		{"1", replay.Target{}, `
			app/test/plain::(main) pass
			app/test/uses::program pass
			app/test/uses::script pass
			cfg-if/doc::lib/src/lib.rs - answer pass
			cfg-if::tests::macros pass
			`},
		{"2", replay.Target{Paths: []string{"app/tests/uses.rs"}}, `
			app/test/uses::program fail assertion
			app/test/uses::script fail assertion
			`},
	} {
		tree := workspaceTree(c.answer)
		r, err := tools.Detect(t.Context(), tree, tools.Options{Paths: []string{"lib/src/lib.rs"}})
		if err != nil {
			t.Fatal(err)
		}
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Diff(t, b.Report(t, run, r, tree, c.target), tooltest.View{Phases: "ok ok ok", Tests: c.want})
	}
	if len(b.Made) != 1 {
		t.Errorf("states that differ in sources only have %d environments", len(b.Made))
	}
}

// apart is a crate whose tests count in one place: of those that share a process, only the first finds nothing there.
func apart(more tooltest.Tree) tooltest.Tree {
	tree := tooltest.Tree{
		"Cargo.lock": "version = 3\n\n[[package]]\nname = \"one\"\nversion = \"0.1.0\"\n",
		"Cargo.toml": "[package]\nname = \"one\"\nversion = \"0.1.0\"\nedition = \"2021\"\n",
		"src/lib.rs": `#[cfg(test)] mod tests {
			use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
			static N: AtomicUsize = AtomicUsize::new(0);
			#[test] fn a() { assert_eq!(N.fetch_add(1, SeqCst), 0) }
			#[test] fn b() { assert_eq!(N.fetch_add(1, SeqCst), 0) }
			#[test] #[ignore] fn c() { panic!() }
			#[test] fn d() { if std::env::var("NEXTEST").is_ok() { std::process::abort() } }
		}`,
	}
	maps.Copy(tree, more)
	return tree
}

// TestProcessForEachTest: a project with settings for nextest has a process for each of its tests, and one that crashes ends no other.
func TestProcessForEachTest(t *testing.T) {
	if testing.Short() {
		t.Skip("it compiles")
	}
	b := tooltest.Docker(t, cargo.Image)
	for _, c := range []struct {
		tree tooltest.Tree
		want string
	}{
		{apart(nil), "one::tests::a pass\none::tests::b fail assertion\none::tests::c skip\none::tests::d pass\n"},
		{apart(tooltest.Tree{".config/nextest.toml": "[profile.default]\nretries = 2\n"}),
			"one::tests::a pass\none::tests::b pass\none::tests::c skip\none::tests::d error crash\n"},
	} {
		r, err := tools.Detect(t.Context(), c.tree, tools.Options{Paths: []string{"src/lib.rs"}})
		if err != nil {
			t.Fatal(err)
		}
		r.Env["RUST_TEST_THREADS"] = "1" // or either of the two may be the first
		run, err := tools.For(r.Runner)
		if err != nil {
			t.Fatal(err)
		}
		tooltest.Diff(t, b.Report(t, run, r, c.tree, replay.Target{}), tooltest.View{Phases: "ok ok ok", Tests: c.want})
	}
}
