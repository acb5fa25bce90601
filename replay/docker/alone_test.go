package docker

import (
	"io"
	"net/http"
	"testing"
	"time"

	"github.com/docker/docker/api/types/container"
	"github.com/docker/docker/pkg/stdcopy"

	"sluice/replay"
)

// TestAlone: two processes are the container's own two, or its first one and what a step left before that one had started the second.
func TestAlone(t *testing.T) {
	t.Parallel()
	limits := replay.Limits{Wall: time.Minute}
	first, own, stray := []string{"1", "docker-init -- sleep 660"}, []string{"2", "sleep 660"}, []string{"9", "sleep 300"}
	for name, tt := range map[string]struct {
		count int
		list  [][]string
		age   time.Duration
		want  bool
	}{
		"its own two":              {2, [][]string{first, own}, 0, true},
		"not yet begun":            {1, [][]string{first}, 0, true},
		"what a step left instead": {2, [][]string{first, stray}, 0, false},
		"what a step left":         {3, [][]string{first, own, stray}, 0, false},
		"long after its start":     {2, nil, time.Minute, true},
		"the same, with a stray":   {3, nil, time.Minute, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			asked := 0
			s := fakeEngine(t, map[string]http.HandlerFunc{
				"/c/stats": say(container.StatsResponse{PidsStats: container.PidsStats{Current: uint64(tt.count)}}),
				"/c/top": func(w http.ResponseWriter, r *http.Request) {
					asked++
					say(container.TopResponse{Processes: tt.list})(w, r)
				},
			})
			b := &box{s: s, id: "c", spec: boxSpec{limits: limits}, started: s.o.Clock.Now().Add(-tt.age)}
			if alone, known := b.alone(t.Context(), witness{}); alone != tt.want || !known {
				t.Errorf("alone %v, known %v", alone, known)
			}
			if tt.list == nil && asked > 0 {
				t.Error("the list was asked for in vain")
			}
		})
	}
}

// TestCountsFromWithin: the control group is read by a command of ours, which counts itself; engines' own numbers may take a second.
func TestCountsFromWithin(t *testing.T) {
	t.Parallel()
	for printed, alone := range map[string]bool{"processes 3\n": true, "processes 41\n": false} {
		t.Run(printed, func(t *testing.T) {
			t.Parallel()
			s := fakeEngine(t, map[string]http.HandlerFunc{
				"/c/exec":       say(map[string]string{"Id": "e"}),
				"/exec/e/start": printing(printed),
				"/c/stats": func(http.ResponseWriter, *http.Request) {
					t.Error("the engine was asked for its numbers")
				},
			})
			b := &box{s: s, id: "c"}
			w, heard := b.witness(t.Context())
			if !heard {
				t.Fatal("the witness was not heard")
			}
			if got, known := b.alone(t.Context(), w); got != alone || !known {
				t.Errorf("alone %v, known %v", got, known)
			}
		})
	}
}

// printing answers the start of a command with what it prints, as an engine does: by taking the connection over.
func printing(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		defer conn.Close()
		io.WriteString(conn, "HTTP/1.1 101 UPGRADED\r\nContent-Type: application/vnd.docker.raw-stream\r\nConnection: Upgrade\r\nUpgrade: tcp\r\n\r\n")
		stdcopy.NewStdWriter(conn, stdcopy.Stdout).Write([]byte(text))
	}
}
