package unittest

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/replay"
	"sluice/replay/tools/tooltest"
)

func TestNarrow(t *testing.T) {
	t.Parallel()
	r := Tool{}.Parse(replay.Recipe{}, replay.Target{}, run(tooltest.Captured(t, "python3.11", "all.jsonl"), replay.Exited, 1))
	files := map[string][]byte{
		"tests/test_bad.py": []byte("import unittest\nfrom mod import later\n\n\nclass T(unittest.TestCase):\n    def test_new(self):\n        later()\n\n" +
			"    def test_old(self):\n        pass\n"),
		"tests/test_syntax.py": []byte("class T(unittest.TestCase)\n    pass\n"),
	}
	e := Tool{}.Narrow(files, "# tests/test_bad.py\n"+r.Broken["tests/test_bad.py"]+"\n# tests/test_syntax.py\n"+r.Broken["tests/test_syntax.py"])
	if e.Stuck != "" {
		t.Fatal(e.Stuck)
	}
	want := "import unittest\n\n\nclass T(unittest.TestCase):\n\n    def test_old(self):\n        pass\n"
	if d := cmp.Diff(want, string(e.Files["tests/test_bad.py"])); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"tests/test_syntax.py"}, e.Removed); d != "" {
		t.Error(d)
	}
	other := `Traceback (most recent call last):
  File "tests/test_bad.py", line 2, in <module>
    from mod import later
  File "mod.py", line 1, in <module>
    import gone
  File "/v/lib/python3.11/site-packages/x/__init__.py", line 1, in load
    import gone
ModuleNotFoundError: No module named 'gone'
`
	if e := (Tool{}).Narrow(files, other); e.Stuck == "" {
		t.Errorf("an error of the state's own was narrowed away: %+v", e.Dropped)
	}
}

func FuzzImportErrors(f *testing.F) {
	f.Add("  File \"a.py\", line 1, in <module>\nX: y\n")
	f.Add("  File \"a.py\", line 99999999999999999999\nSyntaxError\n")
	f.Fuzz(func(t *testing.T, output string) {
		for _, e := range importErrors(output) {
			if e.File == "" || e.Message == "" || e.Line < 0 {
				t.Errorf("an error without a place: %+v", e)
			}
		}
	})
}
