package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"sluice/internal/demo"
)

func newDemo(a *app) *cobra.Command {
	var dir string
	cmd := &cobra.Command{
		Use:   "demo",
		Short: "Write a small repository whose history shows what sluice does",
		Long: `Write a small git repository whose history shows what sluice does: pairs of changes that become instances, and
one decoy for each usual reason to reject. Its newest state is a Go module that needs nothing but the standard library.`,
		Example: `  sluice demo --dir /tmp/sluice-demo`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.demo(cmd.Context(), dir)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "", "folder to write to; default: a new temporary one")
	return cmd
}

func (a *app) demo(ctx context.Context, dir string) error {
	if dir == "" {
		var err error
		if dir, err = os.MkdirTemp("", "sluice-demo-"); err != nil {
			return fmt.Errorf("making a folder: %w", err)
		}
	}
	r, err := demo.Author(ctx, filepath.Join(dir, demo.Name))
	if err != nil {
		return fail(exitInput, err, "name an empty folder with --dir, and see that git is installed")
	}
	if a.opts.json {
		a.emit(struct {
			Type    string `json:"type"`
			Dir     string `json:"dir"`
			Changes int    `json:"changes"`
		}{"demo", r.Dir, len(r.Changes)})
		return nil
	}
	a.say("wrote %d changes to %s", len(r.Changes), r.Dir)
	return nil
}
