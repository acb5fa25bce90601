package operation

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// tool is a package manager: after one of its verbs come packages.
type tool struct {
	verbs  []string // with their nouns: "pip install"; "" when packages follow at once
	valued string   // options that take a value which is no package
	asks   bool     // a package of the system that has the project's name is a question, not a breach
}

// tools but pip, git and the downloaders.
var tools = map[string]tool{
	"uv":           {verbs: []string{"pip install", "pip download", "add", "tool install", "tool run", "run"}, valued: "--python -p --index-url -i --group --extra --index --cache-dir"},
	"uvx":          {verbs: []string{""}, valued: "--python -p"},
	"pipx":         {verbs: []string{"install", "run", "inject", "upgrade"}, valued: "--python --index-url -i --spec"},
	"poetry":       {verbs: []string{"add", "self add"}, valued: "--group -G --source -C"},
	"pdm":          {verbs: []string{"add"}, valued: "-G --group -p"},
	"pipenv":       {verbs: []string{"install"}, valued: "-r --python"},
	"rye":          {verbs: []string{"add", "install"}},
	"conda":        {verbs: []string{"install", "create", "env create", "update"}, valued: "-n --name -c --channel -p --prefix -f --file"},
	"mamba":        {verbs: []string{"install", "create", "update"}, valued: "-n --name -c --channel -p --prefix -f --file"},
	"micromamba":   {verbs: []string{"install", "create"}, valued: "-n --name -c --channel -p --prefix -f --file"},
	"easy_install": {verbs: []string{""}, valued: "-i -f -d"},
	"npm":          {verbs: []string{"install", "i", "add", "pack", "ci", "update", "exec", "link", "in", "isntall"}, valued: "--prefix --registry --tag -w --workspace"},
	"pnpm":         {verbs: []string{"install", "i", "add", "dlx", "update", "exec"}, valued: "--filter -F --registry -C --dir"},
	"yarn":         {verbs: []string{"add", "global add", "dlx", "upgrade"}, valued: "--registry --cwd"},
	"npx":          {verbs: []string{""}, valued: "-c --call"},
	"bunx":         {verbs: []string{""}},
	"cargo":        {verbs: []string{"install", "add", "binstall", "update"}, valued: "--version --vers --root --path --features -F --profile --target --bin --example -p"},
	"go":           {verbs: []string{"get", "install", "run", "mod download"}, valued: "-C -o -p -tags -ldflags -gcflags -modfile -mod"},
	"gem":          {verbs: []string{"install", "fetch"}, valued: "-v --version -i -s --source"},
	"bundle":       {verbs: []string{"add"}},
	"composer":     {verbs: []string{"require", "global require", "create-project"}},
	"apt":          {verbs: []string{"install"}, valued: "-t -o -c", asks: true},
	"apt-get":      {verbs: []string{"install", "source", "download"}, valued: "-t -o -c", asks: true},
	"dnf":          {verbs: []string{"install"}, asks: true},
	"yum":          {verbs: []string{"install"}, asks: true},
	"apk":          {verbs: []string{"add"}, valued: "-t -X --repository", asks: true},
	"brew":         {verbs: []string{"install"}, asks: true},
}

// packages takes the words after the tool's verb that are packages; ok is false for another verb.
func (t tool) packages(args []string) (words []string, ok bool) {
	plain := operands(args, strings.Fields(t.valued))
	for _, v := range t.verbs {
		parts := strings.Fields(v)
		if len(plain) >= len(parts) && slices.Equal(plain[:len(parts)], parts) {
			return plain[len(parts):], true
		}
	}
	return nil, slices.ContainsFunc(plain[:min(2, len(plain))], func(w string) bool { return strings.Contains(w, unknown) })
}

// operands are the arguments that are no options and no values of options.
func operands(args, valued []string) []string {
	var out []string
	for i := 0; i < len(args); i++ {
		switch a := args[i]; {
		case slices.Contains(valued, a):
			i++
		case strings.HasPrefix(a, "-") && a != "-":
		default:
			out = append(out, a)
		}
	}
	return out
}

func (f fetch) tool(name string, t tool, args []string) (guilt, string) {
	if name == "uv" && len(args) > 1 && args[0] == "pip" {
		return f.pip(args[1:])
	}
	if name == "go" {
		return f.goModules(t, args)
	}
	words, ok := t.packages(args)
	if !ok {
		return innocent, ""
	}
	if words == nil && slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, unknown) }) {
		return maybe, name + " does something that the text does not show"
	}
	for i, a := range args { // uv run --with NAME, npx -p NAME, cargo --git URL
		if (a == "--with" || a == "--from" || a == "--package" || a == "-p" && name == "npx" || a == "--git" || a == "--spec") && i+1 < len(args) {
			words = append(words, args[i+1])
		}
	}
	if (name == "uv" || name == "npm" || name == "pnpm") && len(args) > 0 && (args[0] == "run" || args[0] == "exec") && len(words) > 0 && !slices.Contains(args, "--with") {
		return innocent, "" // a program of the project
	}
	return f.words(words, t.asks)
}

