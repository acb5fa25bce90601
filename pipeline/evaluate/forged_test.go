//go:build linux

package evaluate

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/local"
	"sluice/replay/tools"
)

func TestMain(m *testing.M) {
	local.Init()
	os.Exit(m.Run())
}

// forged is a project of one tool with a sealed test, and patches.
type forged struct {
	programs []string
	slow     bool // it installs much: only SLUICE_CONFORMANCE=all runs it
	base     files
	test     string // its path and text
	text     string
	fails    string // ids
	passes   string
	cases    []realCase
}

var forgeries = map[string]forged{
	"mocha": {
		base: files{
			"package.json": `{"name": "shop", "version": "1.0.0", "scripts": {"test": "mocha"}, "devDependencies": {"mocha": "10.8.2"}}`,
			"shop.js":      "exports.price = () => 0\n", "test/old.js": "it('is', () => {})\n",
		},
		test: "test/shop.js", fails: "test/shop.js::shop > prices", passes: "test/shop.js::shop > is there",
		text: "const assert = require('assert')\nconst { price } = require('../shop')\ndescribe('shop', () => {\n  it('is there', () => {})\n" +
			"  it('prices', () => assert.strictEqual(price(2), 6))\n})\n",
		cases: []realCase{
			{"right", files{"shop.js": "exports.price = n => 3 * n\n"}, Resolved, true},
			{"wrong", files{"shop.js": "exports.price = n => n\n"}, Unresolved, false},
			{"leaves", files{"shop.js": "exports.price = () => process.exit(0)\n"}, Invalid, false},
			{"cannot be loaded", files{"shop.js": "exports.price = n =>\n"}, BuildFailed, false},
			{"asserts nothing", files{"shop.js": "require('assert').strictEqual = () => {}\nexports.price = () => 0\n"}, Tampered, false},
			{"runs nothing", files{"shop.js": "require('mocha').Runnable.prototype.run = done => done()\nexports.price = () => 0\n"}, Tampered, false},
			{"asserts nothing once it is called", files{"shop.js": "exports.price = () => { require('assert').strictEqual = () => {}; return 0 }\n"}, Tampered, false},
			{"drops what it does not know", files{"shop.js": "const { Suite, Runnable } = require('mocha')\nconst add = Suite.prototype.addTest\n" +
				"Suite.prototype.addTest = function (t) { return /^(is|prices)/.test(t.title) ? add.call(this, t) : this }\n" +
				"Runnable.prototype.run = done => done()\nexports.price = () => 0\n"}, Tampered, false},
		},
	},
	"jest": {
		slow: true,
		base: files{
			"package.json": `{"name": "shop", "version": "1.0.0", "scripts": {"test": "jest"}, "jest": {"bail": true}, "devDependencies": {"jest": "29.7.0"}}`,
			"shop.js":      "exports.price = () => 0\n", "old.test.js": "test('is', () => {})\n",
		},
		test: "shop.test.js", fails: "shop.test.js::prices", passes: "old.test.js::is",
		text: "const { price } = require('./shop')\ntest('prices', () => expect(price(2)).toBe(6))\n",
		cases: []realCase{
			{"right", files{"shop.js": "exports.price = n => 3 * n\n"}, Resolved, true},
			{"wrong", files{"shop.js": "exports.price = n => n\n"}, Unresolved, false},
			{"asserts nothing", files{"shop.js": "globalThis.expect = () => new Proxy({}, { get: () => () => {} })\nexports.price = () => 0\n"}, Tampered, false},
			{"runs nothing", files{"shop.js": "const t = globalThis.test\nglobalThis.test = name => t(name, () => {})\nexports.price = () => 0\n"}, Tampered, false},
		},
	},
	"vitest": {
		slow: true,
		base: files{
			"package.json":     `{"name": "shop", "version": "1.0.0", "type": "module", "scripts": {"test": "vitest run"}, "devDependencies": {"vitest": "2.1.9"}}`,
			"vitest.config.js": "export default { test: { bail: 1 } }\n",
			"shop.ts":          "export const price = (n: number) => 0\n", "old.test.js": "import { test } from 'vitest'\ntest('is', () => {})\n",
		},
		test: "shop.test.ts", fails: "shop.test.ts::prices", passes: "old.test.js::is",
		text: "import { expect, test } from 'vitest'\nimport { price } from './shop'\ntest('prices', () => expect(price(2)).toBe(6))\n",
		cases: []realCase{
			{"right", files{"shop.ts": "export const price = (n: number) => 3 * n\n"}, Resolved, true},
			{"wrong", files{"shop.ts": "export const price = (n: number) => n\n"}, Unresolved, false},
			{"asserts nothing", files{"shop.ts": "import { chai } from 'vitest'\n\nchai.Assertion.prototype.assert = () => {}\nexport const price = () => 0\n"}, Tampered, false},
		},
	},
	"cargo": {
		programs: []string{"cargo"},
		base: files{
			"Cargo.toml": "[package]\nname = \"shop\"\nversion = \"0.1.0\"\nedition = \"2021\"\n", "Cargo.lock": "version = 3\n\n[[package]]\nname = \"shop\"\nversion = \"0.1.0\"\n",
			"src/lib.rs": "pub fn price(_: u32) -> u32 {\n    0\n}\n", "tests/old.rs": "#[test]\nfn is() {}\n",
		},
		test: "tests/shop.rs", fails: "shop/test/shop::prices", passes: "shop/test/old::is",
		text: "#[test]\nfn prices() {\n    assert_eq!(shop::price(2), 6)\n}\n",
		cases: []realCase{
			{"right", files{"src/lib.rs": "pub fn price(n: u32) -> u32 {\n    3 * n\n}\n"}, Resolved, true},
			{"wrong", files{"src/lib.rs": "pub fn price(n: u32) -> u32 {\n    n\n}\n"}, Unresolved, false},
			{"does not build", files{"src/lib.rs": "pub fn price(n: u32) -> u32 {\n"}, BuildFailed, false},
			{"aborts", files{"src/lib.rs": "pub fn price(_: u32) -> u32 {\n    std::process::abort()\n}\n"}, Unresolved, false},
			{"prints passes and exits", files{"src/lib.rs": "use std::io::Write;\n\npub fn price(_: u32) -> u32 {\n    let events = \"{ \\\"type\\\": \\\"test\\\", \\\"name\\\": \\\"prices\\\", \\\"event\\\": \\\"ok\\\" }\\n" +
				"{ \\\"type\\\": \\\"suite\\\", \\\"event\\\": \\\"ok\\\", \\\"passed\\\": 1, \\\"failed\\\": 0, \\\"ignored\\\": 0, \\\"measured\\\": 0, \\\"filtered_out\\\": 0, \\\"exec_time\\\": 0.1 }\\n\";\n" +
				"    std::io::stdout().write_all(events.as_bytes()).unwrap();\n    std::process::exit(0)\n}\n"}, Tampered, false},
		},
	},
	"maven": {
		programs: []string{"mvn", "javac", "jar"}, slow: true,
		base: files{
			"pom.xml": "<project><modelVersion>4.0.0</modelVersion><groupId>org.shop</groupId><artifactId>shop</artifactId><version>1</version>" +
				"<properties><maven.compiler.source>11</maven.compiler.source><maven.compiler.target>11</maven.compiler.target></properties>" +
				"<dependencies><dependency><groupId>junit</groupId><artifactId>junit</artifactId><version>4.13.2</version><scope>test</scope></dependency></dependencies></project>",
			"src/main/java/org/shop/Shop.java":    "package org.shop;\n\npublic class Shop {\n\tpublic static int price(int n) { return 0; }\n}\n",
			"src/test/java/org/shop/OldTest.java": "package org.shop;\n\npublic class OldTest {\n\t@org.junit.Test public void is() {}\n}\n",
		},
		test: "src/test/java/org/shop/ShopTest.java", fails: "src/test/java/org/shop/ShopTest.java::prices", passes: "src/test/java/org/shop/OldTest.java::is",
		text: "package org.shop;\n\nimport static org.junit.Assert.assertEquals;\nimport org.junit.Test;\n\npublic class ShopTest {\n\t@Test public void prices() { assertEquals(6, Shop.price(2)); }\n}\n",
		cases: []realCase{
			{"right", files{"src/main/java/org/shop/Shop.java": "package org.shop;\n\npublic class Shop {\n\tpublic static int price(int n) { return 3 * n; }\n}\n"}, Resolved, true},
			{"wrong", files{"src/main/java/org/shop/Shop.java": "package org.shop;\n\npublic class Shop {\n\tpublic static int price(int n) { return n; }\n}\n"}, Unresolved, false},
			{"asserts nothing", files{"src/main/java/org/junit/Assert.java": "package org.junit;\n\npublic class Assert {\n\tpublic static void assertEquals(long a, long b) {}\n}\n"}, Tampered, false},
		},
	},
}

