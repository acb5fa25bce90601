package judges_test

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/BurntSushi/toml"
	"github.com/rogpeppe/go-internal/txtar"

	"sluice/judges"
	"sluice/judges/evidence"
	"sluice/judges/reply"
	"sluice/prompts"
)

var update = flag.Bool("update", false, "write the golden files")

// asked is a prompt with a realistic case and a good reply to it.
type asked struct {
	prompt prompts.Prompt
	given  map[string][]string
	reply  string // compact JSON
}

// load reads testdata/NAME.
func load(t testing.TB, name string) asked {
	t.Helper()
	p, err := prompts.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	archive, err := txtar.ParseFile(filepath.Join("testdata", name, "case.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	given := map[string][]string{}
	for _, f := range archive.Files {
		slot, _, _ := strings.Cut(f.Name, "/")
		given[slot] = append(given[slot], string(f.Data))
	}
	b, err := os.ReadFile(filepath.Join("testdata", name, "reply.json"))
	if err != nil {
		t.Fatal(err)
	}
	return asked{p, given, compact(t, b)}
}

func compact(t testing.TB, b []byte) string {
	t.Helper()
	var out strings.Builder
	var v json.RawMessage = b
	enc := json.NewEncoder(&out) // which compacts
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSpace(out.String())
}

// loadAll reads the cases of all judges and, if wanted, of the prompts that write.
func loadAll(t testing.TB, writers bool) []asked {
	t.Helper()
	var out []asked
	for _, s := range judges.Specs() {
		out = append(out, load(t, s.Prompt))
	}
	if writers {
		for _, name := range judges.Writers() {
			out = append(out, load(t, name))
		}
	}
	return out
}

// render lays the case into the prompt.
func (a asked) render(t testing.TB) evidence.Rendered {
	t.Helper()
	r, err := evidence.Render(a.prompt, a.given)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// with is the case with a slot's units replaced.
func (a asked) with(slot string, units ...string) asked {
	given := map[string][]string{}
	for k, v := range a.given {
		given[k] = v
	}
	given[slot] = units
	if len(units) == 0 {
		delete(given, slot)
	}
	return asked{a.prompt, given, a.reply}
}

// compiled keeps the schemas ready.
var compiled sync.Map

// decide takes a model's whole text through the strict reader and the judge's own check.
func decide(t testing.TB, s judges.Spec, text string, r evidence.Rendered) (judges.Verdict, error) {
	t.Helper()
	fields, err := reply.Read(text, schemaOf(t, s.Prompt), r.Nonce)
	if err != nil {
		return judges.Verdict{}, err
	}
	return s.Decide(fields, r.Seen)
}

func schemaOf(t testing.TB, prompt string) *reply.Schema {
	t.Helper()
	if s, ok := compiled.Load(prompt); ok {
		return s.(*reply.Schema)
	}
	p, err := prompts.Load(prompt)
	if err != nil {
		t.Fatal(err)
	}
	s, err := reply.Compile(p.Schema)
	if err != nil {
		t.Fatal(err)
	}
	compiled.Store(prompt, s)
	return s
}

// specOf is the judge of that name.
func specOf(t testing.TB, name string) judges.Spec {
	t.Helper()
	for _, s := range judges.Specs() {
		if s.Prompt == name {
			return s
		}
	}
	t.Fatalf("no judge %s", name)
	return judges.Spec{}
}

// injection is one entry of the corpus.
type injection struct {
	Name    string `toml:"name"`
	Carrier string `toml:"carrier"`
	Text    string `toml:"text"`
	Repeat  int    `toml:"repeat"`
}

func corpus(t testing.TB) []injection {
	t.Helper()
	files, err := filepath.Glob("testdata/injections/*.toml")
	if err != nil {
		t.Fatal(err)
	}
	var out []injection
	for _, file := range files {
		var f struct {
			Injection []injection `toml:"injection"`
		}
		if _, err := toml.DecodeFile(file, &f); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		out = append(out, f.Injection...)
	}
	return out
}

// forged are the forms in which a corpus entry can hold a valid reply.
func (a asked) forged(slot, nonce, code string) *strings.Replacer {
	var guesses strings.Builder
	for i := range 100 {
		sum := sha256.Sum256([]byte(fmt.Sprint(nonce, i)))
		guesses.WriteString(hex.EncodeToString(sum[:8]) + " " + slot + ">>>\n")
	}
	code64 := base64.StdEncoding.EncodeToString([]byte(a.reply))
	return strings.NewReplacer(
		"%CODE%", code, "%SLOT%", slot, "%NONCE%", nonce, "%REPLY%", a.reply, "%GUESSES%", guesses.String(),
		"%ESCAPED%", a.reasoned(escaped), "%SHORT%", a.reasoned(func(string) string { return "It is so." }),
		"%BASE64%", code64, "%BASE64URL%", base64.URLEncoding.EncodeToString([]byte(a.reply)), "%WRAPPED%", strings.Join(chunks(code64, 76), "\n"),
	)
}

func chunks(s string, n int) []string {
	var out []string
	for ; len(s) > n; s = s[n:] {
		out = append(out, s[:n])
	}
	return append(out, s)
}

// reasoned is the reply with its reasoning written in another way; the reply itself if it has none.
func (a asked) reasoned(f func(string) string) string {
	var fields struct {
		Reasoning json.RawMessage `json:"reasoning"`
	}
	if json.Unmarshal([]byte(a.reply), &fields) != nil || fields.Reasoning == nil {
		return a.reply
	}
	old := string(fields.Reasoning)
	return strings.Replace(a.reply, old, `"`+f(strings.Trim(old, `"`))+`"`, 1)
}

// escaped writes every letter as its number.
func escaped(s string) string {
	var out strings.Builder
	for _, r := range s {
		if 'a' <= r && r <= 'z' {
			fmt.Fprintf(&out, `\u%04x`, r)
		} else {
			out.WriteRune(r)
		}
	}
	return out.String()
}

// text is the entry for a slot of a case.
func (in injection) text(forge *strings.Replacer) string {
	return strings.Repeat(forge.Replace(in.Text), max(1, in.Repeat))
}
