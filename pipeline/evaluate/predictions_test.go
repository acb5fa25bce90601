package evaluate

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/pipeline"
	"sluice/pipeline/release"
)

// twoInstances is a release with o__r-1 (change 12) and o__r-2 (change 13).
func twoInstances() *release.Release {
	a, b := instance("o__r-1"), instance("o__r-2")
	b.Task.Number = 13
	return &release.Release{Digest: "sha256:release", Instances: []pipeline.Instance{a, b}}
}

func TestReadPredictions(t *testing.T) {
	t.Parallel()
	both := map[string]string{"o__r-1": "d1\r\n", "o__r-2": "d2"}
	tests := []struct {
		name, in string
		want     map[string]string
		model    string
	}{
		{"list", `[{"instance_id":"o__r-1","model_patch":"d1\r\n","model_name_or_path":"m"},{"instance_id":"o__r-2","model_patch":"d2","model_name_or_path":"m"}]`, both, "m"},
		{"lines", `{"instance_id":"o__r-1","model_patch":"d1\r\n","model_name_or_path":"m"}` + "\n" + `{"instance_id":"o__r-2","model_patch":"d2"}` + "\n", both, "m"},
		{"lines with carriage returns and a mark", "\ufeff" + `{"instance_id":"o__r-1","model_patch":"d1\r\n"}` + "\r\n\r\n" + `{"instance_id":"o__r-2","model_patch":"d2"}` + "\r\n", both, ""},
		{"by id", `{"o__r-1":{"model_patch":"d1\r\n","model_name_or_path":"m"},"o__r-2":{"instance_id":"o__r-2","model_patch":"d2"}}`, both, "m"},
		{"patch", `[{"instance_id":"o__r-1","patch":"d1\r\n"},{"instance_id":"o__r-2","patch":"d2"}]`, both, ""},
		{"model_patch before patch", `[{"instance_id":"o__r-1","patch":"gold","model_patch":"d1"}]`, map[string]string{"o__r-1": "d1"}, ""},
		{"by number", `{"org":"O","repo":"r","number":12,"fix_patch":"d1\r\n"}` + "\n" + `{"org":"o","repo":"r","number":"13","fix_patch":"d2"}`, both, ""},
		{"one after the other", `{"instance_id":"o__r-1","model_patch":"d1\r\n"}{"instance_id":"o__r-2","model_patch":"d2"}`, both, ""},
		{"lists one after the other", `[{"instance_id":"o__r-1","model_patch":"d1\r\n"}]` + "\n\ufeff" + `[{"instance_id":"o__r-2","model_patch":"d2"}]`, both, ""},
		{"over many lines", "{\n  \"instance_id\": \"o__r-1\",\n  \"model_patch\": \"d1\"\n}\n", map[string]string{"o__r-1": "d1"}, ""},
		{"null and empty", `[{"instance_id":"o__r-1","model_patch":null},{"instance_id":"o__r-2","model_patch":""}]`, map[string]string{"o__r-1": "", "o__r-2": ""}, ""},
		{"bytes", `[{"instance_id":"o__r-1","model_patch":{"base64":"/w=="}}]`, map[string]string{"o__r-1": "\xff"}, ""},
		{"the right data set", `[{"instance_id":"o__r-1","model_patch":"d1","dataset_digest":"sha256:release"}]`, map[string]string{"o__r-1": "d1"}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p, err := ReadPredictions([]byte(tt.in), twoInstances(), ReadOptions{})
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]string{}
			for id, patch := range p.Patches {
				got[id] = string(patch)
				if patch == nil {
					t.Errorf("%s: a prediction without patch is nil", id)
				}
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || p.Model != tt.model {
				t.Errorf("model %q, want %q; patches (-want +got):\n%s", p.Model, tt.model, diff)
			}
		})
	}
}

func TestReadPredictionsRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"unknown ids", `[{"instance_id":"x-2","model_patch":""},{"instance_id":"o__r-1","model_patch":""},{"instance_id":"x-1","model_patch":""}]`, "no instance x-1, x-2"},
		{"unknown number", `{"org":"o","repo":"r","number":99,"fix_patch":""}`, "no instance o/r#99"},
		{"twice", `[{"instance_id":"o__r-1","model_patch":"a"},{"instance_id":"o__r-1","model_patch":"a"}]`, "o__r-1 has two predictions"},
		{"twice by id", `{"o__r-1":{"model_patch":"a"},"o__r-1":{"model_patch":"b"}}`, "o__r-1 has two predictions"},
		{"by id and by number", `{"instance_id":"o__r-1","model_patch":""}{"org":"o","repo":"r","number":12,"fix_patch":""}`, "o__r-1 has two predictions"},
		{"two models", `[{"instance_id":"o__r-1","model_patch":"","model_name_or_path":"m"},{"instance_id":"o__r-2","model_patch":"","model_name_or_path":"n"}]`, "several models: m, n"},
		{"another data set", `[{"instance_id":"o__r-1","model_patch":"","dataset_digest":"sha256:other"}]`, "made for the data set sha256:other, the release is sha256:release"},
		{"nothing", " \n", "none for any"},
		{"empty list", "[]", "none for any"},
		{"ids disagree", `{"o__r-1":{"instance_id":"o__r-2","model_patch":""}}`, `under "o__r-1": it says that its instance_id is "o__r-2"`},
		{"no id", `[{"model_patch":""}]`, "element 1: it has no instance_id"},
		{"id that is none", `[{"instance_id":7,"model_patch":""}]`, "instance_id 7 is no id"},
		{"no patch", `[{"instance_id":"o__r-1"}]`, "o__r-1: it has no model_patch"},
		{"patch that is none", `[{"instance_id":"o__r-1","model_patch":["a"]}]`, "its model_patch is neither text nor null"},
		{"no object", `["gold"]`, "element 1: it is no JSON object"},
		{"no object under an id", `{"o__r-1":"diff"}`, "it is no JSON object"},
		{"cut off", `{"instance_id":"o__r-1","model_patch":"a"}` + "\n" + `{"instance_id":"o__r-2","mod`, "begins on line 2"},
		{"no JSON", "diff --git a/x b/x", "begins on line 1"},
		{"not UTF-8", "[\"\xff\"]", "not UTF-8"},
		{"number that is none", `{"org":"o","repo":"r","number":1.5,"fix_patch":""}`, "name no change"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, err := ReadPredictions([]byte(tt.in), twoInstances(), ReadOptions{})
			if !errors.Is(err, ErrPredictions) || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want %q in it", err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "\n") {
				t.Errorf("error %q is more than one line", err)
			}
		})
	}
}

