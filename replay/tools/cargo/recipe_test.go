package cargo

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/tooltest"
)

func scan(t testing.TB, tree tooltest.Tree) *project.Tree {
	t.Helper()
	p, err := project.Scan(t.Context(), tree)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// recipe is the recipe of the workspace that the paths are in.
func recipe(t testing.TB, tree tooltest.Tree, paths ...string) (replay.Recipe, error) {
	t.Helper()
	p := scan(t, tree)
	root, err := Tool{}.Find(p, paths)
	if err != nil {
		return replay.Recipe{}, err
	}
	return Tool{}.Recipe(p, root)
}

func mustRecipe(t testing.TB, tree tooltest.Tree, paths ...string) replay.Recipe {
	t.Helper()
	r, err := recipe(t, tree, paths...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// stubsOf are the files that Install lays out.
func stubsOf(t testing.TB, r replay.Recipe) map[string]string {
	t.Helper()
	for _, s := range r.Install {
		if s.Name == stepDependencies {
			var what stubbed
			if err := json.Unmarshal([]byte(strings.Join(s.Args[installArgs:], "")), &what); err != nil {
				t.Fatal(err)
			}
			return what.Files
		}
	}
	t.Fatal("nothing is installed")
	return nil
}

const one = "[package]\nname = \"one\"\nversion = \"1.2.3\"\n"

// TestSharing: states share an environment that ask for the same dependencies.
func TestSharing(t *testing.T) {
	t.Parallel()
	base := tooltest.Tree{"Cargo.toml": one + "[dependencies]\nx = \"1\"\n", "src/lib.rs": ""}
	locked := tooltest.Tree{"Cargo.toml": base["Cargo.toml"], "Cargo.lock": "version = 3\n", "src/lib.rs": ""}
	print := func(tree tooltest.Tree) string {
		r := mustRecipe(t, tree)
		s, err := project.Fingerprint(t.Context(), tree, r)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	with := func(tree tooltest.Tree, name, text string) tooltest.Tree {
		out := tooltest.Tree{name: text}
		for k, v := range tree {
			if k != name {
				out[k] = v
			}
		}
		return out
	}
	same := []tooltest.Tree{
		with(base, "Cargo.toml", strings.Replace(base["Cargo.toml"], "1.2.3", "1.2.4", 1)),
		with(base, "Cargo.toml", base["Cargo.toml"]+"[[test]]\nname = \"t\"\nharness = false\n[lints.rust]\nunsafe_code = \"deny\"\n"),
		with(base, "tests/new.rs", ""), with(base, "src/lib.rs", "fn x() {}"), with(base, "benches/b.rs", ""),
	}
	for i, tree := range same {
		if print(tree) != print(base) {
			t.Errorf("state %d has an environment of its own", i)
		}
	}
	other := []tooltest.Tree{
		locked, with(locked, "Cargo.lock", "version = 3 # other\n"), with(base, "Cargo.toml", base["Cargo.toml"]+"y = \"1\"\n"), with(base, "build.rs", ""),
		with(base, "rust-toolchain", "1.72.0"), with(base, "Cargo.toml", base["Cargo.toml"]+"[profile.dev]\nopt-level = 1\n"),
	}
	seen := map[string]int{print(base): -1}
	for i, tree := range other {
		if old, ok := seen[print(tree)]; ok {
			t.Errorf("state %d shares the environment of %d", i, old)
		}
		seen[print(tree)] = i
	}
	if print(with(locked, "Cargo.toml", strings.Replace(base["Cargo.toml"], "1.2.3", "1.2.4", 1))) == print(locked) {
		t.Error("a lock file and another version of its package share an environment: the lock file would not fit")
	}
}

// TestStub: the stub has a package's dependencies and features, and none of its targets.
func TestStub(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"Cargo.toml": `[workspace]
members = ["crates/*"]
exclude = ["crates/out"]
[workspace.package]
version = "3.0.0"
edition = "2021"
[workspace.dependencies]
lo = { path = "crates/lo", version = "3" }
[workspace.lints.rust]
x = "warn"
`,
		"crates/hi/Cargo.toml": `[package]
name = "hi"
version.workspace = true
edition.workspace = true
default-run = "hi"
description = "d"
[lints]
workspace = true
[lib]
name = "hi_lib"
proc-macro = true
path = "lib/x.rs"
[[bin]]
name = "hi"
[dependencies]
lo.workspace = true
"spaced" = { version = "1", features = ["a"] }
[target.'cfg(unix)'.dev-dependencies]
u = "1"
[features]
f = ["lo/g"]
`,
		"crates/hi/build.rs":    "panic",
		"crates/lo/Cargo.toml":  "[package]\nname = \"lo\"\nversion = \"3.0.0\"\n[features]\ng = []\n",
		"crates/out/Cargo.toml": "[package]\nname = \"out\"\n",
		"crates/hi/lib/x.rs":    "x",
	}
	files := stubsOf(t, mustRecipe(t, tree))
	want := map[string]string{
		"Cargo.toml": `[workspace]
  members = ["crates/hi", "crates/lo"]
  exclude = ["crates/out"]
  [workspace.dependencies]
    [workspace.dependencies.lo]
      path = "crates/lo"
  [workspace.package]
    edition = "2021"
    version = "0.0.0"
`,
		"crates/hi/Cargo.toml": `[dependencies]
  [dependencies.lo]
    workspace = true
  [dependencies.spaced]
    features = ["a"]
    version = "1"

[features]
  f = ["lo/g"]

[lib]
  name = "hi_lib"
  path = "src/lib.rs"
  proc-macro = true

[package]
  autobenches = false
  autobins = false
  autoexamples = false
  autotests = false
  build = "build.rs"
  name = "hi"
  version = "0.0.0"
  [package.edition]
    workspace = true

[target]
  [target."cfg(unix)"]
    [target."cfg(unix)".dev-dependencies]
      u = "1"
`,
		"crates/hi/src/lib.rs": "", "crates/hi/build.rs": "fn main() {}\n", "crates/lo/src/lib.rs": "",
	}
	delete(files, "crates/lo/Cargo.toml")
	clean := func(s string) string { return strings.Join(strings.Fields(s), " ") }
	for _, m := range []map[string]string{files, want} {
		for k, v := range m {
			if k != "crates/hi/build.rs" {
				m[k] = clean(v)
			}
		}
	}
	if strings.Index(files["Cargo.toml"], "exclude") < strings.Index(files["Cargo.toml"], "members") {
		want["Cargo.toml"] = strings.Replace(want["Cargo.toml"], `members = ["crates/hi", "crates/lo"] exclude = ["crates/out"]`, `exclude = ["crates/out"] members = ["crates/hi", "crates/lo"]`, 1)
	}
	if d := cmp.Diff(want, files); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{
		"Cargo.toml":   one + "[workspace]\nmembers = [\"m\"]\nexclude = [\"fuzz\"]\n[dependencies]\np = { path = \"p\" }\n",
		"m/Cargo.toml": "[package]\nname = \"m\"\n", "p/Cargo.toml": "[package]\nname = \"p\"\n", "fuzz/Cargo.toml": "[package]\nname = \"fuzz\"\n[dependencies]\none = { path = \"..\" }\n",
		"tests/data/Cargo.toml": "[package]\nname = \"data\"\n", "aside/Cargo.toml": "[package]\nname = \"aside\"\nworkspace = \"../fuzz\"\n",
		"fuzz/src/lib.rs": "#[cfg(test)]\nmod tests {}\n", "measure/Cargo.toml": "[package]\nname = \"measure\"\n", "measure/src/main.rs": "// test\nfn main() {}\n",
	}
	for paths, want := range map[string]string{
		"": "", "m/src/a.rs": "", "p/x.rs": "", "fuzz/src/a.rs": "fuzz", "tests/data/src/main.rs": "", "aside/x.rs": "fuzz", "m/a.rs fuzz/a.rs fuzz/b.rs": "fuzz",
		"m/a.rs fuzz/a.rs": "", "README.md": "", "measure/src/main.rs": "", "measure/a.rs measure/b.rs fuzz/a.rs": "fuzz",
	} {
		if got, err := (Tool{}).Find(scan(t, tree), strings.Fields(paths)); got != want || err != nil {
			t.Errorf("%q: %q, %v", paths, got, err)
		}
	}
	if got, err := (Tool{}).Find(scan(t, tooltest.Tree{"rust/Cargo.toml": one, "rust/sub/Cargo.toml": one, "x.py": ""}), nil); got != "rust" || err != nil {
		t.Errorf("the only package near the root: %q, %v", got, err)
	}
}

// TestTested: what counts as a test of Rust's.
func TestTested(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		"#[test]\nfn a() {}": true, "#[tokio::test(flavor = \"x\")]": true, "#[cfg(all(test, unix))]": true, "/// ```\n/// x\n/// ```\nfn x() {}": true,
		"proptest! { }": true, "#[cfg(feature = \"testing\")]": false, "// #[ test ]\nfn test() {}": false, "#[cfg_attr(x, y)] fn a() {}": false,
	} {
		got, err := tested(scan(t, tooltest.Tree{"a/src/lib.rs": text, "b/src/lib.rs": "#[test]", "a/notes.md": "#[test]"}), "a")
		if got != want || err != nil {
			t.Errorf("%q: %t, %v", text, got, err)
		}
	}
}

func TestNoRecipe(t *testing.T) {
	t.Parallel()
	for manifest, want := range map[string]string{
		"":                               "Rust without a manifest of cargo",
		"[package":                       "Cargo.toml cannot be read",
		"x = 1\n":                        "Cargo.toml names no package",
		"[workspace]\nmembers = [\"m\"]": "the workspace has no package",
		one + "[dependencies]\nx = { path = \"../x\" }\n":                         "x lies outside of the repository",
		one + "[dependencies]\nx = { path = \"x\" }\n":                            "x, which one needs, is not in the tree",
		one + "[dependencies]\nx = { git = \"file:///etc\" }\n":                   `x comes from "file:///etc"`,
		one + "[build-dependencies]\nx = { version = \"1\", registry = \"r\" }\n": "x comes from another registry",
		"[package]\nname = \"--config\"\n":                                        "Cargo.toml names no package",
	} {
		tree := tooltest.Tree{"src/lib.rs": "", "Cargo.toml": manifest}
		if manifest == "" {
			delete(tree, "Cargo.toml")
		}
		_, err := recipe(t, tree)
		var none project.ErrNoRecipe
		if !errors.As(err, &none) || !strings.Contains(none.Reason, want) {
			t.Errorf("%q: %v, want %q", manifest, err, want)
		}
	}
}

func TestToolchain(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, manifest, pin, lock string
		want                      string // channel, components, needed
	}{
		{"nothing said", one, "", "", ""},
		{"no lock file", one, "", "none", "stable [] false"},
		{"an old edition", one + "edition = \"2021\"\n", "", "version = 4\n", ""},
		{"newer than the image's", one + "rust-version = \"1.91\"\n", "", "", "1.91.0 [] true"},
		{"older than the image's", one + "rust-version = \"1.36\"\n", "", "", ""},
		{"a file of one word", one, "1.72\n", "", "1.72.0 [] false"},
		{"older than the registry's protocol", one, "1.60.0", "", ""},
		{"a nightly of that time", one, "nightly-2021-03-04", "", ""},
		{"a table", one, "[toolchain]\nchannel = \"nightly-2026-01-02\"\ncomponents = [\"rustc-dev\", \"rustfmt\", \"--x\"]\n", "", "nightly-2026-01-02 [rustc-dev] false"},
		{"components without end", one, "[toolchain]\nchannel = \"nightly-2026-01-02\"\ncomponents = [" + strings.Repeat("\"clippy\", ", 64) + "\"miri\"]\n", "", "nightly-2026-01-02 [] false"},
		{"stable", one + "rust-version = \"1.91\"\n", "stable", "", "1.91.0 [] true"},
		{"a path", one, "[toolchain]\npath = \"/opt/x\"\n", "", ""},
		{"hostile", one, "../../x", "", ""},
	} {
		tree := tooltest.Tree{"Cargo.toml": c.manifest, "rust-toolchain": c.pin, "Cargo.lock": c.lock}
		if c.lock == "none" {
			delete(tree, "Cargo.lock")
		}
		r := mustRecipe(t, tree)
		got := ""
		if r.Base != nil {
			var tc chosen
			if err := json.Unmarshal([]byte(r.Base.Install[0].Args[installArgs]), &tc); err != nil {
				t.Fatal(err)
			}
			text, _ := json.Marshal(tc.Components)
			got = tc.Channel + " " + strings.ReplaceAll(string(text), `"`, "") + map[bool]string{true: " true", false: " false"}[tc.Needed]
		}
		if got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestConfig: flags of the project count, but for those that are of one machine; another linker is not asked for.
func TestConfig(t *testing.T) {
	t.Parallel()
	tree := tooltest.Tree{"Cargo.toml": one, ".cargo/config.toml": `
[build]
rustflags = ["--cfg", "tokio_unstable", "-C", "target-cpu=native", "-Clink-arg=-fuse-ld=lld", "-Zshare-generics=y", "-Dwarnings"]
[target.x86_64-unknown-linux-gnu]
linker = "clang"
rustflags = ["-C", "link-arg=-fuse-ld=mold", "-Copt-level=1"]
[target.x86_64-pc-windows-msvc]
rustflags = ["--cfg", "windows_only"]
`}
	r := mustRecipe(t, tree)
	if want := "--cap-lints=warn --cfg tokio_unstable -Dwarnings -Copt-level=1"; r.Env["RUSTFLAGS"] != want {
		t.Errorf("flags are %q, want %q", r.Env["RUSTFLAGS"], want)
	}
	if r.Env["CARGO_TARGET_X86_64_UNKNOWN_LINUX_GNU_LINKER"] != "cc" {
		t.Error("the project's linker is asked for")
	}
	tree[".cargo/config.toml"] = "[source.crates-io]\nreplace-with = \"v\"\n[source.v]\ndirectory = \"vendor\"\n"
	if r := mustRecipe(t, tree); len(r.Install) > 0 || len(r.Notes) != 1 {
		t.Errorf("vendored sources are installed: %+v", r)
	}
}

// TestPieces: whatever the text, no argument is too long, no letter is cut, and nothing is lost.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		s := strings.Repeat(rapid.StringMatching(`[aé€😀]{1,9}`).Draw(t, "s"), rapid.IntRange(0, 60_000).Draw(t, "n"))
		list := pieces(s)
		for _, p := range list {
			if len(p) > maxArg || !strings.HasPrefix(p, strings.ToValidUTF8(p, "")) {
				t.Fatalf("a piece of %d bytes, or half a letter", len(p))
			}
		}
		if strings.Join(list, "") != s {
			t.Fatal("something is lost")
		}
	})
}

// TestWorkspaceIsReadOnce: however many of its packages are touched. That it cannot be read is kept too.
func TestWorkspaceIsReadOnce(t *testing.T) {
	t.Parallel()
	read := readers(scan(t, tooltest.Tree{
		"Cargo.toml":     "[workspace]\nmembers = [\"p/*\"]\n",
		"p/a/Cargo.toml": "[package]\nname = \"a\"\nversion = \"0.1.0\"\n",
	}))
	first, err := read("")
	again, _ := read("")
	if err != nil || first == nil || first != again {
		t.Errorf("%p and %p, %v", first, again, err)
	}
	_, none := read("p")
	_, same := read("p")
	if !errors.As(none, new(project.ErrNoRecipe)) || none != same {
		t.Errorf("%v and %v", none, same)
	}
}
