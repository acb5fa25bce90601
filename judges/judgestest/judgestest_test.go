package judgestest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"sluice/judges"
	"sluice/judges/judgestest"
	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// golden is the case of a judge's golden request.
func golden(t *testing.T, name string) judges.Case {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("..", "testdata", name, "case.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	given := judges.Case{}
	for _, f := range txtar.Parse(b).Files {
		slot, _, _ := strings.Cut(f.Name, "/")
		given[slot] = append(given[slot], string(f.Data))
	}
	return given
}

// bench asks a server that answers as m does; it knows the models "m" and "n".
func bench(t *testing.T, m judgestest.Model) (judges.Bench, *modeltest.Server) {
	t.Helper()
	s := modeltest.New(t, m.Reply)
	config := s.Config("m", "n")
	for i := range config.Models {
		config.Models[i].Context = 0
	}
	c, err := model.New(config, model.Options{Ledger: model.NewMemory(0)})
	if err != nil {
		t.Fatal(err)
	}
	return judges.Bench{Asker: c}, s
}

var alone = judges.Panel{Models: []string{"m"}}

// TestEveryCode: on the golden case of each judge, every code of its table comes as a valid verdict in one question.
func TestEveryCode(t *testing.T) {
	t.Parallel()
	for _, j := range judges.Judges() {
		t.Run(j.Name(), func(t *testing.T) {
			t.Parallel()
			given, wants := golden(t, j.Name()), []string{""}
			for _, c := range j.Codes() {
				wants = append(wants, c.Name)
			}
			for _, want := range wants {
				b, s := bench(t, judgestest.Model{Manners: map[string]judgestest.Manner{j.Name(): {Code: want}}})
				r, err := j.Rule(t.Context(), b, given, alone)
				if err != nil || want != "" && r.Code != want || want == "" && !r.Keeps || s.Requests() != 1 {
					t.Errorf("wanted %q: got %q after %d questions, %v", want, r.Code, s.Requests(), err)
				}
			}
		})
	}
}

func TestWriters(t *testing.T) {
	t.Parallel()
	for _, name := range judges.Writers() {
		b, s := bench(t, judgestest.Model{})
		w, err := judges.NewWriter(name, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := w.Write(t.Context(), b, golden(t, name), "m", 0); err != nil || s.Requests() != 1 {
			t.Errorf("%s: %s after %d questions, %v", name, got.Fields, s.Requests(), err)
		}
	}
}

// TestQuirks: each is met as judges meet it with real models.
func TestQuirks(t *testing.T) {
	t.Parallel()
	filter := modeltest.Blocked()["finish"]
	for _, tt := range []struct {
		name      string
		how       judgestest.Manner
		questions int
		err       error
	}{
		{"prose", judgestest.Manner{Prose: true}, 1, nil},
		{"a bad quotation first", judgestest.Manner{Misquotes: true}, 2, nil},
		{"half a reply first", judgestest.Manner{Malformed: true}, 2, nil},
		{"never", judgestest.Manner{Never: true}, 4, judges.ErrNoVerdict}, // two conversations of two questions
		{"filter", judgestest.Manner{Instead: &filter}, 1, model.ErrFiltered},
		{"no such code", judgestest.Manner{Code: "Z"}, 1, model.ErrRejected},
		{"a field of no use", judgestest.Manner{Fields: map[string]any{"code": "Z"}}, 4, judges.ErrNoVerdict},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b, s := bench(t, judgestest.Model{Choose: func(q judgestest.Question) (judgestest.Manner, bool) {
				return tt.how, q.Prompt == judges.PairFairness
			}})
			j, _ := judges.ByName(judges.PairFairness)
			r, err := j.Rule(t.Context(), b, golden(t, judges.PairFairness), alone)
			if !errors.Is(err, tt.err) || err == nil && r.Code != "A" || s.Requests() != tt.questions {
				t.Errorf("%q after %d questions: %v", r.Code, s.Requests(), err)
			}
		})
	}
}

func TestModelsDiffer(t *testing.T) {
	t.Parallel()
	b, _ := bench(t, judgestest.Model{Manners: map[string]judgestest.Manner{judges.PairEligibility: {ByModel: map[string]string{"n": "weak"}}}})
	j, _ := judges.ByName(judges.PairEligibility)
	r, err := j.Rule(t.Context(), b, golden(t, judges.PairEligibility), judges.Panel{Models: []string{"m", "n"}})
	if err != nil || !r.Disagrees || r.Votes[0].Verdict.Code != "clean" || r.Votes[1].Verdict.Code != "weak" {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestStrangers(t *testing.T) {
	t.Parallel()
	b, _ := bench(t, judgestest.Model{})
	for _, text := range []string{"Who are you?", ""} {
		_, err := b.Asker.Ask(t.Context(), model.Request{Model: "m", Messages: []model.Message{{Role: model.System, Content: "You are kind." + text}, {Role: model.User, Content: "?"}}}, b.Charge)
		if !errors.Is(err, model.ErrRejected) {
			t.Errorf("got %v, want ErrRejected", err)
		}
	}
}