// words judges packages of any registry: name, name@version, name==version, scope/name, an address.
func (f fetch) words(words []string, asks bool) (guilt, string) {
	worst, why := innocent, ""
	for _, w := range words {
		g, what := f.own.requirement(w)
		if g == innocent {
			g, what = f.own.versioned(w)
		}
		if asks && g == innocent {
			for _, prefix := range []string{"python3-", "python-", "golang-", "node-", "lib"} {
				if rest, ok := strings.CutPrefix(w, prefix); ok && f.own.names[normal(rest)] {
					g, what = maybe, "installs a system package of the project's name: "+w
				}
			}
		}
		if asks && g == sure {
			g = maybe
		}
		if g > worst {
			worst, why = g, what
		}
	}
	return worst, why
}

// versioned judges name@version as npm, cargo and Go have it, names with scopes and paths included.
func (s self) versioned(w string) (guilt, string) {
	name := w
	if i := strings.LastIndexByte(w, '@'); i > 0 {
		name = w[:i]
	}
	if s.names[normal(name)] || strings.HasPrefix(w, "github:") && s.address(w) == sure || s.repo != "" && strings.EqualFold(name, s.repo) {
		return sure, "fetches a release of the project itself: " + w
	}
	return innocent, ""
}

// goModules: without a version, go takes its own module from the tree.
func (f fetch) goModules(t tool, args []string) (guilt, string) {
	words, ok := t.packages(args)
	if !ok {
		return innocent, ""
	}
	if len(args) > 0 && args[0] == "run" && len(words) > 1 {
		words = words[:1] // the rest goes to the program
	}
	for _, w := range words {
		module, version, at := strings.Cut(w, "@")
		if strings.Contains(w, unknown) {
			return maybe, "go fetches something that the text does not show"
		}
		if !at || version == "none" {
			continue
		}
		low := strings.ToLower(module)
		for _, own := range f.own.all {
			if low == own || strings.HasPrefix(low, own+"/") {
				return sure, "fetches a release of the project itself: " + w
			}
		}
		if f.own.address(module) == sure {
			return sure, "fetches a release of the project itself: " + w
		}
	}
	return innocent, ""
}

const pipValued = "-i --index-url --extra-index-url -f --find-links -t --target --prefix --root --src -c --constraint --python -p " +
	"--platform --python-version --implementation --abi --log --proxy --cert --client-cert --retries --timeout --cache-dir --no-binary " +
	"--only-binary --trusted-host --upgrade-strategy --progress-bar -C --config-settings --global-option --report --exists-action " +
	"--use-feature --group --extra -d --dest -w --wheel-dir --root-user-action --exclude --override --overrides --resolution -o"

// pip judges `pip install …` and what it reads.
func (f fetch) pip(args []string) (guilt, string) {
	plain := operands(args, strings.Fields(pipValued+" -r --requirement -e --editable"))
	if len(plain) == 0 || !slices.Contains([]string{"install", "download", "wheel", "sync"}, plain[0]) {
		if len(plain) > 0 && strings.Contains(plain[0], unknown) {
			return maybe, "pip does something that the text does not show"
		}
		return innocent, ""
	}
	worst, why := f.words(plain[1:], false)
	note := func(g guilt, what string) {
		if g > worst {
			worst, why = g, what
		}
	}
	for i, a := range args {
		option, value, joined := strings.Cut(a, "=")
		if !joined && i+1 < len(args) {
			value = args[i+1]
		}
		if short := strings.HasPrefix(a, "-r") || strings.HasPrefix(a, "-e"); short && len(a) > 2 && a[1] != '-' {
			option, value = a[:2], a[2:]
		}
		switch option {
		case "-e", "--editable":
			note(f.own.requirement(value))
		case "-r", "--requirement":
			note(f.requirements(value, 0))
		case "-f", "--find-links", "-i", "--index-url", "--extra-index-url":
			if f.own.address(value) == sure {
				note(sure, "looks for packages at the project's own address")
			}
		}
	}
	return worst, why
}

// requirements judges a file of requirements as far as its text is known.
func (f fetch) requirements(name string, depth int) (guilt, string) {
	text, ok := f.reader.file(name)
	switch {
	case name == "-" || name == "/dev/stdin":
		text, ok = f.call.Stdin, !f.call.Piped
	case depth > 3:
		return innocent, ""
	}
	if !ok {
		return maybe, fmt.Sprintf("installs from a list that the text does not show: %.80q", name)
	}
	worst, why := innocent, ""
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(strings.TrimSpace(line), " #")
		g, what := innocent, ""
		switch {
		case line == "" || line[0] == '#':
		case strings.HasPrefix(line, "-r") || strings.HasPrefix(line, "--requirement"):
			g, what = f.requirements(strings.Trim(strings.TrimLeft(strings.TrimPrefix(line, "--requirement"), "-r"), " ="), depth+1)
		case strings.HasPrefix(line, "-e") || strings.HasPrefix(line, "--editable"):
			g, what = f.own.requirement(strings.Trim(strings.TrimPrefix(strings.TrimPrefix(line, "--editable"), "-e"), " ="))
		case line[0] == '-':
		default:
			g, what = f.own.requirement(line)
		}
		if g > worst {
			worst, why = g, fmt.Sprintf("%s (in %s)", what, name)
		}
	}
	return worst, why
}