func TestAmbiguousNumber(t *testing.T) {
	t.Parallel()
	rel := twoInstances()
	rel.Instances[1].Task.Number = 12
	_, err := ReadPredictions([]byte(`{"org":"o","repo":"r","number":12,"fix_patch":""}`), rel, ReadOptions{})
	if err == nil || !strings.Contains(err.Error(), "o__r-1, o__r-2") {
		t.Errorf("error = %v, want both instances named", err)
	}
}

func TestIgnoreUnknown(t *testing.T) {
	t.Parallel()
	in := []byte(`{"x":{"model_patch":""},"o__r-1":{"model_patch":"d"}}`)
	p, err := ReadPredictions(in, twoInstances(), ReadOptions{IgnoreUnknown: true})
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"x"}, p.Ignored); diff != "" || len(p.Patches) != 1 {
		t.Errorf("%d patches; ignored (-want +got):\n%s", len(p.Patches), diff)
	}
	if _, err := ReadPredictions([]byte(`{"x":{"model_patch":""}}`), twoInstances(), ReadOptions{IgnoreUnknown: true}); err == nil {
		t.Error("predictions without overlap are accepted")
	}
}

func TestLoadPredictions(t *testing.T) {
	t.Parallel()
	rel := twoInstances()
	rel.Instances[1].Gold = nil
	p, err := LoadPredictions(Gold, rel, ReadOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if string(p.Patches["o__r-1"]) != string(patchTo("v2 careful")) || string(p.Patches["o__r-2"]) != string(patchTo("v2")) || p.Model != Gold {
		t.Errorf("gold is %q of %s", p.Patches, p.Model)
	}
	for name, want := range map[string]string{Task: string(patchTo("v2")), Empty: ""} {
		p, err := LoadPredictions(name, rel, ReadOptions{})
		if err != nil || p.Model != name || len(p.Patches) != 2 || string(p.Patches["o__r-1"]) != want {
			t.Errorf("%s is %q of %q, %v", name, p.Patches, p.Model, err)
		}
	}
	path := filepath.Join(t.TempDir(), "preds.json")
	if err := os.WriteFile(path, []byte(`[{"instance_id":"o__r-1","model_patch":"d"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	if p, err := LoadPredictions(path, rel, ReadOptions{}); err != nil || string(p.Patches["o__r-1"]) != "d" {
		t.Errorf("predictions of a file: %v, %v", p, err)
	}
	if _, err := LoadPredictions(path+".absent", rel, ReadOptions{}); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("an absent file: %v", err)
	}
}

// FuzzReadPredictions: whatever stands in the file, what is accepted is for instances of the release, and survives being
// written and read again.
func FuzzReadPredictions(f *testing.F) {
	for _, seed := range []string{
		`[{"instance_id":"o__r-1","model_patch":"d1\r\n","model_name_or_path":"m"}]`, `{"o__r-1":{"model_patch":null}}`,
		`{"org":"o","repo":"r","number":"12","fix_patch":"x"}`, "\ufeff{\"instance_id\":\"o__r-2\",\"patch\":{\"base64\":\"/w==\"}}\r\n", `[`, `{}`, "[]{}",
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		rel := twoInstances()
		p, err := ReadPredictions(in, rel, ReadOptions{IgnoreUnknown: true})
		if err != nil {
			if !errors.Is(err, ErrPredictions) {
				t.Fatalf("%q: %v is not of the predictions", in, err)
			}
			return
		}
		out := map[string]any{}
		for id, patch := range p.Patches {
			if _, ok := rel.Instance(id); !ok {
				t.Fatalf("%q: a prediction for %q", in, id)
			}
			out[id] = map[string]any{"model_patch": pipeline.Text(patch), "model_name_or_path": p.Model}
		}
		b, err := json.Marshal(out)
		if err != nil {
			t.Fatal(err)
		}
		again, err := ReadPredictions(b, rel, ReadOptions{})
		if err != nil {
			t.Fatalf("%q, written as %s: %v", in, b, err)
		}
		if diff := cmp.Diff(p.Patches, again.Patches); diff != "" || again.Model != p.Model {
			t.Fatalf("%q: patches (-first +again):\n%s", in, diff)
		}
	})
}
