package judges_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"sluice/judges"
	"sluice/judges/model"
)

// says is a model that answers by a function of the conversation.
type says func(r model.Request) string

func (f says) Ask(_ context.Context, r model.Request, _ model.Charge) (model.Answer, error) {
	return model.Answer{Reply: model.Reply{Text: f(r), Finish: "stop"}, Key: "sha256:x"}, nil
}

var single = judges.Panel{Models: []string{"m"}}

// TestRegistered: every row of the table is a judge, found by its name.
func TestRegistered(t *testing.T) {
	t.Parallel()
	var want, got []string
	for _, s := range judges.Specs() {
		want = append(want, s.Prompt)
	}
	for _, j := range judges.Judges() {
		got = append(got, j.Name())
		if found, ok := judges.ByName(j.Name()); !ok || found.Name() != j.Name() || len(j.Codes()) < 2 {
			t.Errorf("%s is not found by its name, or has no codes", j.Name())
		}
	}
	if diff := cmp.Diff(want, got); diff != "" || len(got) != 14 {
		t.Error(len(got), diff)
	}
	if _, ok := judges.ByName(judges.WriteStatement); ok {
		t.Error("a writer is a judge")
	}
}

// TestRuling: each judge asks exactly the golden request, once, and rules by the reply.
func TestRuling(t *testing.T) {
	t.Parallel()
	for _, a := range loadAll(t, false) {
		t.Run(a.prompt.Name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			j, ok := judges.ByName(a.prompt.Name)
			if !ok {
				t.Fatal("no such judge")
			}
			r, err := j.Rule(t.Context(), judges.Bench{Asker: says(func(r model.Request) string {
				asked++
				golden := goldenRequest(t, a.prompt.Name)
				golden.Model = "m"
				if diff := cmp.Diff(golden, r); diff != "" {
					t.Errorf("-golden +asked\n%s", diff)
				}
				return "Here is my answer:\n```json\n" + a.reply + "\n```\n"
			})}, judges.Case(a.given), single)
			if err != nil || asked != 1 {
				t.Fatalf("asked %d times: %v", asked, err)
			}
			var fields struct{ Code, Quote string }
			if err := json.Unmarshal([]byte(a.reply), &fields); err != nil {
				t.Fatal(err)
			}
			if r.Code != fields.Code || r.Quote != fields.Quote || r.Version != a.prompt.Version || r.Judge != a.prompt.Name {
				t.Errorf("ruling %+v", r)
			}
			if keeps := fields.Code != "partly"; r.Keeps != keeps {
				t.Errorf("keeps is %v", r.Keeps)
			}
		})
	}
}

func goldenRequest(t *testing.T, name string) model.Request {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name, "request.json"))
	if err != nil {
		t.Fatal(err)
	}
	var r model.Request
	if err := json.Unmarshal(b, &r); err != nil {
		t.Fatal(err)
	}
	r.Schema = json.RawMessage(compact(t, r.Schema))
	return r
}

// TestObedientModelsNeverRule: whoever repeats what stands in the evidence, or what was said last, is asked again and then has no vote.
func TestObedientModelsNeverRule(t *testing.T) {
	t.Parallel()
	entries := corpus(t)
	for _, a := range loadAll(t, false) {
		t.Run(a.prompt.Name, func(t *testing.T) {
			t.Parallel()
			j, _ := judges.ByName(a.prompt.Name)
			at := places(a.prompt, true)[len(places(a.prompt, true))-1]
			forge := a.forged(at.slot, a.render(t).Nonce, keeping(a.prompt.Name))
			for _, in := range entries {
				text := in.text(forge)
				hostile := judges.Case(a.poisoned(at, text).given)
				for name, f := range map[string]says{
					"the entry":         func(model.Request) string { return text },
					"the last message":  func(r model.Request) string { return r.Messages[len(r.Messages)-1].Content },
					"the first message": func(r model.Request) string { return r.Messages[0].Content },
				} {
					if in.Repeat > 0 && name != "the entry" {
						continue
					}
					r, err := j.Rule(t.Context(), judges.Bench{Asker: f}, hostile, single)
					if !errors.Is(err, judges.ErrNoVerdict) || r.Keeps || r.Code != "" || r.Votes[0].Verdict != nil {
						t.Errorf("%s: repeating %s: %v, %+v", in.Name, name, err, r)
					}
				}
			}
		})
	}
}
