package judging

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"
	"syscall"

	"github.com/BurntSushi/toml"

	"sluice/judges"
	"sluice/judges/model"
)

// What becomes of a candidate when votes under the rule "all" have different codes.
const (
	DisagreeRejects = "reject"
	DisagreeHolds   = "hold"
)

// DefaultPanel is the name of the panel of judges that have none of their own.
const DefaultPanel = "default"

// Config says which models there are, who judges, and what it may cost. The zero Config has no model.
type Config struct {
	model.Config
	// Panels are by the name of the judge, besides DefaultPanel and that of judges.WriteStatement, whose first model writes statements.
	// With a single model there may be none: it judges alone.
	Panels   map[string]judges.Panel `toml:"panel"`
	Budget   Budget                  `toml:"budget"`
	Agent    Agent                   `toml:"agent"`
	Disagree string                  `toml:"disagree"` // DisagreeRejects or DisagreeHolds; "": DisagreeRejects
	// Severity is the rule from the facts of a defect to its tier; none: judges.DefaultSeverity.
	Severity judges.SeverityTable `toml:"severity"`
}

// The most that a configuration may ask for or be.
const (
	mostSamples = 25
	configBytes = 128 << 10 // TOML's reader takes quadratic time for many keys
	mostUnknown = 20        // keys that nothing reads and that are named one by one: finding the line of each takes a reading of the whole
)

// Load reads a configuration file. Everything that is wrong with it is said in one line, with its place where that is known; the error wraps
// model.ErrConfig.
func Load(path string) (Config, error) {
	c, err := load(path)
	if err != nil {
		return Config{}, fmt.Errorf("reading the configuration %s: %w: %w", path, model.ErrConfig, inLine{err})
	}
	return c, nil
}

// inLine is several faults in one line.
type inLine struct{ error }

func (l inLine) Error() string { return strings.ReplaceAll(l.error.Error(), "\n", "; ") }
func (l inLine) Unwrap() error { return l.error }

func load(path string) (c Config, err error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0) // a pipe that nobody writes to is empty
	if err != nil {
		return c, err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, configBytes+1))
	if err != nil {
		return c, err
	}
	if len(text) > configBytes {
		return c, fmt.Errorf("it is longer than %d bytes", configBytes)
	}
	return Parse(string(text))
}

// Parse reads the text of a configuration and checks it.
func Parse(text string) (c Config, err error) {
	meta, err := toml.Decode(text, &c)
	if err != nil {
		return Config{}, plain(err)
	}
	var faults []error
	unknown := slices.DeleteFunc(meta.Undecoded(), func(key toml.Key) bool {
		return len(key) > 2 && key[0] == "model" && key[1] == "extra" // whatever the endpoint understands
	})
	for _, key := range unknown[:min(len(unknown), mostUnknown)] {
		faults = append(faults, fmt.Errorf("line %d: nothing is called %s", line(text, key), key))
	}
	if more := len(unknown) - mostUnknown; more > 0 {
		faults = append(faults, fmt.Errorf("there are %d more keys that nothing reads", more))
	}
	if err := errors.Join(append(faults, c.Check())...); err != nil {
		return Config{}, err
	}
	return c, nil
}

// plain shortens what the parser says.
func plain(err error) error {
	var p toml.ParseError
	if !errors.As(err, &p) {
		return errors.New(strings.TrimPrefix(err.Error(), "toml: "))
	}
	if p.LastKey != "" {
		return fmt.Errorf("line %d, near %s: %s", p.Position.Line, p.LastKey, p.Message)
	}
	return fmt.Errorf("line %d: %s", p.Position.Line, p.Message)
}

// here is a value that cannot be decoded: the parser's complaint says where it stands.
type here struct{}

func (*here) UnmarshalTOML(any) error { return errors.New("here") }

// line finds where a key stands (of tables of the same name, in the last that has it); 0 when nobody knows.
func line(text string, key toml.Key) int {
	var table map[string]toml.Primitive
	meta, err := toml.Decode(text, &table)
	if err != nil {
		return 0
	}
	for i, name := range key {
		if i == len(key)-1 {
			var p toml.ParseError
			errors.As(meta.PrimitiveDecode(table[name], &here{}), &p)
			return p.Position.Line
		}
		var many []map[string]toml.Primitive
		next := map[string]toml.Primitive{}
		if meta.PrimitiveDecode(table[name], &many) != nil && meta.PrimitiveDecode(table[name], &next) != nil {
			return 0
		}
		for _, one := range many {
			maps.Copy(next, one)
		}
		table = next
	}
	return 0
}

