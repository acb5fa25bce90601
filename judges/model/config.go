package model

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
)

// Config names endpoints and the models that they serve. Keys are never part of it, only where they are.
type Config struct {
	Endpoints []Endpoint `toml:"endpoint"`
	Models    []Spec     `toml:"model"`
}

// Ways to make an endpoint follow a schema, strictest first.
const (
	BySchema = "schema" // response_format json_schema
	ByObject = "object" // response_format json_object, the schema in the text
	ByPrompt = "prompt" // the schema in the text alone
)

// Endpoint is a server that speaks OpenAI's protocol, and how hard it may be pressed.
type Endpoint struct {
	Name      string `toml:"name"`
	URL       string `toml:"url"`        // what stands before /chat/completions: "https://host/v1"
	KeyEnv    string `toml:"key_env"`    // name of the environment variable that holds the key
	KeyFile   string `toml:"key_file"`   // or of the file
	KeyHeader string `toml:"key_header"` // "": "Authorization: Bearer …"; else a header that holds the bare key

	Concurrent        int     `toml:"concurrent"`          // requests at once; 0: 4
	RequestsPerMinute float64 `toml:"requests_per_minute"` // 0: no limit
	TokensPerMinute   float64 `toml:"tokens_per_minute"`   // both ways, estimated before; 0: no limit

	Silence time.Duration `toml:"silence"` // the longest time without a byte; 0: 3 minutes. Without stream a model is silent while it thinks
	Total   time.Duration `toml:"total"`   // the longest time of one request; 0: 15 minutes
	Tries   int           `toml:"tries"`   // requests for one question, the first included; 0: 5

	// Structured fixes how schemas are enforced: "schema", "object" or "prompt". "": in this order until one is not refused; what
	// works is remembered for each model while the process lives.
	Structured string `toml:"structured"`
	Stream     bool   `toml:"stream"` // replies come in pieces, so that silence tells a dead server from a slow one
}

// Spec is a model that can be asked.
type Spec struct {
	Name          string  `toml:"name"`           // how panels call it
	Endpoint      string  `toml:"endpoint"`       // the name of its endpoint
	ID            string  `toml:"id"`             // as the endpoint knows it; "": the name
	Context       int     `toml:"context"`        // tokens that it can hold, both ways; 0: not known
	MaxOutput     int     `toml:"max_output"`     // tokens of a reply; always sent
	Temperature   float64 `toml:"temperature"`    //
	NoTemperature bool    `toml:"no_temperature"` // the model takes no temperature: none is sent

	// Dollars per million tokens, as decimal text. They must be said; "0" is a model that costs nothing.
	InputUSD  string `toml:"input_usd"`
	CachedUSD string `toml:"cached_usd"` // input that the endpoint had in its own cache; "": as input
	OutputUSD string `toml:"output_usd"`

	Extra Extra `toml:"extra"` // other fields of the request's body; part of the key
}

// Extra are fields of a request's body by name. It reads itself from TOML, so that a strict reader takes all that is in it for known.
type Extra map[string]any

// UnmarshalTOML takes a table as it is.
func (e *Extra) UnmarshalTOML(v any) error {
	m, ok := v.(map[string]any)
	if !ok {
		return errors.New("extra: must be a table of fields")
	}
	*e = m
	return nil
}

// The defaults of an endpoint.
const (
	defaultConcurrent = 4
	defaultTries      = 5
	defaultSilence    = 3 * time.Minute
	defaultTotal      = 15 * time.Minute
)

// ours are the fields of a request's body that the client sets.
var ours = []string{"model", "messages", "max_tokens", "max_completion_tokens", "temperature", "stream", "stream_options", "response_format",
	"n", "tools", "tool_choice", "functions", "function_call"}

// Check returns one line for each fault, joined; nil when there is none.
func (c Config) Check() error {
	var faults []error
	names := map[string]bool{}
	for i, e := range c.Endpoints {
		where := fmt.Sprintf("endpoint %d (%s)", i+1, e.Name)
		faults = append(faults, lines(where, append(e.faults(), unique(names, e.Name)...))...)
	}
	models := map[string]bool{}
	for i, s := range c.Models {
		where := fmt.Sprintf("model %d (%s)", i+1, s.Name)
		found := append(s.faults(), unique(models, s.Name)...)
		if !names[s.Endpoint] {
			found = append(found, fmt.Sprintf("endpoint: there is no endpoint %q", s.Endpoint))
		}
		faults = append(faults, lines(where, found)...)
	}
	return errors.Join(faults...)
}

func lines(where string, faults []string) (out []error) {
	for _, f := range faults {
		out = append(out, errors.New(where+": "+f))
	}
	return out
}

func unique(seen map[string]bool, name string) []string {
	defer func() { seen[name] = true }()
	switch {
	case name == "":
		return []string{"name: is missing"}
	case seen[name]:
		return []string{"name: is given twice"}
	}
	return nil
}

