package node

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// command is one command of a script: its variables and its literal words. A word that a shell would have to compute ends it.
type command struct {
	env   map[string]string
	words []string
}

// scriptBytes bounds a script that is read.
const scriptBytes = 16 << 10

// commands are the simple commands of a script in order.
func commands(script string) []command {
	if len(script) > scriptBytes {
		return nil
	}
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(script), "")
	if err != nil {
		return nil
	}
	var out []command
	syntax.Walk(file, func(n syntax.Node) bool {
		call, ok := n.(*syntax.CallExpr)
		if !ok || len(call.Args) == 0 {
			return true
		}
		c := command{env: map[string]string{}}
		for _, a := range call.Assigns {
			if v, ok := literal(a.Value); ok && a.Name != nil {
				c.env[a.Name.Value] = v
			}
		}
		for _, w := range call.Args {
			v, ok := literal(w)
			if !ok {
				break
			}
			c.words = append(c.words, v)
		}
		out = append(out, unwrap(c))
		return true
	})
	return out
}

func literal(w *syntax.Word) (string, bool) {
	if w == nil {
		return "", true
	}
	var b strings.Builder
	for _, p := range w.Parts {
		switch p := p.(type) {
		case *syntax.Lit:
			b.WriteString(strings.ReplaceAll(p.Value, `\`, ""))
		case *syntax.SglQuoted:
			b.WriteString(p.Value)
		case *syntax.DblQuoted:
			for _, q := range p.Parts {
				l, ok := q.(*syntax.Lit)
				if !ok {
					return "", false
				}
				b.WriteString(strings.ReplaceAll(l.Value, `\"`, `"`))
			}
		default:
			return "", false
		}
	}
	return b.String(), true
}

// wrappers are commands that run another: coverage, variables, the package manager's way to start a tool.
var wrappers = []string{"cross-env", "cross-env-shell", "env", "nyc", "c8", "npx", "exec", "dotenv", "istanbul", "cover", "time"}

// unwrap takes variables and wrappers from the front of a command.
func unwrap(c command) command {
	for len(c.words) > 1 {
		k, v, assigns := strings.Cut(c.words[0], "=")
		switch {
		case assigns && k != "" && !strings.ContainsAny(k, "-/ "):
			c.env[k] = v
		case slices.Contains(wrappers, c.words[0]) && !strings.HasPrefix(c.words[1], "-"), c.words[0] == "--":
		default:
			return c
		}
		c.words = c.words[1:]
	}
	return c
}

// runs names the script that a command runs, or "".
func (c command) runs() string {
	w := c.words
	if len(w) < 2 || !slices.Contains([]string{"npm", "yarn", "pnpm", "run-s", "npm-run-all"}, w[0]) {
		return ""
	}
	rest := slices.DeleteFunc(slices.Clone(w[1:]), func(s string) bool { return strings.HasPrefix(s, "-") || s == "run" || s == "run-script" })
	switch {
	case len(rest) == 0:
		return ""
	case rest[0] == "t", rest[0] == "tst":
		return "test"
	}
	return rest[0]
}

// What is read of the scripts that a script runs: how far down, and how many commands in all. A script may run itself, many times.
const (
	maxDepth    = 4
	maxCommands = 500
)

// chain lists the commands of a script with those of the scripts that it runs in their place, a "pre" script first.
func (m *manifest) chain(name string) []step {
	left := maxCommands
	return m.expand(name, maxDepth, &left)
}

func (m *manifest) expand(name string, depth int, left *int) []step {
	var out []step
	if _, ok := m.Scripts["pre"+name]; ok && depth > 0 {
		out = append(out, step{script: "pre" + name, inner: m.expand("pre"+name, depth-1, left)})
	}
	for _, c := range m.commands(name) {
		if *left--; *left < 0 {
			break
		}
		if s := c.runs(); s != "" && depth > 0 && m.Scripts[s] != "" {
			out = append(out, step{script: s, inner: m.expand(s, depth-1, left)})
			continue
		}
		out = append(out, step{command: c})
	}
	return out
}

// commands are those of a script of the manifest, which is parsed once.
func (m *manifest) commands(name string) []command {
	list, ok := m.parsed[name]
	if !ok {
		if m.parsed == nil {
			m.parsed = map[string][]command{}
		}
		list = commands(m.Scripts[name])
		m.parsed[name] = list
	}
	return list
}

// step is a command, or a script with what it runs.
type step struct {
	command command
	script  string
	inner   []step
}

// flat are the commands below a step.
func (s step) flat() []command {
	if s.script == "" {
		return []command{s.command}
	}
	var out []command
	for _, i := range s.inner {
		out = append(out, i.flat()...)
	}
	return out
}

// Call is how a script starts a tool.
type Call struct {
	Env  map[string]string
	Node []string // options of node itself
	Args []string // options and files of the tool
}

// call finds the tool in a command: its name, a path to it, or node with one of the two.
func (c command) call(names []string) (Call, bool) {
	for i, w := range c.words {
		base := path.Base(w)
		if !slices.Contains(names, base) && !slices.Contains(names, strings.TrimSuffix(strings.TrimSuffix(base, ".mjs"), ".js")) {
			continue
		}
		before := c.words[:i]
		if len(before) > 0 && path.Base(before[0]) != "node" && !starters[before[0]] {
			return Call{}, false
		}
		got := Call{Env: c.env, Args: c.words[i+1:]}
		if len(before) > 1 && path.Base(before[0]) == "node" {
			got.Node = before[1:]
		}
		return got, true
	}
	return Call{}, false
}

// starters are what may stand before a tool.
var starters = map[string]bool{
	"npm": true, "yarn": true, "pnpm": true, "npx": true, "tsx": true, "bunx": true, "nyc": true, "c8": true, "dotenv": true, "istanbul": true,
}