// Check returns one line for each fault, joined; nil when there is none.
func (c Config) Check() error {
	faults := []error{c.Config.Check()}
	names := map[string]bool{}
	for _, m := range c.Models {
		names[m.Name] = true
	}
	for i, e := range c.Endpoints {
		if e.Total >= stale {
			faults = append(faults, fmt.Errorf("endpoint %d (%s): total: must be less than %v, after which a request counts as given up", i+1, e.Name, stale))
		}
	}
	faults = append(faults, c.Agent.check(names)...)
	for _, name := range slices.Sorted(maps.Keys(c.Panels)) {
		_, known := judges.ByName(name)
		if !known && name != DefaultPanel && name != judges.WriteStatement { // whose first model writes and repairs
			faults = append(faults, fmt.Errorf("panel.%s: no judge is called so", name))
		}
		for _, fault := range panelFaults(c.Panels[name], names) {
			faults = append(faults, fmt.Errorf("panel.%s: %s", name, fault))
		}
	}
	if _, ok := c.Panels[DefaultPanel]; !ok && len(c.Models) > 1 {
		faults = append(faults, fmt.Errorf("panel.%s: is missing; say which of the %d models judge", DefaultPanel, len(c.Models)))
	}
	if t := c.Budget.RunTokens; t != nil && *t < 0 {
		faults = append(faults, errors.New("budget.run_tokens: may not be negative"))
	}
	if !slices.Contains([]string{"", DisagreeRejects, DisagreeHolds}, c.Disagree) {
		faults = append(faults, fmt.Errorf("disagree: must be %q or %q", DisagreeRejects, DisagreeHolds))
	}
	if len(c.Severity) > 0 {
		faults = append(faults, c.Severity.Check())
	}
	return errors.Join(faults...)
}

func panelFaults(p judges.Panel, models map[string]bool) (out []string) {
	if len(p.Models) == 0 {
		out = append(out, "models: is empty; name at least one")
	}
	for i, name := range p.Models {
		if !models[name] {
			out = append(out, fmt.Sprintf("models: there is no model %q", name))
		}
		if slices.Contains(p.Models[:i], name) {
			out = append(out, fmt.Sprintf("models: %q stands twice; ask it more than once with samples", name))
		}
	}
	if p.Samples < 0 || p.Samples > mostSamples {
		out = append(out, fmt.Sprintf("samples: must be between 1 and %d, or left out", mostSamples))
	}
	if !slices.Contains([]judges.Rule{"", judges.All, judges.Majority, judges.Any}, p.Rule) {
		out = append(out, fmt.Sprintf("rule: must be %q, %q or %q", judges.All, judges.Majority, judges.Any))
	}
	return out
}

// Panel says who is asked in the name of a judge; it is empty when no model is configured.
func (c Config) Panel(judge string) judges.Panel {
	for _, name := range []string{judge, DefaultPanel} {
		if p, ok := c.Panels[name]; ok {
			return filled(p)
		}
	}
	p := judges.Panel{}
	for _, m := range c.Models {
		p.Models = append(p.Models, m.Name)
	}
	return filled(p)
}

// filled says what was left out, so that a panel's digest is the same however it was written.
func filled(p judges.Panel) judges.Panel {
	if p.Samples == 0 {
		p.Samples = 1
	}
	if p.Rule == "" {
		p.Rule = judges.All
	}
	return p
}

// Public is what others may know of a configuration: models with their parameters, panels and rules; no address, no key, no budget.
func (c Config) Public() any {
	p := struct {
		Models   map[string]model.Parameters
		Panels   map[string]judges.Panel
		Disagree string
		Agent    Agent
		Severity judges.SeverityTable
	}{map[string]model.Parameters{}, map[string]judges.Panel{DefaultPanel: c.Panel(DefaultPanel)}, c.Disagree, c.Agent, c.Severity}
	for _, m := range c.Models {
		p.Models[m.Name] = c.Parameters(m.Name)
	}
	for name := range c.Panels {
		p.Panels[name] = c.Panel(name)
	}
	return p
}

// Parallel is how many questions may be on their way at once, at all endpoints together.
func (c Config) Parallel() int {
	n := 0
	for _, e := range c.Endpoints {
		n += e.Parallel()
	}
	return n
}
