package modeltest

import (
	"maps"
	"net/http"
	"strings"
	"time"
)

// writer sends a reply.
type writer struct {
	http.ResponseWriter
	http  *http.Request
	asked Request
	close <-chan struct{}
}

// pause waits, unless the client or the test is gone.
func (w writer) pause(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-w.http.Context().Done():
	case <-w.close:
	}
	return false
}

// gone waits until the client or the test is.
func (w writer) gone() {
	select {
	case <-w.http.Context().Done():
	case <-w.close:
	}
}

// tear breaks the connection as a dying server does.
func (w writer) tear() {
	panic(http.ErrAbortHandler)
}

func (r Reply) write(w writer) {
	if !w.pause(r.Wait) {
		return
	}
	switch {
	case r.Hang:
		w.gone()
		return
	case r.Drop:
		w.tear()
	}
	maps.Copy(w.Header(), r.Header)
	stream := w.asked.Stream && !r.Whole && r.Status == 0
	media := "application/json"
	if stream {
		media = "text/event-stream"
	} else if strings.HasPrefix(r.Error, "<") {
		media = "text/html"
	}
	w.Header().Set("Content-Type", media)
	if r.Status != 0 {
		w.WriteHeader(r.Status)
	}
	switch {
	case stream && r.Error != "":
		r.send(w, []string{"data: " + r.Error + "\n\n", "data: [DONE]\n\n"})
	case stream:
		r.send(w, r.pieces(w.asked))
	default:
		r.send(w, halves(r.body(w.asked)))
	}
}

// halves lets a pause fall into the middle of a body.
func halves(b []byte) []string {
	return []string{string(b[:len(b)/2]), string(b[len(b)/2:])}
}

// send writes the pieces, as far as the script lets them come.
func (r Reply) send(w writer, pieces []string) {
	left := r.Cut + r.End
	for i, p := range pieces {
		if i > 0 && !w.pause(r.Pause) {
			return
		}
		if r.Cut+r.End > 0 {
			p = p[:min(left, len(p))]
			left -= len(p)
		}
		if _, err := w.Write([]byte(p)); err != nil {
			return
		}
		if f, ok := w.ResponseWriter.(http.Flusher); ok && (r.Pause > 0 || r.Cut > 0 || w.asked.Stream) {
			f.Flush()
		}
		if r.Cut+r.End > 0 && left == 0 {
			break
		}
	}
	if r.Cut > 0 {
		w.tear()
	}
}