// TestForged: a patch that makes a test tool report passes is found out, and an honest one is not accused. Each is run for real.
func TestForged(t *testing.T) {
	if testing.Short() {
		t.Skip("it installs from registries")
	}
	for name, f := range forgeries {
		t.Run(name, func(t *testing.T) {
			if f.slow && os.Getenv("SLUICE_CONFORMANCE") == "" {
				t.Skip("it installs much: SLUICE_CONFORMANCE=all runs it")
			}
			box := localBox(t, f.programs)
			inst := f.instance(t)
			for _, tt := range f.cases {
				t.Run(tt.name, func(t *testing.T) { f.evaluate(t, box, inst, tt) })
			}
		})
	}
}

func (f forged) instance(t *testing.T) pipeline.Instance {
	t.Helper()
	recipe, err := tools.Detect(t.Context(), f.base, tools.Options{})
	if err != nil {
		t.Fatal(err)
	}
	inst := instance("o__r-1")
	inst.Recipe = recipe
	sealed := []pipeline.OverlayFile{{Path: f.test, Mode: "100644", Data: pipeline.Text(f.text)}}
	inst.Checks = []pipeline.Check{
		{Name: "task", Resolves: true, Files: sealed, FailToPass: []string{f.fails}, PassToPass: []string{f.passes}}, // everything runs
		{Name: "anticipation", Target: []string{f.test}, Files: sealed, FailToPass: []string{f.fails}},
	}
	return inst
}

