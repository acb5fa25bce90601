package model_test

import (
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"sluice/judges/model"
)

// answered asks a server once that answers as it likes, and wants no answer within a time.
func answered(t *testing.T, stream bool, want string, answer http.HandlerFunc) {
	t.Helper()
	h := httptest.NewServer(answer)
	t.Cleanup(h.Close)
	config := model.Config{
		Endpoints: []model.Endpoint{{Name: "e", URL: h.URL, Tries: 1, Stream: stream, Silence: time.Second, Total: 2 * time.Second}},
		Models:    []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 1, InputUSD: "1", OutputUSD: "1"}},
	}
	c, ledger := newClient(t, config, model.Options{})
	done := make(chan error, 1)
	go func() {
		_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
		done <- err
	}()
	select {
	case err := <-done:
		if !errors.Is(err, model.ErrTransient) || !strings.Contains(err.Error(), want) || states(ledger) != "uncertain" {
			t.Errorf("%v, %s; want %s", err, states(ledger), want)
		}
	case <-time.After(20 * time.Second):
		t.Error("no time-out ended the request")
	}
}

// TestSwitchedProtocol: a server that takes the connection over cannot hold the question: reading from it would know no time-out.
func TestSwitchedProtocol(t *testing.T) {
	t.Parallel()
	over := make(chan struct{})
	t.Cleanup(func() { close(over) })
	answered(t, false, "HTTP 101", func(w http.ResponseWriter, _ *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		if _, err := io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: Upgrade\r\n\r\n"); err != nil {
			t.Error(err)
		}
		<-over
	})
}

// TestManyParts: a small answer cannot become a large one in memory, whole or as a piece of a stream.
func TestManyParts(t *testing.T) {
	t.Parallel()
	body := `{"choices":[{}` + strings.Repeat(",{}", 1<<19+1) + "]}"
	answered(t, false, "parts", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, body)
	})
	answered(t, true, "parts", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, "data: "+body+"\n\ndata: [DONE]\n\n")
	})
}

// TestWholeTooLarge: what comes in one piece is bounded more narrowly than a stream.
func TestWholeTooLarge(t *testing.T) {
	t.Parallel()
	answered(t, false, "larger than any reply", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		text := strings.Repeat("x", 1<<20)
		for range 17 {
			if _, err := io.WriteString(w, text); err != nil {
				return
			}
		}
	})
}

// TestFinishedStreamsCount: a reply that said its end is whole, whatever the connection does afterwards; its usage never came.
func TestFinishedStreamsCount(t *testing.T) {
	t.Parallel()
	const said = "data: {\"choices\":[{\"index\":0,\"delta\":{\"content\":\"yes\"}}]}\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n"
	for name, after := range map[string]func(http.ResponseWriter, *http.Request){
		"left open": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"broken": func(w http.ResponseWriter, _ *http.Request) {
			panic(http.ErrAbortHandler)
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/event-stream")
				_, _ = io.WriteString(w, said)
				w.(http.Flusher).Flush()
				after(w, r)
			}))
			t.Cleanup(server.CloseClientConnections)
			ledger := model.NewMemory(0)
			c, err := model.New(model.Config{
				Endpoints: []model.Endpoint{{Name: "e", URL: server.URL, Stream: true, Silence: 300 * time.Millisecond, Tries: 1}},
				Models:    []model.Spec{{Name: "m", Endpoint: "e", MaxOutput: 100, InputUSD: "1", OutputUSD: "1"}},
			}, model.Options{Ledger: ledger})
			if err != nil {
				t.Fatal(err)
			}
			a, err := c.Ask(t.Context(), ask("Is it?"), model.Charge{})
			if err != nil || a.Text != "yes" || a.MicroUSD < 100 {
				t.Errorf("%+v, %v", a, err)
			}
		})
	}
}
