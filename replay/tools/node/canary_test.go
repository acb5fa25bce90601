package node

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/canary"
)

// TestCanaryText: how a file makes its tests, and what it asserts, is how ours does; what says nothing of it, or has some tests run, gets none.
func TestCanaryText(t *testing.T) {
	t.Parallel()
	const sum = "var n = 0, sum = 626; 'zzw0rd'.split('').forEach(function (c) { n += c.charCodeAt(0) });"
	const throws = " if (n !== sum) throw new Error('this test must fail')"
	plain := func(f string) string {
		return "typeof " + f + " === 'function' && " + f + "('zzw0rd', function () { " + sum + throws + " })"
	}
	tests := []struct {
		name, tool, file, text string
		want                   string // what is added besides its frame; "" for none
		listed                 bool
	}{
		{"Jest's globals", "jest", "a.test.js", "test('x', () => {})\n", plain("test"), true},
		{"without a line's end", "jest", "a.test.js", "it('x', () => {}) // end", plain("it"), true},
		{"CommonJS", "nodetest", "test/a.cjs", "const { test } = require('node:test')\n  test('x', () => {})\n", plain("test"), true},
		{"ES module", "nodetest", "a.test.mjs", "import test from 'node:test'\ntest.skip('x', () => {})\n", plain("test"), true},
		{"TypeScript", "vitest", "a.test.ts", "import { it } from 'vitest'\nit('x', () => {})\n", plain("it"), true},
		{"in a block", "mocha", "test/a.js", "describe('x', () => {\n  it('y', () => {})\n})\n", "typeof describe === 'function' && describe('zzw0rd', function () { " + plain("it") + " })", true},
		{"TDD", "mocha", "test/a.js", "suite('x', () => {\n  test('y', () => {})\n})\n", "typeof suite === 'function' && suite('zzw0rd', function () { " + plain("test") + " })", true},
		{"a name of its own", "mocha", "test/a.js", "const test = (f) => it('x', f)\ntest('y', () => {})\n", plain("test"), false},
		{"may leave early", "mocha", "test/a.js", "if (process.platform === 'win32') return\nit('y', () => {})\n", plain("it"), false},
		{"only some", "jest", "a.test.js", "test.only('x', () => {})\ntest('y', () => {})\n", "", false},
		{"focused", "jest", "a.test.js", "fit('x', () => {})\nit('y', () => {})\n", "", false},
		{"no tests", "jest", "a.test.js", "require('./more')\n", "", false},
		{"types", "vitest", "a.test-d.ts", "test('x', () => {})\n", "", false},
		{"a list of words", "mocha", "test/a.txt", "it('x')\n", "", false},
	}
	for _, tt := range tests {
		q := canary.Request{
			Recipe: replay.Recipe{Runner: tt.tool}, Word: "w0rd", Tests: []canary.Test{{Fails: true}},
			Files: []replay.File{{Path: tt.file, Mode: 0o755, Data: []byte(tt.text)}},
		}
		got := Package{}.Canaries(q)
		if tt.want == "" || len(got) != 1 {
			if (tt.want == "") != (len(got) == 0) {
				t.Errorf("%s: %+v", tt.name, got)
			}
			continue
		}
		want := tt.text + "\n// @ts-ignore\n;" + tt.want + ";\n"
		if d := cmp.Diff(want, string(got[0].Data)); d != "" || got[0].Listed != tt.listed || got[0].Path != tt.file || got[0].Mode != 0o755 {
			t.Errorf("%s: listed %v (-want +got):\n%s", tt.name, got[0].Listed, d)
		}
	}
}

func TestScopeAsserts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ tool, text, want string }{
		{"jest", "test('x', () => expect(1).toBe(1))", "expect(n).toBe(sum)"},
		{"vitest", "import { expect, test } from 'vitest'\ntest('x', () => { expect(1).toBe(1); expect({}).toEqual({}) })", "expect(n).toBe(sum) expect(n).toEqual(sum)"},
		{"mocha", "const { expect } = require('chai')\nit('x', () => expect(1).to.equal(1))", "expect(n).to.equal(sum)"},
		{"mocha", "const chai = require('chai')\nconst expect = chai.expect\nit('x', () => expect([]).to.deep.equal([]))", "expect(n).to.deep.equal(sum)"},
		{"mocha", "const expect = require('unexpected')\nit('x', () => expect(1).to.equal(1))", ""},
		{"mocha", "it('x', () => expect(1).toBe(1))", ""},
		{"nodetest", "import assert from 'node:assert/strict'\nassert.ok(1)\nassert.equal(1, 1)", "assert.equal(n, sum) assert.ok(n === sum)"},
		{"nodetest", "import assert from './assert.js'\nassert.equal(1, 1)", ""},
		{"mocha", "var assert = require(\"assert\");\nassert.strictEqual(1, 1)", "assert.strictEqual(n, sum)"},
	} {
		if got := strings.Join(ScopeAsserts(tt.tool, tt.text), " "); got != tt.want {
			t.Errorf("%s %q: %q, want %q", tt.tool, tt.text, got, tt.want)
		}
	}
}

// TestCanaryPlaces: with a bound those of the target come first.
func TestCanaryPlaces(t *testing.T) {
	t.Parallel()
	file := func(name string) replay.File { return canary.Text(name, "test('x', () => {})\n") }
	files := []replay.File{file("a.test.js"), file("b/b.test.js"), file("c.test.js")}
	for _, tt := range []struct {
		max    int
		target []string
		want   string
	}{
		{0, []string{"c.test.js"}, "a.test.js b/b.test.js c.test.js"}, {2, nil, "a.test.js b/b.test.js"}, {2, []string{"c.test.js"}, "c.test.js"}, {2, []string{"b/"}, "b/b.test.js"},
		{1, []string{"README"}, "a.test.js"},
	} {
		var got []string
		for _, f := range (Package{}).Canaries(canary.Request{Recipe: replay.Recipe{Runner: "jest"}, Tests: []canary.Test{{}}, Files: files, Target: tt.target, Max: tt.max}) {
			got = append(got, f.Path)
		}
		if strings.Join(got, " ") != tt.want {
			t.Errorf("%+v: %v", tt, got)
		}
	}
}
