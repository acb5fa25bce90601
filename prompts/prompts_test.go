package prompts

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the golden files")

// TestAll loads what is embedded: a prompt that breaks a rule does not get past this test.
func TestAll(t *testing.T) {
	t.Parallel()
	ps, err := All()
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range ps {
		if got, err := Load(p.Name); err != nil || got.Digest != p.Digest {
			t.Errorf("Load(%q): %v, digest %s, want %s", p.Name, err, got.Digest, p.Digest)
		}
	}
	if _, err := Load("no-such-prompt"); err == nil || err.Error() != `no prompt is named "no-such-prompt"` {
		t.Errorf("an unknown name: %v", err)
	}
}

// TestBad compares the error of each bad prompt with its golden line.
func TestBad(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("testdata/bad/*.md")
	if err != nil || len(files) < 40 {
		t.Fatalf("%d bad prompts, %v", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".md")
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Parse(name, b)
			if err == nil {
				t.Fatal("it is taken for good")
			}
			golden(t, strings.TrimSuffix(file, ".md")+".err", err.Error()+"\n")
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if strings.Count(got, "\n") != 1 || !strings.HasPrefix(got, "prompt ") {
		t.Errorf("the error is not one line that says where: %q", got)
	}
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

func TestGood(t *testing.T) {
	t.Parallel()
	ps, err := readFolder(os.DirFS("testdata/good"))
	if err != nil {
		t.Fatal(err)
	}
	if len(ps) != 2 {
		t.Fatalf("%d prompts, want 2", len(ps))
	}
	for i := range ps {
		if !strings.HasPrefix(ps[i].Digest, "sha256:") {
			t.Errorf("%s: digest %q", ps[i].Name, ps[i].Digest)
		}
		ps[i].Digest = ""
	}
	want := []Prompt{
		{
			Name: "example", Version: 1, Purpose: "a test", Budget: 100, Mask: true,
			Slots: []Slot{
				{Name: "patch", Title: "The patch", Kind: Diff, Bytes: 60},
				{Name: "talk", Title: "Talk", Kind: List, Bytes: 40, Optional: true},
			},
			Schema: []byte(`{"type":"object","additionalProperties":false,"required":["reasoning","code","quote"],` +
				`"properties":{"reasoning":{"type":"string"},"code":{"enum":["A","B"]},"quote":{"type":"string"}}}`),
			System: "You judge.", User: "Look:\n{{patch}}\n{{talk}}",
		},
		{
			Name: "free-text", Version: 2, Purpose: "no slots and no schema",
			System: "You write.\n\n## Inner heading\n\nMore.", User: "Write.",
		},
	}
	if diff := cmp.Diff(want, ps); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

// TestFill: evidence that looks like a placeholder stays what it is.
func TestFill(t *testing.T) {
	t.Parallel()
	p := Prompt{User: "1 {{a}} 2 {{b}} 3", Slots: []Slot{{Name: "a"}, {Name: "b"}}}
	got := p.Fill(map[string]string{"a": "{{b}} $1", "b": "{{a}}"})
	if want := "1 {{b}} $1 2 {{a}} 3"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// FuzzParse: whatever is taken for good keeps the rules that other packages build on.
func FuzzParse(f *testing.F) {
	for _, dir := range []string{"good", "bad"} {
		files, _ := filepath.Glob("testdata/" + dir + "/*.md")
		for _, file := range files {
			b, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(b)
		}
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		p, err := Parse("example", b)
		if err != nil {
			if strings.Contains(err.Error(), "\n") {
				t.Fatalf("an error of several lines: %q", err)
			}
			return
		}
		sum := 0
		for _, s := range p.Slots {
			sum += s.Bytes
			if strings.Count(p.User, "{{"+s.Name+"}}") != 1 {
				t.Errorf("slot %s has no placeholder of its own", s.Name)
			}
		}
		if p.Version < 1 || sum > p.Budget || p.System == "" || p.User == "" {
			t.Errorf("taken for good: %+v", p)
		}
	})
}
