package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/spf13/cobra"

	"sluice/replay/docker/images"
)

func newImages(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "images",
		Short: "Make, list and remove the images that the docker sandbox works with",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newImagesBuild(a), newImagesList(a), newImagesGC(a))
	return cmd
}

// withImages runs f over the images of an engine.
func withImages(ctx context.Context, host string, f func(*images.Engine) error) error {
	e, err := images.Open(ctx, host)
	if err != nil {
		return err
	}
	return errors.Join(f(e), e.Close())
}

func newImagesBuild(a *app) *cobra.Command {
	var host string
	var o images.BuildOptions
	var lines []string
	for _, t := range images.Toolchains() {
		installed := slices.DeleteFunc(slices.Concat(t.Packages, t.Programs), func(p string) bool { return strings.HasSuffix(p, "-") })
		lines = append(lines, fmt.Sprintf("  %-10s %s: %s", t.Name, t.About, strings.Join(installed, " ")))
	}
	cmd := &cobra.Command{
		Use:   "build [NAME...]",
		Short: "Make the images of toolchains out of Debian's packages",
		Long: `Make the images of toolchains, each named sluice/NAME:RELEASE, out of Debian's packages: no registry is needed. Those of one
release are layers on base, which is made too if need be; those of older Pythons are made of their own release. What is up to date is not made again. Making base takes root and about two minutes.

` + strings.Join(lines, "\n") + `

Without a name: base. "all": all of them. The Debian mirror is --mirror, else the one that this machine's apt uses, else
debootstrap's own; nothing of it is in the images. One image's failure does not stop the others.`,
		Example: `  sudo sluice images build
  sudo sluice images build node rust
  sudo sluice images build all --force`,
		RunE: func(cmd *cobra.Command, names []string) error {
			if len(names) == 0 {
				names = []string{images.Base}
			}
			list, err := images.Select(names)
			if err != nil {
				return fail(exitUsage, err, "")
			}
			return withImages(cmd.Context(), host, func(e *images.Engine) error { return a.imagesBuild(cmd.Context(), e, list, o) })
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Mirror, "mirror", "", "address of a Debian mirror (default: this machine's)")
	f.BoolVar(&o.Force, "force", false, "make them anew, for newer packages; environments on them are made anew when they are next needed")
	addHost(cmd, &host)
	return cmd
}

func addHost(cmd *cobra.Command, host *string) {
	cmd.Flags().StringVar(host, "docker-host", "", "address of the Docker engine (default: the environment's)")
}

func (a *app) imagesBuild(ctx context.Context, e *images.Engine, list []images.Toolchain, o images.BuildOptions) error {
	o.Log = func(line string) { a.log.Info(oneLine(line)) }
	if !a.opts.json {
		o.Log = func(line string) { fmt.Fprintln(a.stderr, printable(line)) }
	}
	built, err := e.Build(ctx, list, o)
	for _, b := range built {
		a.printBuilt(b)
		err = errors.Join(err, b.Err)
	}
	if errors.Is(err, images.ErrRoot) {
		return fail(exitEnvironment, err, "run it with sudo")
	}
	if err != nil && ctx.Err() == nil {
		return fail(exitEnvironment, err, "see what the packages' tools said above, and whether the network and the mirror work")
	}
	return err
}

func (a *app) printBuilt(b images.Built) {
	state := "up to date"
	switch {
	case b.Err != nil:
		state = "failed"
	case b.Done:
		state = "made"
	}
	if a.opts.json {
		a.emit(struct {
			Type  string `json:"type"`
			Image string `json:"image"`
			State string `json:"state"`
		}{"image", b.Toolchain.Image(), state})
		return
	}
	a.say("%s: %s", b.Toolchain.Image(), state)
}

func newImagesList(a *app) *cobra.Command {
	var host string
	cmd := &cobra.Command{
		Use:   "ls",
		Short: "List sluice's own images: toolchains and prepared environments",
		Long: `List sluice's own images, toolchains and prepared environments, with their size, what each has that no other of them
below it has, and when it was last made or taken for a job, as far as the engine knows.`,
		Example: `  sluice images ls
  sluice images ls --json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return withImages(cmd.Context(), host, func(e *images.Engine) error { return a.imagesList(cmd.Context(), e) })
		},
	}
	addHost(cmd, &host)
	return cmd
}

func (a *app) imagesList(ctx context.Context, e *images.Engine) error {
	list, err := e.List(ctx)
	if err != nil {
		return err
	}
	a.printImages("image", list)
	if a.opts.json {
		return nil
	}
	a.say("\n%s together", bytesOf(images.Total(list)))
	for _, t := range images.Missing(list) {
		state := "is missing"
		if slices.ContainsFunc(list, func(i images.Image) bool { return i.Name == t.Image() }) {
			state = "is not up to date"
		}
		a.say("%s, for %s, %s: sluice images build %s", t.Image(), t.About, state, t.Name)
	}
	return nil
}

func bytesOf(n int64) string { return humanize.Bytes(uint64(max(0, n))) }

func (a *app) printImages(kind string, list []images.Image) {
	rows := [][]string{{"IMAGE", "KIND", "SIZE", "OWN", "LAST USED", "IN USE", "RUN"}}
	for _, i := range list {
		if a.opts.json {
			a.emit(struct {
				Type string `json:"type"`
				images.Image
			}{kind, i})
			continue
		}
		name, use := short(i.Name, 30), ""
		if i.Name == "" {
			name = short(i.ID, 20)
		}
		if i.InUse {
			use = "yes"
		}
		rows = append(rows, []string{name, string(i.Kind), bytesOf(i.Size), bytesOf(i.Own), humanize.RelTime(i.Used, a.clock(), "ago", "from now"), use, i.Run})
	}
	if !a.opts.json && (len(list) > 0 || kind == "image") {
		a.table(rows)
	}
}

// gcOptions are the flags of images gc.
type gcOptions struct {
	host, high, low string
	run             string
	older, keep     time.Duration
	dry             bool
}

func newImagesGC(a *app) *cobra.Command {
	var o gcOptions
	cmd := &cobra.Command{
		Use:   "gc",
		Short: "Remove sluice's own images that have not been used for long, and nothing else",
		Long: `Remove sluice's own images that have not been used for long, and nothing else: those older than --older, and, once all
of them take more than --high, those used longest ago until they take no more than --low.

With --run ID only what one run added goes, whatever its age and the marks; sluice images ls shows each environment's run,
and a run says its own with --verbose and with --json.

An image that a container uses, that was used within --keep, or that you gave a name of your own stays, and so do the images of
toolchains that are up to date. An environment that is gone is made anew when it is needed.`,
		Example: `  sluice images gc
  sluice images gc --high 20GB --low 10GB --keep 1h
  sluice images gc --older 168h --dry-run
  sluice images gc --run 0123456789abcdef01234567`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			p, err := o.policy()
			if err != nil {
				return fail(exitUsage, err, "")
			}
			return withImages(cmd.Context(), o.host, func(e *images.Engine) error { return a.imagesGC(cmd.Context(), e, p, o.dry) })
		},
	}
	f := cmd.Flags()
	f.DurationVar(&o.older, "older", 30*24*time.Hour, "remove what was not used for this long; 0: only the marks count")
	f.StringVar(&o.high, "high", "40GB", "begin to remove what was used longest ago when all takes more than this; 0: never")
	f.StringVar(&o.low, "low", "", "… until it takes no more than this (default: three quarters of --high)")
	f.DurationVar(&o.keep, "keep", 24*time.Hour, "what was used within this time stays")
	f.StringVar(&o.run, "run", "", "remove what this run added, and nothing else")
	f.BoolVar(&o.dry, "dry-run", false, "only say what would be removed")
	addHost(cmd, &o.host)
	return cmd
}

func (o gcOptions) policy() (images.Policy, error) {
	p := images.Policy{Older: o.older, Keep: o.keep, Run: o.run}
	var err error
	if p.High, p.Low, err = waterMarks("--", o.high, o.low); err != nil {
		return p, err
	}
	if o.older < 0 || o.keep < 0 {
		return p, errors.New("--older and --keep must be 0 or more, not negative")
	}
	return p, nil
}

func (a *app) imagesGC(ctx context.Context, e *images.Engine, p images.Policy, dry bool) error {
	list, err := e.List(ctx)
	if err != nil {
		return err
	}
	gone, said := images.Plan(list, p, a.clock()), "would be removed"
	if !dry {
		gone, err = e.Remove(ctx, gone)
		said = "removed"
	}
	if a.opts.json {
		a.printImages(strings.ReplaceAll(said, " ", "-"), gone)
		return err
	}
	a.printImages(said, gone)
	a.say("%s: %d of %d images, %s of %s", said, len(gone), len(list), bytesOf(images.Total(gone)), bytesOf(images.Total(list)))
	if why := whyLeft(list, gone, p); why != "" {
		a.say("%s", why)
	}
	return err
}

// whyLeft says why more stays than the flags ask for; "" if it does not.
func whyLeft(list, gone []images.Image, p images.Policy) string {
	if p.Run != "" {
		if !slices.ContainsFunc(list, func(i images.Image) bool { return i.Run == p.Run }) {
			return fmt.Sprintf("no image was added by a run %q: see sluice images ls", p.Run)
		}
		return ""
	}
	left := images.Total(list) - images.Total(gone)
	if p.High == 0 || left <= p.High {
		return ""
	}
	return fmt.Sprintf("%s stay, more than --high: in use, used within --keep %s, toolchains, or named by somebody", bytesOf(left), p.Keep)
}
