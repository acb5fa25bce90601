// Package githubtest is a fake of GitHub's API for tests: a real HTTP server that pages, answers conditional requests, counts quotas, and
// misbehaves when told so. It knows nothing that a test did not put into it, and is no part of the program.
package githubtest

import (
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Object is a JSON object.
type Object = map[string]any

// Server is the fake. Its methods may be called while it serves.
type Server struct {
	*httptest.Server
	mu      sync.Mutex
	objects map[string]any
	lists   map[string][]Object
	faults  []*fault
	log     []string
	auth    []string
	tokens  map[string]*Quota
	graphql func(number int) any
}

// Quota is what one token has left; anonymous requests have the token "".
type Quota struct {
	Limit, Remaining int
	Reset            time.Time
}

type fault struct {
	match string
	times int
	do    http.HandlerFunc
}

// New starts a server; close it.
func New() *Server {
	s := &Server{objects: map[string]any{}, lists: map[string][]Object{}, tokens: map[string]*Quota{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	return s
}

// Put sets the object at a path: "repos/o/r".
func (s *Server) Put(path string, v any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.objects[path] = v
}

// Add appends to the list at a path.
func (s *Server) Add(path string, elements ...Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[path] = append(s.lists[path], elements...)
}

// Change replaces the list at a path by what f makes of it.
func (s *Server) Change(path string, f func([]Object) []Object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.lists[path] = f(slices.Clone(s.lists[path]))
}

// Token makes a token known. As soon as one is, all others get 401.
func (s *Server) Token(token string, q Quota) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tokens[token] = &q
}

// GraphQL sets what the item with a number answers under issueOrPullRequest.
func (s *Server) GraphQL(f func(number int) any) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.graphql = f
}

// Fault answers the next requests whose "METHOD /path?query" contains match.
func (s *Server) Fault(match string, times int, do http.HandlerFunc) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, &fault{match, times, do})
}

// Hits counts the requests whose "METHOD /path?query" contains match.
func (s *Server) Hits(match string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := 0
	for _, l := range s.log {
		if strings.Contains(l, match) {
			n++
		}
	}
	return n
}

// Tokens lists the tokens in the order of their requests.
func (s *Server) Tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.auth)
}

func (s *Server) serve(w http.ResponseWriter, r *http.Request) {
	line := r.Method + " " + r.URL.RequestURI()
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	s.log, s.auth = append(s.log, line), append(s.auth, token)
	for _, f := range s.faults {
		if f.times > 0 && strings.Contains(line, f.match) {
			f.times--
			s.mu.Unlock()
			f.do(w, r)
			return
		}
	}
	s.mu.Unlock()
	s.Answer(w, r)
}

// Answer serves a request without faults. A fault may call it to answer and then change the world.
func (s *Server) Answer(w http.ResponseWriter, r *http.Request) {
	token := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	s.mu.Lock()
	defer s.mu.Unlock()
	path := strings.Trim(strings.TrimPrefix(r.URL.Path, "/api/v3"), "/")
	if !s.admit(w, token, path) {
		return
	}
	switch {
	case path == "rate_limit":
		s.limits(w, token)
	case r.Method == http.MethodPost && strings.HasSuffix(path, "graphql"):
		s.answerGraphQL(w, r)
	default:
		s.find(w, r, path)
	}
}

// admit checks the token and its quota.
func (s *Server) admit(w http.ResponseWriter, token, path string) bool {
	if len(s.tokens) == 0 || path == "rate_limit" && s.tokens[token] != nil {
		return true
	}
	q := s.tokens[token]
	if q == nil {
		fail(w, http.StatusUnauthorized, "Bad credentials "+token)
		return false
	}
	if q.Remaining > 0 {
		q.Remaining--
		q.header(w)
		return true
	}
	q.header(w)
	fail(w, http.StatusForbidden, "API rate limit exceeded")
	return false
}

func (q Quota) header(w http.ResponseWriter) {
	w.Header().Set("X-RateLimit-Limit", strconv.Itoa(q.Limit))
	w.Header().Set("X-RateLimit-Remaining", strconv.Itoa(q.Remaining))
	w.Header().Set("X-RateLimit-Reset", strconv.FormatInt(q.Reset.Unix(), 10))
	w.Header().Set("X-RateLimit-Resource", "core")
}

func (s *Server) limits(w http.ResponseWriter, token string) {
	q := cmp.Or(s.tokens[token], &Quota{Limit: 60, Remaining: 60})
	rate := Object{"limit": q.Limit, "remaining": q.Remaining, "reset": q.Reset.Unix()}
	write(w, Object{"resources": Object{"core": rate, "search": rate, "graphql": rate}})
}

func (s *Server) answerGraphQL(w http.ResponseWriter, r *http.Request) {
	var q struct {
		Variables struct {
			Number int `json:"number"`
		} `json:"variables"`
	}
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &q) != nil || s.graphql == nil {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	write(w, Object{"data": Object{"repository": Object{"issueOrPullRequest": s.graphql(q.Variables.Number)}}})
}

func (s *Server) find(w http.ResponseWriter, r *http.Request, path string) {
	if v, ok := s.objects[path]; ok {
		conditional(w, r, v)
		return
	}
	list, ok := s.lists[path]
	if !ok {
		fail(w, http.StatusNotFound, "Not Found")
		return
	}
	q := r.URL.Query()
	if q.Get("sort") == "updated" {
		list = updatedSince(list, q.Get("since"))
	}
	size, number := atoi(q.Get("per_page"), 30), atoi(q.Get("page"), 1)
	from, to := min((number-1)*size, len(list)), min(number*size, len(list))
	if to < len(list) {
		next := *r.URL
		q.Set("page", strconv.Itoa(number+1))
		next.RawQuery = q.Encode()
		w.Header().Set("Link", fmt.Sprintf(`<%s%s>; rel="next", <%s%s>; rel="last"`, s.URL, next.RequestURI(), s.URL, last(next, len(list), size)))
	}
	conditional(w, r, append([]Object{}, list[from:to]...))
}

func last(u url.URL, n, size int) string {
	q := u.Query()
	q.Set("page", strconv.Itoa((n+size-1)/size))
	u.RawQuery = q.Encode()
	return u.RequestURI()
}

func updatedSince(list []Object, since string) []Object {
	out := slices.DeleteFunc(slices.Clone(list), func(o Object) bool { return o["updated_at"].(string) < since })
	slices.SortStableFunc(out, func(a, b Object) int { return strings.Compare(a["updated_at"].(string), b["updated_at"].(string)) })
	return out
}

func atoi(s string, otherwise int) int {
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return n
	}
	return otherwise
}

// conditional answers with a tag, or says that the body is the one that the client has.
func conditional(w http.ResponseWriter, r *http.Request, v any) {
	body, err := json.Marshal(v)
	if err != nil {
		fail(w, http.StatusInternalServerError, err.Error())
		return
	}
	tag := fmt.Sprintf(`W/"%x"`, sha256.Sum256(body))
	w.Header().Set("ETag", tag)
	if r.Header.Get("If-None-Match") == tag {
		w.WriteHeader(http.StatusNotModified)
		return
	}
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_, _ = w.Write(body) // a client that went away is what some tests are about
}

func write(w http.ResponseWriter, v any) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	_ = json.NewEncoder(w).Encode(v)
}

func fail(w http.ResponseWriter, status int, message string) {
	w.Header().Set("Content-Type", "application/json; charset=utf-8")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(Object{"message": message})
}
