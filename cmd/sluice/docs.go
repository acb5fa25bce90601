package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"
)

func newDocs(a *app) *cobra.Command {
	var dir string
	var check bool
	cmd := &cobra.Command{
		Use:     "docs",
		Short:   "Write the pages of docs/ that are made from the program",
		Example: `  sluice docs --dir docs --check`,
		Hidden:  true,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.docs(cmd.Root(), dir, check)
		},
	}
	cmd.Flags().StringVar(&dir, "dir", "docs", "folder of the pages")
	cmd.Flags().BoolVar(&check, "check", false, "write nothing, and fail if a page is not what would be written")
	return cmd
}

// docs writes or checks the generated pages.
func (a *app) docs(root *cobra.Command, dir string, check bool) error {
	var stale []error
	for _, page := range []struct {
		name string
		text []byte
	}{
		{"cli.md", cliPage(root)},
		{"rejections.md", rejectionsPage(families())},
	} {
		file := filepath.Join(dir, page.name)
		if !check {
			if err := os.WriteFile(file, page.text, 0o644); err != nil {
				return fmt.Errorf("writing a page: %w", err)
			}
			continue
		}
		if have, err := os.ReadFile(file); err != nil || !bytes.Equal(have, page.text) {
			stale = append(stale, fmt.Errorf("%s is not current", file))
		}
	}
	if len(stale) > 0 {
		return fail(exitInput, errors.Join(stale...), "run go run ./cmd/sluice docs and commit the result")
	}
	return nil
}
