package main

import (
	"context"
	"fmt"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"sluice/store"
)

func newStore(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "store",
		Short: "Look after the store",
		Args:  cobra.NoArgs, // with Run, so that a wrong subcommand is an error and not help
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newStoreCheck(a), newStoreGC(a))
	return cmd
}

func newStoreCheck(a *app) *cobra.Command {
	return &cobra.Command{
		Use:     "check",
		Short:   "Verify every digest and reference of the store",
		Example: `  sluice store check --store .sluice`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.storeCheck(cmd.Context())
		},
	}
}

func (a *app) storeCheck(ctx context.Context) error {
	return a.withStore(ctx, func(s *store.Store) error {
		problems, err := s.Check(ctx)
		if err != nil {
			return err
		}
		n := 0
		for _, p := range problems {
			a.reportProblem(p)
			if !p.Harmless {
				n++
			}
		}
		if n > 0 {
			return fail(exitStore, fmt.Errorf("checking the store %s: %d problems", a.opts.store, n), "restore it from a copy, or retry the candidates concerned")
		}
		if !a.opts.json {
			a.say("the store %s is sound", a.opts.store)
		}
		return nil
	})
}

func (a *app) reportProblem(p store.Problem) {
	if a.opts.json {
		a.emit(struct {
			Type     string `json:"type"`
			What     string `json:"what"`
			Where    string `json:"where"`
			Detail   string `json:"detail"`
			Harmless bool   `json:"harmless,omitempty"`
		}{"problem", p.What, p.Where, p.Detail, p.Harmless})
		return
	}
	a.say("%s: %s: %s", oneLine(p.What), oneLine(p.Where), oneLine(p.Detail))
}

func newStoreGC(a *app) *cobra.Command {
	var grace time.Duration
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove blobs that nothing refers to, and nothing else",
		Long: `Remove blobs that nothing refers to, and nothing else. Blobs younger than --grace stay: another process may be
about to refer to them.`,
		Example: `  sluice store gc --grace 24h`,
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return a.storeGC(cmd.Context(), grace)
		},
	}
	cmd.Flags().DurationVar(&grace, "grace", time.Hour, "age below which a blob stays")
	return cmd
}

func (a *app) storeGC(ctx context.Context, grace time.Duration) error {
	if grace < 0 {
		return fail(exitUsage, fmt.Errorf("--grace %s: it must not be negative", grace), "")
	}
	return a.withStore(ctx, func(s *store.Store) error {
		removed, bytes, err := s.GC(ctx, grace)
		if err != nil {
			return err
		}
		if a.opts.json {
			a.emit(struct {
				Type    string `json:"type"`
				Removed int    `json:"removed"`
				Bytes   int64  `json:"bytes"`
			}{"gc", removed, bytes})
			return nil
		}
		a.say("removed %d blobs, %s", removed, humanize.IBytes(uint64(bytes)))
		return nil
	})
}