var (
	fetching = regexp.MustCompile(`(?i)\b(?:pip|urllib|urlopen|requests|httpx|subprocess|os\.system|popen|check_call|exec\w*|fetch|https?\.get|net/http|wget|curl|git)\b`)
	decoding = regexp.MustCompile(`(?i)base64|b64decode|fromhex|codecs|\bexec\(|\beval\(|__import__`)
)

// interpreter judges a language's own program: -m pip, or a text that it is given.
func (f fetch) interpreter(args []string) (guilt, string) {
	for i, a := range args {
		switch {
		case (a == "-m" || a == "-mpip") && (a == "-mpip" || i+1 < len(args) && pipName.MatchString(args[i+1])):
			rest := args[i+1:]
			if a == "-m" {
				rest = args[i+2:]
			}
			return f.pip(rest)
		case a == "-m" && i+1 < len(args) && (args[i+1] == "uv" || args[i+1] == "easy_install" || args[i+1] == "pipx"):
			return fetch{own: f.own, reader: f.reader, call: Call{Args: args[i+1:], Stdin: f.call.Stdin}}.judge()
		case a == "-m":
			return innocent, ""
		case (a == "-c" || a == "-e" || a == "--eval" || a == "-p") && i+1 < len(args):
			return f.code(args[i+1])
		case a == "-":
			return f.program()
		case !strings.HasPrefix(a, "-"):
			if text, ok := f.reader.files[a]; ok {
				return f.code(text)
			}
			return innocent, "" // a script of the tree
		}
	}
	return f.program()
}

// program judges a program on standard input.
func (f fetch) program() (guilt, string) {
	if f.call.Piped {
		return maybe, "runs a program that another command prints"
	}
	return f.code(f.call.Stdin)
}

// code judges a text in another language by its words only.
func (f fetch) code(text string) (guilt, string) {
	names := slices.ContainsFunc(strings.FieldsFunc(text, func(r rune) bool { return strings.ContainsRune(" \t\n'\"`,()[]{}=<>~!;:@", r) }),
		func(w string) bool { return f.own.names[normal(w)] || f.own.archive(w) })
	switch {
	case fetching.MatchString(text) && (names || f.own.address(text) != innocent):
		return maybe, "a program that fetches names the project itself"
	case fetching.MatchString(text) && (decoding.MatchString(text) || strings.Contains(text, unknown)):
		return maybe, "a program that fetches hides what"
	}
	return innocent, ""
}

// history judges programs of version control. The state has no history: whatever they bring is from elsewhere.
func (f fetch) history(name string, args []string) (guilt, string) {
	plain := operands(args, []string{"-C", "-c", "--git-dir", "--work-tree", "-b", "--branch", "--depth", "-R", "--repo", "-o", "--origin"})
	if len(plain) == 0 {
		return innocent, ""
	}
	verbs := []string{"clone", "fetch", "pull", "ls-remote", "remote", "submodule", "archive", "bundle", "checkout", "co", "export", "update", "api", "release", "repo", "pr", "subtree"}
	if !slices.Contains(verbs, plain[0]) && !strings.Contains(plain[0], unknown) {
		return innocent, ""
	}
	worst := innocent
	for _, a := range args {
		g := f.own.address(a)
		if g == innocent && strings.Contains(a, unknown) {
			g = maybe
		}
		worst = max(worst, g)
	}
	switch {
	case worst == sure:
		return sure, name + " " + plain[0] + " of the project's own address"
	case worst == maybe:
		return maybe, name + " " + plain[0] + " of an address that may be the project's own, or is not shown"
	case name == "git" && (plain[0] == "fetch" || plain[0] == "pull") && len(plain) == 1:
		return maybe, "git " + plain[0] + " from an address that the command does not name"
	}
	return innocent, ""
}

// download judges a program that fetches an address.
func (f fetch) download(args []string) (guilt, string) {
	worst, why := innocent, ""
	for _, a := range args {
		g := f.own.address(a)
		switch {
		case f.own.archive(a):
			g = sure
		case g == innocent && strings.Contains(a, unknown) && (strings.Contains(a, "://") || strings.HasPrefix(a, unknown)):
			g = maybe
		case g == innocent && strings.Contains(a, "://") && f.own.segment(a):
			g = maybe
		}
		if g > worst {
			worst, why = g, fmt.Sprintf("downloads %.160q", a)
		}
	}
	return worst, why
}

// segment says whether an address has the project's name as a part of its path, as registries have.
func (s self) segment(url string) bool {
	_, rest, _ := strings.Cut(url, "://")
	return slices.ContainsFunc(strings.FieldsFunc(rest, func(r rune) bool { return strings.ContainsRune("/?#=&", r) }),
		func(p string) bool { return s.names[normal(p)] })
}