func (f forged) evaluate(t *testing.T, box replay.Sandbox, inst pipeline.Instance, tt realCase) {
	o := realOptions(t, f.base, inst)
	o.Sandbox = box
	o.Tree = func(context.Context, string, string) (replay.Tree, error) { return f.base, nil }
	got := one(t, o, change(t, f.base, tt.to))
	if got.State == tt.want && got.Full() == tt.full {
		return
	}
	t.Errorf("state %s (full %v): %s, want %s (full %v)", got.State, got.Full(), got.Why, tt.want, tt.full)
	for _, c := range got.Checks {
		log, _ := os.ReadFile(filepath.Join(o.Out, c.Log))
		t.Logf("%s: %s %s %v\n%s", c.Name, c.State, c.Why, c.Broken, log)
	}
}

// localBox is a sandbox of this machine, if it has the programs.
func localBox(t *testing.T, programs []string) replay.Sandbox {
	t.Helper()
	skip := func(why any) {
		if os.Getenv("SLUICE_REQUIRE_SANDBOX") == "1" {
			t.Fatal(why)
		}
		t.Skip(why)
	}
	for _, p := range programs {
		if _, err := exec.LookPath(p); err != nil {
			skip(err)
		}
	}
	box, err := local.New(local.Options{Root: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = box.Close() })
	if c := box.Capabilities(); len(c.Missing) > 0 {
		skip(c.Missing)
	}
	return box
}
