package setup

import (
	"context"
	"fmt"
	"io/fs"
	"slices"
	"strings"

	"sluice/judges/agent"
	"sluice/judges/operation"
	"sluice/pipeline"
	"sluice/pipeline/agents"
	"sluice/replay"
	"sluice/replay/tools"
)

// evidence is what the agent is told.
func (s *Setup) evidence(ctx context.Context, q Request) (map[string][]string, error) {
	start := q.start()
	test, err := tools.StepsByHand(start, q.Target)
	if err != nil {
		return nil, pipeline.Permanent(fmt.Errorf("%w: %w", errNoRunner, err))
	}
	layout, err := top(ctx, q.Tree)
	if err != nil {
		return nil, err
	}
	test = test[:1+slices.IndexFunc(test, func(st replay.Step) bool { return st.Name == tools.StepTest })]
	given := map[string][]string{
		"acceptance": {agents.Shell(test)}, "place": {s.place(start)}, "layout": {layout}, "failure": {q.Why},
	}
	if strings.TrimSpace(q.Why) == "" {
		given["failure"] = []string{"There is no standard recipe for this project."}
	}
	if len(q.Scope) > 0 {
		given["scope"] = q.Scope
		if may := q.supports(); len(may) > 0 {
			given["support"] = may
		}
	}
	if q.Recipe != nil {
		given["standard"] = []string{"# to install, with the network\n" + agents.Shell(q.Recipe.Install) +
			"\n# then over every fresh copy of the folder, without a network\n" + agents.Shell(q.Recipe.Build)}
	}
	return given, nil
}

// place says where the agent is, in words that hold for its recipe too.
func (s *Setup) place(r replay.Recipe) string {
	lines := []string{
		"The project's folder is the current one; the variable " + agents.TreeVar + " names it. It holds no git history.",
		"The variable " + agents.EnvVar + " names the environment's folder, empty now. What you install belongs there: the tests see it, and " +
			"what your commands leave in the project's folder or in /tmp is gone before they run.",
	}
	if r.Root != "" {
		lines = append(lines, "The part of the project that is tested lies in its folder "+r.Root+".")
	}
	if r.Env["VIRTUAL_ENV"] != "" {
		lines = append(lines, `The tests run with the interpreter of the virtual environment "$`+agents.EnvVar+
			`/venv", which does not exist yet: your first installing command makes it (python3 -m venv).`)
	}
	if replay.IsDocker(s.Crew.Sandbox) {
		lines = append(lines, "You are root in a container of Debian with the network; system packages come from apt-get and stay.")
	} else {
		lines = append(lines, "You have the network; system packages cannot be installed, the system's folders are read-only.")
	}
	return strings.Join(lines, "\n")
}

// top lists the files of the tree's upper folders that say what a project needs.
func top(ctx context.Context, t replay.Tree) (string, error) {
	const most = 200
	var lines []string
	folders := map[string]int{}
	err := t.Select(ctx, func(f replay.File) bool {
		first, _, below := strings.Cut(f.Path, "/")
		switch {
		case below:
			folders[first]++
		case f.Mode&fs.ModeSymlink != 0:
			lines = append(lines, f.Path+" (a link)")
		default:
			lines = append(lines, f.Path)
		}
		return false
	}, nil)
	if err != nil {
		return "", fmt.Errorf("listing the tree: %w", err)
	}
	for name, n := range folders {
		lines = append(lines, fmt.Sprintf("%s/ (%d files)", name, n))
	}
	slices.Sort(lines)
	if len(lines) == 0 {
		return "(no files)", nil
	}
	if more := len(lines) - most; more > 0 {
		lines = append(lines[:most], fmt.Sprintf("… and %d more", more))
	}
	return strings.Join(lines, "\n"), nil
}

// copies reports whether a command installs the project as a copy: the tests of another state would then see this one's files.
func copies(command string) bool {
	var r operation.Reader
	calls, _ := r.Read(command)
	for _, c := range calls {
		line := strings.Join(c.Args, " ")
		install := strings.Contains(line, "pip install") || strings.HasPrefix(line, "pip3 install")
		for i, a := range c.Args {
			local := a == "." || strings.HasPrefix(a, ".[") || a == "./" || strings.HasPrefix(a, "file:")
			if install && local && c.Args[max(0, i-1)] != "-e" && c.Args[max(0, i-1)] != "--editable" {
				return true
			}
			if a == "setup.py" && slices.Contains(c.Args, "install") {
				return true
			}
		}
	}
	return false
}

func cut(s string) string { return agent.CutMiddle(strings.ToValidUTF8(s, "\uFFFD"), 64<<10) }

func lastLine(s string) string {
	lines := strings.Split(strings.TrimSpace(s), "\n")
	return agent.CutMiddle(strings.ToValidUTF8(lines[len(lines)-1], "\uFFFD"), 300)
}
