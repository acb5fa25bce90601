package model_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/BurntSushi/toml"
	"github.com/google/go-cmp/cmp"

	"sluice/judges/model"
	"sluice/judges/model/modeltest"
)

const goodConfig = `
[[endpoint]]
name = "local"
url = "http://127.0.0.1:8080/v1/"
key_file = "key"
concurrent = 16
requests_per_minute = 600
tokens_per_minute = 1e6
silence = "90s"
total = "10m"
structured = "object"
stream = true
tries = 3

[[model]]
name = "small"
endpoint = "local"
id = "vendor/small"
context = 8192
max_output = 1024
temperature = 0.7
input_usd = "0.15"
cached_usd = "0.075"
output_usd = "0.6"
extra = { seed = 7, reasoning = { effort = "low" } }
`

func TestConfig(t *testing.T) {
	t.Parallel()
	var c model.Config
	meta, err := toml.Decode(goodConfig, &c)
	if err != nil {
		t.Fatal(err)
	}
	if u := meta.Undecoded(); len(u) > 0 {
		t.Errorf("not read: %v", u)
	}
	if err := c.Check(); err != nil {
		t.Error(err)
	}
	want := model.Config{
		Endpoints: []model.Endpoint{{Name: "local", URL: "http://127.0.0.1:8080/v1/", KeyFile: "key", Concurrent: 16, RequestsPerMinute: 600,
			TokensPerMinute: 1e6, Silence: 90 * time.Second, Total: 10 * time.Minute, Structured: model.ByObject, Stream: true, Tries: 3}},
		Models: []model.Spec{{Name: "small", Endpoint: "local", ID: "vendor/small", Context: 8192, MaxOutput: 1024, Temperature: 0.7, InputUSD: "0.15",
			CachedUSD: "0.075", OutputUSD: "0.6", Extra: model.Extra{"seed": int64(7), "reasoning": map[string]any{"effort": "low"}}}},
	}
	if diff := cmp.Diff(want, c); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	p, err := c.Models[0].Parameters()
	if err != nil || p.Extra != `{"reasoning":{"effort":"low"},"seed":7}` {
		t.Errorf("%+v, %v", p, err)
	}
	client, _ := newClient(t, c, model.Options{})
	if s, ok := client.Spec("small"); !ok || s.Context != 8192 {
		t.Errorf("%+v, %v", s, ok)
	}
	if _, ok := client.Spec("large"); ok {
		t.Error("a model that is not configured is known")
	}
}

// TestConfigFaults: each fault is one line that says where it is.
func TestConfigFaults(t *testing.T) {
	t.Parallel()
	const e, m = "endpoint 1 (local): ", "model 1 (small): "
	for _, tt := range []struct{ old, new, want string }{
		{`name = "local"`, ``, "endpoint 1 (): name: is missing"},
		{`url = "http://127.0.0.1:8080/v1/"`, ``, e + "url: is missing"},
		{`http://127.0.0.1`, `127.0.0.1`, e + "url: must be like"},
		{`http://`, `ftp://`, e + "url: must be like"},
		{`http://`, `http://user:` + canary + `@`, e + "url: may hold no user"},
		{`/v1/`, `/v1?key=` + canary, e + "url: may hold no user"},
		{`/v1/`, `/v1/chat/completions`, e + "url: leave /chat/completions out"},
		{`key_file = "key"`, `key_file = "key"` + "\n" + `key_env = "K"`, e + "key_env and key_file: give one"},
		{`key_file = "key"`, `key_env = "` + canary + `"`, e + "key_env: must be the name of an environment variable"},
		{`key_file = "key"`, `key_header = "a b"`, e + "key_header: must be the name of a header"},
		{`concurrent = 16`, `concurrent = -1`, e + "concurrent: may not be negative"},
		{`= 600`, `= -1`, e + "requests_per_minute: may not be negative"},
		{`= 1e6`, `= nan`, e + "tokens_per_minute: may not be negative"},
		{`"90s"`, `"-1s"`, e + "silence: may not be negative"},
		{`"10m"`, `"-1s"`, e + "total: may not be negative"},
		{`"90s"`, `90`, e + `silence: 90ns is shorter than any answer; write it with its unit`},
		{`"10m"`, `600`, e + "total: 600ns is shorter than any answer"},
		{`tries = 3`, `tries = -3`, e + "tries: may not be negative"},
		{`"object"`, `"yaml"`, e + "structured: must be"},
		{`[[model]]`, "[[endpoint]]\nname = \"local\"\nurl = \"http://h/v1\"\n[[model]]", "endpoint 2 (local): name: is given twice"},
		{`name = "small"`, ``, "model 1 (): name: is missing"},
		{`endpoint = "local"`, `endpoint = "other"`, m + `endpoint: there is no endpoint "other"`},
		{`max_output = 1024`, ``, m + "max_output: say how many tokens"},
		{`context = 8192`, `context = 1024`, m + "context: must be larger"},
		{`context = 8192`, `context = -1`, m + "context: may not be negative"},
		{`= 0.7`, `= 2.5`, m + "temperature: must be between"},
		{`= 0.7`, "= 0.7\nno_temperature = true", m + "no_temperature and temperature"},
		{`input_usd = "0.15"`, ``, m + "input_usd: is missing"},
		{`"0.075"`, `"-1"`, m + `cached_usd: "-1" is no price`},
		{`"0.6"`, `"1e3"`, m + `output_usd: "1e3" is no price`},
		{`"0.6"`, `"0.0000001"`, m + `output_usd: "0.0000001" is no price`},
		{`"0.6"`, `"9999999"`, m + `output_usd: "9999999" is more than any model costs`},
		{`seed = 7`, `max_tokens = 7`, m + "extra.max_tokens: is set by sluice"},
		{`seed = 7`, `MAX_TOKENS = 7`, m + "extra.MAX_TOKENS: is set by sluice"},
		{`seed = 7`, `n = 7`, m + "extra.n: is set by sluice"},
		{`seed = 7`, `x = inf`, m + "extra: has a value that JSON does not know"},
	} {
		var c model.Config
		text := strings.Replace(goodConfig, tt.old, tt.new, 1)
		if _, err := toml.Decode(text, &c); err != nil {
			t.Errorf("%s: %v", tt.new, err)
			continue
		}
		err := c.Check()
		found := false
		for line := range strings.SplitSeq(fmt.Sprint(err), "\n") {
			found = found || strings.HasPrefix(line, tt.want)
		}
		if err == nil || !found || strings.Contains(err.Error(), canary) {
			t.Errorf("%s -> %s: got\n%v\nwant a line\n%s", tt.old, tt.new, err, tt.want)
		}
		if _, err := model.New(c, model.Options{Ledger: model.NewMemory(0)}); !errors.Is(err, model.ErrConfig) {
			t.Errorf("%s: a client is made of it: %v", tt.new, err)
		}
	}
}

