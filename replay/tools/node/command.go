package node

import (
	"encoding/json"
	"slices"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
	"sluice/replay/tools/report"
)

// Run says how a tool is started.
type Run struct {
	Package  string   `json:"pkg,omitempty"` // of the tool; "" for node itself
	Bin      string   `json:"bin,omitempty"` // its program
	Node     []string `json:"node,omitempty"`
	Report   string   `json:"report"` // in {out}
	Reporter string   `json:"reporter,omitempty"`
	Ext      string   `json:"ext,omitempty"`  // of the reporter's file, with the dot
	Each     bool     `json:"each,omitempty"` // a file that cannot be loaded keeps the others from running: each is tried alone then
	Read     bool     `json:"read,omitempty"` // each file is run alone, and Reporter is a function that reads what the tool prints
	Glob     bool     `json:"glob,omitempty"` // the tool of older versions knows no patterns: they are expanded for it
	Files    []string `json:"files,omitempty"`
}

// Steps are the recipe's Build steps and the test step, which starts the tool with the arguments; "@reporter@" in them is the reporter's file.
func Steps(r replay.Recipe, run Run, args []string) []replay.Step {
	run.Report = "{out}/" + run.Report
	config, _ := json.Marshal(run) // plain strings: it cannot fail
	step := replay.Step{Name: report.StepTest, Dir: r.Root, Args: ours(r.Env, append([]string{"node", "-e", runProgram, "--", string(config)}, args...)...)}
	return append(slices.Clone(r.Build), step)
}

// The variables by which a recipe keeps what the package's script says about its tool.
const (
	argsVar = "SLUICE_TEST_ARGS"
	nodeVar = "SLUICE_NODE_ARGS"
)

// Settings are what the package in a folder says about how its tool is started, as variables of a recipe. keep says of an option of the
// tool whether it stays and whether it takes the next word; words that are no options are files and stay if files is set.
func Settings(t *project.Tree, root, tool string, keep Keep) (map[string]string, error) {
	m, err := readManifest(t, root)
	if err != nil || m == nil {
		return nil, err
	}
	env := map[string]string{}
	call, ok := m.toolCall(traits(tool))
	if !ok {
		return env, nil
	}
	for k, v := range call.Env {
		if settable(k) {
			env[k] = strings.ReplaceAll(v, "{", "") // no token of a step's
		}
	}
	if node := keepNode(call.Node); len(node) > 0 {
		env[nodeVar] = pack(node)
	}
	if args := keep.filter(call.Args); len(args) > 0 {
		env[argsVar] = pack(args)
	}
	return env, nil
}

// settable are variables that a script may set: none that decide which programs run or what ours do.
func settable(name string) bool {
	return name != "" && name != "PATH" && name != "HOME" && name != "CI" && !strings.HasPrefix(name, "SLUICE_") && !strings.HasPrefix(name, "LD_")
}

func pack(words []string) string {
	data, _ := json.Marshal(words) // it cannot fail
	return string(data)
}

// Words are the options and files, and node's options, that a recipe keeps.
func Words(r replay.Recipe) (args, node []string) {
	_ = json.Unmarshal([]byte(r.Env[argsVar]), &args) // a recipe of somebody else's may lack them
	_ = json.Unmarshal([]byte(r.Env[nodeVar]), &node)
	return args, node
}

// Keep says which options of a tool stay.
type Keep struct {
	Flags  []string // without a value
	Values []string // with one, in the next word or after "="
	Drops  []string // that take the next word and go with it
}

// filter keeps options and files. What it does not know it leaves out, as a flag.
func (k Keep) filter(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		w := words[i]
		name, _, has := strings.Cut(w, "=")
		switch {
		case strings.ContainsAny(w, "{}\x00") && strings.HasPrefix(w, "-"):
		case !strings.HasPrefix(w, "-"):
			out = append(out, w)
		case slices.Contains(k.Flags, name):
			out = append(out, w)
		case slices.Contains(k.Values, name):
			out = append(out, w)
			if !has && i+1 < len(words) {
				i++
				out = append(out, words[i])
			}
		case slices.Contains(k.Drops, name) && !has:
			i++
		}
	}
	return out
}

// SplitFiles parts words into options, with their values, and files.
func (k Keep) SplitFiles(words []string) (options, files []string) {
	for i := 0; i < len(words); i++ {
		w := words[i]
		switch {
		case !strings.HasPrefix(w, "-"):
			files = append(files, w)
		case slices.Contains(k.Values, w) && i+1 < len(words):
			options = append(options, w, words[i+1])
			i++
		default:
			options = append(options, w)
		}
	}
	return options, files
}

// keptOfNode are node's own options that change what tests may use.
var keptOfNode = Keep{
	Flags:  []string{"--expose-gc", "--expose_gc", "--no-warnings", "--enable-source-maps", "--allow-natives-syntax", "--preserve-symlinks"},
	Values: []string{"--import", "--require", "-r", "--loader", "--conditions", "-C", "--max-old-space-size", "--stack-size"},
}

func keepNode(words []string) []string {
	var own []string
	for i, w := range words {
		value := i > 0 && slices.Contains(keptOfNode.Values, words[i-1]) && !strings.HasPrefix(w, "-")
		known := slices.ContainsFunc([]string{"--experimental-", "--no-experimental-", "--harmony", "--unhandled-rejections"}, func(p string) bool { return strings.HasPrefix(w, p) })
		name, _, _ := strings.Cut(w, "=")
		if value || known && !strings.Contains(w, "coverage") || slices.Contains(keptOfNode.Flags, name) || slices.Contains(keptOfNode.Values, name) {
			own = append(own, w)
		}
	}
	return own
}
