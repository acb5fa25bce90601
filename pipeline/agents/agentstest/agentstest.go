// Package agentstest is what tests of agents share: a scripted model, a memo, sandboxes without a network, and a test tool so small
// that it needs none. It is imported by tests only.
package agentstest

import (
	"archive/zip"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"sync"
	"testing"

	"sluice/judges/model"
	"sluice/pipeline"
	"sluice/replay"
	"sluice/replay/docker"
	"sluice/replay/local"
)

// TinyPytest is a test tool as small as it can be that speaks pytest's command line and report. The real one needs a network.
const TinyPytest = `import html, importlib.util, os, sys, traceback
args = sys.argv[1:]
out = [a.split("=", 1)[1] for a in args if a.startswith("--junitxml=")][0]
paths, skip = [], False
for a in args:
    if skip: skip = False
    elif a in ("-p", "-o"): skip = True
    elif not a.startswith("-"): paths.append(a)
if not paths: paths = ["tests/" + f for f in sorted(os.listdir("tests")) if f.startswith("test_")]
sys.path.insert(0, os.getcwd())
cases, bad, failed, passed = [], 0, 0, 0
for p in paths:
    name = p[:-3].replace("/", ".")
    try:
        spec = importlib.util.spec_from_file_location(name, p); mod = importlib.util.module_from_spec(spec); spec.loader.exec_module(mod)
    except Exception as e:
        bad += 1
        cases.append('<testcase classname="" name="%s" time="0"><error message="collection failure">%s</error></testcase>' % (name, html.escape(repr(e))))
        continue
    for k in sorted(vars(mod)):
        if not k.startswith("test_"): continue
        try:
            getattr(mod, k)(); passed += 1; body = ""
        except AssertionError:
            failed += 1; body = '<failure message="AssertionError">x</failure>'
        cases.append('<testcase classname="%s" name="%s" file="%s" line="1" time="0">%s</testcase>' % (name, k, p, body))
os.makedirs(os.path.dirname(out), exist_ok=True)
open(out, "w").write('<?xml version="1.0"?><testsuites><testsuite name="pytest" tests="%d" failures="%d" errors="%d">%s</testsuite></testsuites>' % (len(cases), failed, bad, "".join(cases)))
words = [w for n, w in ((failed, "%d failed" % failed), (passed, "%d passed" % passed), (bad, "%d error" % bad)) if n]
print("=== " + (", ".join(words) or "no tests ran") + " in 0.01s ===")
sys.exit(1 if failed or bad else 0 if passed else 5)
`

// Wheel is a package that pip installs without building it.
func Wheel(t testing.TB, name, version, module string) replay.File {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	info := fmt.Sprintf("%s-%s.dist-info/", name, version)
	for _, f := range [][2]string{
		{name + ".py", module},
		{info + "METADATA", "Metadata-Version: 2.1\nName: " + name + "\nVersion: " + version + "\n"},
		{info + "WHEEL", "Wheel-Version: 1.0\nGenerator: t\nRoot-Is-Purelib: true\nTag: py3-none-any\n"},
		{info + "RECORD", name + ".py,,\n" + info + "METADATA,,\n" + info + "WHEEL,,\n" + info + "RECORD,,\n"},
	} {
		w, err := z.Create(f[0])
		if err == nil {
			_, err = w.Write([]byte(f[1]))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return replay.File{Path: fmt.Sprintf("wheelhouse/%s-%s-py3-none-any.whl", name, version), Mode: 0o644, Data: b.Bytes()}
}

// Memo is a Once that lives in memory.
type Memo struct {
	mu   sync.Mutex
	Kept map[string][]byte
	Ran  map[string]int // by kind
}

// Once implements agents.Once.
func (m *Memo) Once(ctx context.Context, w pipeline.Work, f func(context.Context) ([]byte, error)) ([]byte, error) {
	key := fmt.Sprintf("%s %v", w.Kind, w.Inputs)
	m.mu.Lock()
	b, ok := m.Kept[key]
	m.mu.Unlock()
	if ok {
		return b, nil
	}
	b, err := f(ctx)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err == nil {
		m.Kept[key] = b
		m.Ran[w.Kind]++
	}
	return b, err
}

// NewMemo returns an empty one.
func NewMemo() *Memo { return &Memo{Kept: map[string][]byte{}, Ran: map[string]int{}} }

// Script is a model that says its lines in order; {SLOT} stands for the first line of a slot. Answers are kept.
type Script struct {
	Lines []string
	Asked int // questions that had no kept answer
	Heard []model.Request
	kept  map[string]string
}

// Ask implements model.Asker.
func (s *Script) Ask(_ context.Context, r model.Request, _ model.Charge) (model.Answer, error) {
	key, err := r.Key(model.Parameters{ID: r.Model})
	if err != nil {
		return model.Answer{}, err
	}
	s.Heard = append(s.Heard, r)
	if text, ok := s.kept[key]; ok {
		return model.Answer{Reply: model.Reply{Text: text}, Key: key, Cached: true}, nil
	}
	text := s.Lines[min(s.Asked, len(s.Lines)-1)]
	for _, slot := range []string{"acceptance", "command"} {
		text = strings.ReplaceAll(text, "{"+slot+"}", told(r, slot))
	}
	s.Asked++
	if s.kept == nil {
		s.kept = map[string]string{}
	}
	s.kept[key] = text
	return model.Answer{Reply: model.Reply{Text: text}, Key: key}, nil
}

// told is the command that stands in a slot of the first message.
func told(r model.Request, slot string) string {
	_, rest, _ := strings.Cut(r.Messages[1].Content, "<<<"+slot+" ")
	_, rest, _ = strings.Cut(rest, "\n")
	line, _, _ := strings.Cut(rest, "\n")
	return line
}

// Sh is a reply that runs a command.
func Sh(command string) string { return "Next.\n```sh\n" + command + "\n```" }

// Says is a reply that reports; v is the report's JSON object.
func Says(v any) string {
	b, err := json.Marshal(v)
	if err != nil {
		panic(err) // a test's own literal
	}
	return "```json\n" + string(b) + "\n```"
}

// Local is a local sandbox whose builds reach no index.
func Local(t testing.TB, root string) *local.Sandbox {
	t.Helper()
	if root == "" {
		root = t.TempDir()
	}
	s, err := local.New(local.Options{Root: root, Network: local.Network{Vars: map[string]string{"PIP_NO_INDEX": "1"}}})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Docker is the same in containers, without a network; the test is skipped where no engine answers.
func Docker(t testing.TB) *docker.Sandbox {
	t.Helper()
	s, err := docker.New(t.Context(), docker.Options{Network: docker.NetworkOptions{Mode: "none", Env: map[string]string{"PIP_NO_INDEX": "1"}}})
	switch {
	case err == nil:
	case os.Getenv("SLUICE_REQUIRE_DOCKER") == "1":
		t.Fatalf("SLUICE_REQUIRE_DOCKER is set: %v", err)
	default:
		t.Skipf("needs a docker engine: %v", err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}
