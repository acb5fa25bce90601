package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"sluice/internal/demo"
)

// demoOptions are the flags of demo.
type demoOptions struct {
	dir       string
	sandbox   string
	writeOnly bool
}

func newDemo(a *app) *cobra.Command {
	var o demoOptions
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Show what sluice does, on a small repository that it writes itself",
		Long: `Write a small git repository and take it all the way: build, export, and the scores of three sets of predictions.

Its history holds pairs of changes that become instances, and one decoy for each usual reason to reject. It is a Go
module that needs nothing but the standard library, and its code is sluice's own: the local sandbox may run it.`,
		Example: `  sluice demo
  sluice demo --dir sluice-demo --sandbox docker
  sluice demo --dir sluice-demo --write-only`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.dir, "dir", "", "folder for everything; default: a new temporary one")
	f.StringVar(&o.sandbox, "sandbox", "local", "where tests run: local or docker")
	f.BoolVar(&o.writeOnly, "write-only", false, "only write the repository")
	return cmd
}

func (a *app) demo(ctx context.Context, o demoOptions) error {
	if o.dir == "" {
		var err error
		if o.dir, err = os.MkdirTemp("", "sluice-demo-"); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
	}
	r, err := demo.Author(ctx, filepath.Join(o.dir, demo.Name))
	if err != nil {
		return fail(exitInput, err, "name an empty folder with --dir, and see that git is installed")
	}
	if a.opts.json {
		a.emit(struct {
			Type    string `json:"type"`
			Dir     string `json:"dir"`
			Changes int    `json:"changes"`
		}{"demo", r.Dir, len(r.Changes)})
	} else {
		a.say("wrote a repository of %d changes to %s", len(r.Changes), r.Dir)
	}
	if o.writeOnly {
		return nil
	}
	for _, args := range o.commands(r.Dir) {
		if err := a.sub(ctx, args); err != nil {
			return err
		}
	}
	if !a.opts.json {
		a.say("%s", demoNext)
	}
	return nil
}

const demoNext = `
Gold predictions earn full credit, empty ones none, and "task", the changes as they really landed, solves every
task and anticipates nothing. Next, with a repository of yours:

  sluice doctor                                        what this machine lacks
  sluice build --repo PATH|URL --family foresight      interrupt it as you like, and run it again
  sluice status                                        the funnel
  sluice list --held, sluice explain ID                what waits for a decision, and why
  sluice export --name NAME                            the data set and its evaluator`

// commands are what the demo types.
func (o demoOptions) commands(repo string) [][]string {
	path := func(names ...string) string { return filepath.Join(append([]string{o.dir}, names...)...) }
	list := [][]string{
		{"build", "--repo", repo, "--family", "foresight", "--judge", "rules", "--sandbox", o.sandbox},
		{"list", "--admitted"},
		{"export", "--name", "demo", "--dir", path("releases")},
	}
	for _, preds := range []string{"gold", "empty", "task"} {
		list = append(list, []string{
			"evaluate", "--release", path("releases", "demo"), "--predictions", preds, "--sandbox", o.sandbox, "--out", path("evaluations", preds),
		})
	}
	for i := range list {
		list[i] = append(list[i], "--store", path("store"))
	}
	return list
}

// sub runs another command as if it had been typed.
func (a *app) sub(ctx context.Context, args []string) error {
	if a.opts.json {
		args = append(args, "--json")
	} else {
		a.say("\n$ sluice %s", strings.Join(args, " "))
	}
	inner := newApp(a.stdin, a.stdout, a.stderr)
	inner.clock, inner.getenv = a.clock, a.getenv
	root := newRoot(inner)
	root.SetArgs(args)
	return root.ExecuteContext(ctx)
}