// environment is what a variable may be called; what is not may be a key in the wrong place, and is not printed.
var environment = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

func (e Endpoint) faults() (out []string) {
	add := func(bad bool, text string) {
		if bad {
			out = append(out, text)
		}
	}
	u, err := url.Parse(e.URL)
	switch {
	case e.URL == "":
		add(true, `url: is missing; give what stands before /chat/completions, for instance "https://host/v1"`)
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		add(true, `url: must be like "https://host/v1"`)
	default:
		add(u.User != nil || u.RawQuery != "" || u.Fragment != "", "url: may hold no user, query or fragment; give the key by key_env or key_file")
		add(strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"), "url: leave /chat/completions out, it is added")
	}
	add(e.KeyEnv != "" && e.KeyFile != "", "key_env and key_file: give one of them")
	add(e.KeyEnv != "" && !environment.MatchString(e.KeyEnv), "key_env: must be the name of an environment variable, not the key itself")
	add(e.KeyHeader != "" && !headerName.MatchString(e.KeyHeader), "key_header: must be the name of a header")
	add(e.Concurrent < 0, "concurrent: may not be negative")
	add(!(e.RequestsPerMinute >= 0), "requests_per_minute: may not be negative")
	add(!(e.TokensPerMinute >= 0), "tokens_per_minute: may not be negative")
	out = append(out, timeFaults("silence", e.Silence)...)
	out = append(out, timeFaults("total", e.Total)...)
	add(e.Tries < 0, "tries: may not be negative")
	add(!slices.Contains([]string{"", BySchema, ByObject, ByPrompt}, e.Structured), `structured: must be "schema", "object", "prompt" or nothing`)
	return out
}

// timeFaults also refuses a number without a unit, which TOML's reader takes for nanoseconds: each request would end, perhaps paid, before
// its answer.
func timeFaults(name string, d time.Duration) []string {
	switch {
	case d < 0:
		return []string{name + ": may not be negative"}
	case d > 0 && d < time.Millisecond:
		return []string{fmt.Sprintf(`%s: %v is shorter than any answer; write it with its unit, like "3m"`, name, d)}
	}
	return nil
}

var headerName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]*$`)

func (s Spec) faults() (out []string) {
	add := func(bad bool, text string) {
		if bad {
			out = append(out, text)
		}
	}
	add(s.MaxOutput <= 0, "max_output: say how many tokens a reply may have")
	add(s.Context < 0, "context: may not be negative")
	add(s.Context > 0 && s.Context <= s.MaxOutput, "context: must be larger than max_output")
	add(!(s.Temperature >= 0 && s.Temperature <= 2), "temperature: must be between 0 and 2")
	add(s.NoTemperature && s.Temperature != 0, "no_temperature and temperature: give one of them")
	for _, p := range []struct {
		name, text string
		optional   bool
	}{{"input_usd", s.InputUSD, false}, {"cached_usd", s.CachedUSD, true}, {"output_usd", s.OutputUSD, false}} {
		if p.text == "" && p.optional {
			continue
		}
		if _, err := parseUSD(p.text); err != nil {
			add(true, p.name+": "+err.Error())
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Extra)) {
		// Some servers read names in any spelling: a second MAX_TOKENS would undo the limit that money was put aside for.
		add(slices.Contains(ours, strings.ToLower(name)), "extra."+name+": is set by sluice; leave it out")
	}
	_, err := s.extra()
	add(err != nil, "extra: has a value that JSON does not know")
	return out
}

// extra are the further fields of the body as canonical JSON, "" for none. A null takes a field out.
func (s Spec) extra() (string, error) {
	fields := maps.Clone(s.Extra)
	if s.NoTemperature {
		if fields == nil {
			fields = Extra{}
		}
		fields["temperature"] = nil
	}
	if len(fields) == 0 {
		return "", nil
	}
	b, err := json.Marshal(fields)
	return string(b), err
}

// Parameters are the settings of the model that are part of every key.
func (s Spec) Parameters() (Parameters, error) {
	extra, err := s.extra()
	if err != nil {
		return Parameters{}, fmt.Errorf("model %s: extra fields: %w", s.Name, err)
	}
	return Parameters{ID: cmp.Or(s.ID, s.Name), Temperature: s.Temperature, MaxOutput: s.MaxOutput, Extra: extra}, nil
}

// Parallel is how many requests the endpoint may have on their way at once.
func (e Endpoint) Parallel() int { return e.withDefaults().Concurrent }

// withDefaults fills what was left out.
func (e Endpoint) withDefaults() Endpoint {
	e.URL = strings.TrimRight(e.URL, "/")
	e.Concurrent = cmp.Or(e.Concurrent, defaultConcurrent)
	e.Silence = cmp.Or(e.Silence, defaultSilence)
	e.Total = cmp.Or(e.Total, defaultTotal)
	e.Tries = cmp.Or(e.Tries, defaultTries)
	return e
}