// TestKeySources: a key comes from the environment or a file, in the header that the endpoint wants, and a bad one is named, not shown.
func TestKeySources(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return path
	}
	pipe := filepath.Join(dir, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	env := map[string]string{"GOOD": canary, "BLANK": " \n", "TWO": canary + "\n" + canary, "BELL": canary + "\a"}
	for _, tt := range []struct {
		name   string
		e      model.Endpoint
		header string // that the server gets
		value  string
		err    string
	}{
		{"none", model.Endpoint{}, "Authorization", "", ""},
		{"environment", model.Endpoint{KeyEnv: "GOOD"}, "Authorization", "Bearer " + canary, ""},
		{"file", model.Endpoint{KeyFile: file("key", canary+"\n")}, "Authorization", "Bearer " + canary, ""},
		{"other header", model.Endpoint{KeyEnv: "GOOD", KeyHeader: "api-key"}, "Api-Key", canary, ""},
		{"not set", model.Endpoint{KeyEnv: "MISSING"}, "", "", "the environment variable MISSING is empty"},
		{"blank", model.Endpoint{KeyEnv: "BLANK"}, "", "", "the environment variable BLANK is empty"},
		{"two lines", model.Endpoint{KeyEnv: "TWO"}, "", "", "characters that no key has: look at the environment variable TWO"},
		{"control", model.Endpoint{KeyEnv: "BELL"}, "", "", "characters that no key has"},
		{"no file", model.Endpoint{KeyFile: filepath.Join(dir, "no")}, "", "", "no such file"},
		{"empty file", model.Endpoint{KeyFile: file("empty", "")}, "", "", "is empty"},
		{"large file", model.Endpoint{KeyFile: file("large", strings.Repeat("x", 20000))}, "", "", "holds more than a key"},
		{"device without end", model.Endpoint{KeyFile: "/dev/zero"}, "", "", "holds more than a key"},
		{"pipe that nobody writes to", model.Endpoint{KeyFile: pipe}, "", "", "is empty"},
		{"folder", model.Endpoint{KeyFile: dir}, "", "", "is a directory"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var got, stray string
			s := modeltest.New(t, func(r modeltest.Request) modeltest.Reply {
				got = r.Header.Get(tt.header)
				for name := range r.Header {
					if v := r.Header.Get(name); name != tt.header && strings.Contains(v, canary) {
						stray = name
					}
				}
				return modeltest.Text("good")
			})
			config := s.Config("m")
			tt.e.Name, tt.e.URL = "test", s.URL
			config.Endpoints[0] = tt.e
			c, _ := newClient(t, config, model.Options{Getenv: func(k string) string { return env[k] }})
			_, err := c.Ask(t.Context(), ask("why?"), model.Charge{})
			if tt.err == "" && (err != nil || got != tt.value || stray != "") {
				t.Errorf("%v; the server got %q, and the key in %q", err, got, stray)
			}
			if tt.err != "" && (!errors.Is(err, model.ErrConfig) || !strings.Contains(err.Error(), tt.err) || strings.Contains(err.Error(), canary) || s.Requests() > 0) {
				t.Errorf("got %v, want %s; %d requests", err, tt.err, s.Requests())
			}
		})
	}
}
