package model_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

// TestCertificate: a server that is not who it says gets no question, and no other try.
func TestCertificate(t *testing.T) {
	t.Parallel()
	h := httptest.NewUnstartedServer(http.NotFoundHandler())
	h.Config.ErrorLog = log.New(io.Discard, "", 0)
	h.StartTLS()
	t.Cleanup(h.Close)
	config := model.Config{Endpoints: []model.Endpoint{{Name: "e", URL: h.URL + "/v1"}}, Models: []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 1,
		InputUSD: "1", OutputUSD: "1"}}}
	c, ledger := newClient(t, config, model.Options{})
	_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
	if !errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), "certificate") || states(ledger) != "released" {
		t.Errorf("%v, %s", err, states(ledger))
	}
}

// TestNotForChats: what the library knows not to chat is refused before it is sent.
func TestNotForChats(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	config := s.Config("m")
	config.Models[0].ID = "text-davinci-003"
	c, ledger := newClient(t, config, model.Options{})
	if _, err := c.Ask(t.Context(), ask("why?"), model.Charge{}); !errors.Is(err, model.ErrConfig) || states(ledger) != "released" || s.Requests() != 0 {
		t.Errorf("%v, %s, %d requests", err, states(ledger), s.Requests())
	}
}

// TestManyChoices: further choices are bounded, and the first counts.
func TestManyChoices(t *testing.T) {
	t.Parallel()
	var others []string
	for i := range 50 {
		others = append(others, fmt.Sprint("other ", i))
	}
	for _, stream := range []bool{false, true} {
		s := modeltest.New(t, modeltest.Always(modeltest.Reply{Text: "a good answer", Others: others}))
		config := s.Config("m")
		config.Endpoints[0].Stream = stream
		c, _ := newClient(t, config, model.Options{})
		if a, err := c.Ask(t.Context(), ask("why?"), model.Charge{}); err != nil || a.Text != "a good answer" {
			t.Errorf("stream %v: %+v, %v", stream, a, err)
		}
	}
}

// TestFailedTogether: who asked the same question gets the same failure, and it is asked once.
func TestFailedTogether(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &drip{header: time.Second, status: []int{http.StatusNotFound}}
		c, _ := over(t, d, nil)
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				if _, err := c.Ask(t.Context(), ask("why?"), model.Charge{}); !errors.Is(err, model.ErrConfig) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
		if n := len(d.times); n != 1 {
			t.Errorf("%d requests", n)
		}
	})
}

// TestBudgetOfOne: who runs out of money does not stop another who asks the same.
func TestBudgetOfOne(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("good")))
	entered, release := make(chan struct{}), make(chan struct{})
	c, err := model.New(s.Config("m"), model.Options{Ledger: poor{model.NewMemory(0), entered, release}})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := c.Ask(t.Context(), ask("why?"), model.Charge{Candidate: "poor"}); !errors.Is(err, model.ErrBudget) {
			t.Errorf("the poor one got %v", err)
		}
	})
	<-entered
	wg.Go(func() {
		if a, err := c.Ask(t.Context(), ask("why?"), model.Charge{Candidate: "rich"}); err != nil || a.Text != "good" {
			t.Errorf("the rich one got %+v, %v", a, err)
		}
	})
	close(release)
	wg.Wait()
}

// poor has no money for the candidate of that name.
type poor struct {
	*model.Memory
	entered, release chan struct{}
}

func (p poor) Reserve(ctx context.Context, r model.Reservation) (int64, error) {
	if r.Charge.Candidate == "poor" {
		close(p.entered)
		<-p.release
		return 0, model.ErrBudget
	}
	return p.Memory.Reserve(ctx, r)
}

// TestDeadline: a wait that would outlast the caller is not begun.
func TestDeadline(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, ledger := over(t, &drip{events: answer(1)}, func(e *model.Endpoint) { e.RequestsPerMinute = 1 })
		if _, err := c.Ask(t.Context(), ask("first"), model.Charge{}); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		start := time.Now()
		_, err := c.Ask(ctx, ask("second"), model.Charge{})
		if !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != 0 || len(ledger.Entries()) != 1 {
			t.Errorf("%v after %v, %s", err, time.Since(start), states(ledger))
		}
	})
}

// TestSystemMessage: the schema goes to the system message, or makes one.
func TestSystemMessage(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Always(modeltest.Text("{}")))
	config := s.Config("m")
	config.Endpoints[0].Structured = model.ByPrompt
	c, _ := newClient(t, config, model.Options{})
	r := ask("why?")
	r.Schema = []byte(`{"type":"object"}`)
	if _, err := c.Ask(t.Context(), r, model.Charge{}); err != nil {
		t.Fatal(err)
	}
	body := string(s.Seen()[0].Body)
	if !strings.Contains(body, `"messages":[{"role":"system","content":"Reply with one JSON object`) || !strings.Contains(body, `{"role":"user","content":"why?"}`) {
		t.Errorf("sent %s", body)
	}
}

// TestServer: the scripted server counts bodies, and knows one path.
func TestServer(t *testing.T) {
	t.Parallel()
	s := modeltest.New(t, modeltest.Sequence(modeltest.Text("one"), modeltest.JSON(map[string]int{"n": 2})))
	post := func(path, body string) (int, string) {
		t.Helper()
		resp, err := http.Post(strings.TrimSuffix(s.URL, "/v1")+path, "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	const good = `{"model":"m","messages":[{"role":"user","content":"why?"}],"temperature":0}`
	for _, tt := range []struct {
		path, body string
		status     int
		want       string
	}{
		{"/v1/models", good, 404, "Invalid URL"}, {"/v1/chat/completions", "{", 400, "reading a request"},
		{"/v1/chat/completions", good, 200, `"content":"one"`}, {"/v1/chat/completions", good, 200, `{\"n\":2}`},
		{"/v1/chat/completions", `{"model":"x"}`, 200, `"model":"x"`},
	} {
		if status, body := post(tt.path, tt.body); status != tt.status || !strings.Contains(body, tt.want) {
			t.Errorf("%s %s: %d %s", tt.path, tt.body, status, body)
		}
	}
	var times []int
	for _, seen := range s.Seen() {
		times = append(times, seen.Times)
	}
	if !slices.Equal(times, []int{2, 1}) || s.Requests() != 3 || s.AtOnce() != 1 {
		t.Errorf("bodies %v, %d requests, %d at once", times, s.Requests(), s.AtOnce())
	}
}
