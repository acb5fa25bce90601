package githubtest

import (
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// Status refuses with a status and a message.
func Status(status int, message string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fail(w, status, message) }
}

// Primary says that the quota is used up, and until when.
func Primary(status int, reset time.Time) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("X-RateLimit-Limit", "5000")
		w.Header().Set("X-RateLimit-Remaining", "0")
		w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(reset.Unix(), 10))
		fail(w, status, "API rate limit exceeded")
	}
}

// Secondary is the limit on the frequency of requests, with the Retry-After that is given, if any.
func Secondary(status int, retryAfter string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.Header().Set("X-RateLimit-Remaining", "4000")
		w.Header().Set("X-RateLimit-Reset", "4102444800") // of the primary limit, and far ahead: nobody must wait for it
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprint(w, `{"message":"You have exceeded a secondary rate limit.","documentation_url":"https://docs.github.com/rest/overview/rate-limits#secondary-rate-limits"}`)
	}
}

// Redirect sends the client elsewhere.
func Redirect(status int, to string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", to)
		fail(w, status, "Moved Permanently")
	}
}

// Page answers 200 with a body of some type.
func Page(kind, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		fmt.Fprint(w, body)
	}
}

// Cut promises more bytes than it sends.
func Cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Content-Length", "1000")
	fmt.Fprint(w, `[{"id": 1},`)
}

// Silent sends a beginning and then nothing until the client goes away.
func Silent(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	fmt.Fprint(w, `[{"id": 1},`)
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

// Drip sends a byte now and then until the client goes away.
func Drip(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	for r.Context().Err() == nil {
		fmt.Fprint(w, " ")
		w.(http.Flusher).Flush()
		select {
		case <-time.After(10 * time.Millisecond):
		case <-r.Context().Done():
		}
	}
}

// Echo answers with everything that the client sent, as a careless proxy does.
func Echo(status int) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Link", "<x>; token="+r.Header.Get("Authorization"))
		w.Header().Set("Etag", `"`+r.Header.Get("Authorization")+`"`)
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message":"you sent %s","headers":%q}`, r.Header.Get("Authorization"), fmt.Sprint(r.Header))
	}
}
