package lang

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestClassify(t *testing.T) {
	t.Parallel()
	for want, paths := range map[Kind]string{
		Source: `src/latest/foo.py lib/contest/a.go pkg/attestation/x.go src/utils/e2estimate.py main.go src/cache/lru.go dist/run.py
			internal/env/env.go packages/svelte/src/internal/client/effects.js src/react.js app.config.ts spec/types.go
			module_spec.py foo_spec.go crypto/KeySpec.java Latest.java SUBMIT.java src/docs/build.go api/v1/x.proto db/schema.sql
			web/index.html App.vue README/main.go history.js cmd/testify/main.go src/testing/x.go x.d.ts lib.rs portage/a.ebuild
			scripts/install.sh contest.py attest.go protest.rb fastest.rs Contest.java`,
		Test: `spec/foo_spec.rb Tests/FooTests.swift conftest.py tests/data/x.bin __tests__/a.js a_test.go test_x.py x_test.py
			pkg/testdata/go.mod tests/fixtures/package.json testdata/vendor/x.go testdata/a.pb.go docs/test_conf.py src/a.test.ts
			b.spec.tsx src/test/java/Foo.java src/integrationTest/java/Foo.java FooTest.java TestFoo.java FooIT.java FooTests.cs
			MyApp.Tests/Helper.cs MyAppUITests/Helper.swift t/basic.t a.phpt lib/x_spec.lua spec/support/a.rb spec/models/x.js
			internal/testutil/git.go internal/test-helpers/a.py test-utils.ts testhelpers.go src/tests.rs curl/tests/data/test1
			unit_tests/a.c foo_unittest.cc test-foo.c __snapshots__/a.snap e2e/login.ts integration-tests/a.sh tests/README.md
			.github/scripts/check_test.py FooSpec.scala test/fixtures/a.min.js x.bats TEST/a.C`,
		Docs: `docs/testing.md README.md README LICENSE CHANGELOG docs/conf.py docs/img/a.png src/docs/a.png examples/a/main.go
			doc/api.html man/x.1 notes.txt a.rst src/README.md changelog.d/12.bugfix docs/requirements.txt paper.tex`,
		Generated: `api/v1/x.pb.go x_pb2.py zz_generated.deepcopy.go src/__generated__/a.ts generated/a.py a.js.map`,
		Vendored: `vendor/a/b.go vendor/a/b_test.go web/node_modules/x/index.js third_party/x.c static/jquery.min.js Godeps/x.go
			gradlew vendor/x/testdata/a`,
		Config: `go.mod go.sum package.json yarn.lock Cargo.lock pyproject.toml requirements.txt requirements-dev.txt
			requirements/base.txt setup.py Makefile CMakeLists.txt Dockerfile .github/workflows/test.yml .gitignore .eslintrc.js
			vite.config.ts meson.build src/meson.build x.yaml data.json BUILD.bazel a.gemspec Gemfile main.tf poetry.lock`,
		Other: `logo.png a.bin data icon.svg`,
	} {
		for p := range strings.FieldsSeq(paths) {
			if got := Classify(p); got != want {
				t.Errorf("Classify(%q) = %s, want %s", p, got, want)
			}
		}
	}
}

func TestDependency(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]bool{
		"go.mod": true, "web/package.json": true, "dev-requirements.txt": true, "tests/requirements.txt": true, "x.lock": true,
		"clock": false, "main.go": false, "requirements.go": false, "Makefile": false, "notes.txt": false,
	} {
		if got := Dependency(p); got != want {
			t.Errorf("Dependency(%q) = %v, want %v", p, got, want)
		}
	}
}

func TestLanguage(t *testing.T) {
	t.Parallel()
	for p, want := range map[string]string{
		"a/b.go": "Go", "x.rs": "Rust", "x.md": "Markdown", "x.tsx": "TSX", "X.H": "C", "x.cc": "C++", "m.m": "Objective-C",
		"Makefile": "Makefile", "x.unknown": "", "": "", "x.pyi": "Python", "a.b.py": "Python", "foo.test.js": "JavaScript",
	} {
		if got := Language(p); got != want {
			t.Errorf("Language(%q) = %q, want %q", p, got, want)
		}
	}
}

// A folder that only contains a word that means tests changes nothing: rules look at whole components.
func TestClassifyLooksAtComponents(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		word := rapid.SampledFrom([]string{"test", "tests", "spec", "docs", "vendor", "fixtures", "e2e", "generated"}).Draw(t, "word")
		pre := rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "pre")
		post := rapid.StringMatching(`[a-z]{1,4}`).Draw(t, "post")
		if p := pre + word + post + "/a.go"; Classify(p) != Source && !testDirs[pre+word+post] {
			t.Fatalf("Classify(%q) = %s", p, Classify(p))
		}
	})
}

func FuzzClassify(f *testing.F) {
	for _, s := range []string{"", "/", "a//b", "../x.py", "\xff/\x00.go", ".", "tests/", "日本.md", strings.Repeat("a/", 300)} {
		f.Add(s)
	}
	known := map[Kind]bool{Source: true, Test: true, Docs: true, Generated: true, Vendored: true, Config: true, Other: true}
	f.Fuzz(func(t *testing.T, p string) {
		if k := Classify(p); !known[k] {
			t.Errorf("Classify(%q) = %q", p, k)
		}
		if Classify("vendor/x/"+p) != Vendored && !strings.Contains(p, "..") {
			t.Errorf("vendor/%q is not vendored", p)
		}
	})
}
