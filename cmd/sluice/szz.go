package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"regexp"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"sluice/pipeline/attribution"
	"sluice/pipeline/build"
)

// newSZZ is the parent of the commands around attribution.
func newSZZ(a *app) *cobra.Command {
	cmd := &cobra.Command{
		Use:   "szz",
		Short: "Name the commits that introduced what fixes fix",
		Long: `Name the commits that probably introduced the defects that fixing commits fix, by following the lines that a fix
deletes (SZZ). See sluice szz variants for the methods, and docs/szz.md for what each means and how well it does.`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(newSZZRun(a), newSZZEval(a), newSZZTrain(a), newSZZVariants(a))
	return cmd
}

func newSZZVariants(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "variants",
		Short: "List the methods that --variant takes",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			rows := [][]string{{"VARIANT", "WHAT IT NAMES"}}
			for _, v := range attribution.Variants() {
				if a.opts.json {
					a.emit(struct {
						Type    string `json:"type"`
						Name    string `json:"variant"`
						About   string `json:"about"`
						Default bool   `json:"default,omitempty"`
					}{"szz-variant", v.Name, v.About, v.Name == attribution.Default})
					continue
				}
				rows = append(rows, []string{v.Name, v.About})
			}
			if !a.opts.json {
				a.table(rows)
			}
			return nil
		},
	}
}

// szzOptions are the flags that run and eval share.
type szzOptions struct {
	variants string
	workers  int
	weights  string
	model    *attribution.Model // what --weights names
}

func (o *szzOptions) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&o.variants, "variant", attribution.Default, "methods, comma separated, or all: see sluice szz variants")
	f.IntVar(&o.workers, "workers", 0, "fixes at once (default: the machine's cores)")
	f.StringVar(&o.weights, "weights", "", "weights for the method ours, made by sluice szz train (default: those that come with sluice)")
}

func (o *szzOptions) parse() ([]attribution.Variant, error) {
	if o.workers < 0 {
		return nil, fail(exitUsage, errors.New("--workers must not be negative"), "")
	}
	variants, err := attribution.ParseVariants(o.variants)
	if err != nil {
		return nil, fail(exitUsage, fmt.Errorf("reading --variant: %w", err), "see sluice szz variants")
	}
	if o.weights != "" {
		data, err := os.ReadFile(o.weights)
		if err == nil {
			o.model, err = attribution.ReadModel(data)
		}
		if err != nil {
			return nil, fail(exitInput, fmt.Errorf("reading --weights: %w", err), "name a file that sluice szz train wrote")
		}
	}
	return variants, nil
}

func newSZZRun(a *app) *cobra.Command {
	var o szzOptions
	var repo, from string
	cmd := &cobra.Command{
		Use:   "run --repo DIR FIX...",
		Short: "Name suspects for fixing commits",
		Long: `Name the commits that probably introduced what the given commits fix: a ranked list for each fix, or the reason for
having none. A commit id may be abbreviated. Every fix has an answer; the work between fixes is shared.

With --json each line is an object of type "szz" with the fields fix, inducing (commit, score, lines, files, evidence), abstained and
merge_mode (a merge is read against its first parent).
Exit code 5: some of the fixes are no commits of the repository, or git failed on them.`,
		Example: `  sluice szz run --repo ../ledger 1f3a9c2
  git log --format=%H --grep '^Fix' | sluice szz run --repo . --from - --variant r,ra --json`,
		RunE: func(cmd *cobra.Command, args []string) error {
			variants, err := o.parse()
			if err != nil {
				return err
			}
			fixes, err := a.fixIDs(args, from)
			if err != nil {
				return err
			}
			return a.szzRun(cmd.Context(), repo, variants, fixes, o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&repo, "repo", "", "the repository: a folder, bare or not, or an address")
	f.StringVar(&from, "from", "", "file with more commit ids, the first word of each line; - is standard input")
	o.addFlags(cmd)
	_ = cmd.MarkFlagRequired("repo")
	return cmd
}

var commitWord = regexp.MustCompile(`^[0-9a-fA-F]{4,64}$`)

// fixIDs joins the ids of the command line and of a file. Lines that are empty or begin with # are passed over.
func (a *app) fixIDs(args []string, from string) (ids []string, err error) {
	for _, id := range args {
		if !commitWord.MatchString(id) {
			return nil, fail(exitUsage, fmt.Errorf("reading the arguments: %q is no commit id", short(id, 70)), "give commit ids, in full or abbreviated")
		}
	}
	ids = args
	if from != "" {
		in := a.stdin
		if from != "-" {
			file, err := os.Open(from)
			if err != nil {
				return nil, fail(exitInput, fmt.Errorf("reading commit ids: %w", err), "name a file that exists with --from")
			}
			defer file.Close()
			in = file
		}
		more, err := readIDs(in)
		if err != nil {
			return nil, fail(exitInput, fmt.Errorf("reading commit ids from %s: %w", from, err), "want one commit id a line")
		}
		ids = append(ids, more...)
	}
	if len(ids) == 0 {
		return nil, fail(exitUsage, errors.New("no fixing commit is given"), "give commit ids as arguments, or a file of them with --from")
	}
	return ids, nil
}

func readIDs(r io.Reader) (ids []string, err error) {
	scanner := bufio.NewScanner(r)
	for line := 1; scanner.Scan(); line++ {
		words := strings.Fields(scanner.Text())
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if !commitWord.MatchString(words[0]) {
			return nil, fmt.Errorf("line %d: %q is no commit id", line, short(words[0], 70))
		}
		ids = append(ids, words[0])
	}
	return ids, scanner.Err()
}

// mirrors is the folder for mirrors: the store's when there is one, else a temporary one, which done removes.
func (a *app) mirrors() (dir string, done func() error, err error) {
	if _, err := os.Stat(a.opts.store); err == nil {
		return a.opts.store, func() error { return nil }, nil
	}
	dir, err = os.MkdirTemp("", "sluice-szz-*")
	if err != nil {
		return "", nil, fmt.Errorf("making a folder for mirrors: %w", err)
	}
	return dir, func() error { return os.RemoveAll(dir) }, nil
}

func (a *app) szzRun(ctx context.Context, source string, variants []attribution.Variant, fixes []string, o szzOptions) (err error) {
	dir, done, err := a.mirrors()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, done()) }()
	repo, err := attribution.Open(ctx, source, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.Close()) }()
	kit := attribution.NewKit(repo, nil)
	kit.Model = o.model
	rows := [][]string{strings.Fields("VARIANT FIX RANK COMMIT SCORE LINES EVIDENCE FILES")}
	lost := 0
	for _, v := range variants {
		results, err := kit.Attribute(ctx, v, fixes, attribution.Options{Workers: build.Workers(o.workers), Clock: a.clock})
		if err != nil {
			return err
		}
		for _, r := range results {
			if r.Err != nil || r.Abstained == attribution.NotThere {
				lost++
			}
			if a.opts.json {
				a.emit(szzLine(v.Name, r))
			} else {
				rows = append(rows, szzRows(v.Name, r)...)
			}
		}
	}
	if !a.opts.json {
		a.table(rows)
	}
	if lost > 0 {
		return fail(exitIncomplete, fmt.Errorf("%d of the answers are missing", lost), "their reasons are in the output")
	}
	return nil
}

func szzLine(variant string, r attribution.Result) any {
	words := ""
	if r.Err != nil {
		words = r.Err.Error()
	}
	return struct {
		Type    string  `json:"type"`
		Variant string  `json:"variant"`
		Took    float64 `json:"ms"`
		Error   string  `json:"error,omitempty"`
		attribution.Answer
	}{"szz", variant, float64(r.Took.Microseconds()) / 1000, words, r.Answer}
}

func szzRows(variant string, r attribution.Result) [][]string {
	fix := short(r.Fix, 12)
	if len(r.Suspects) == 0 {
		reason := string(r.Abstained)
		if r.Err != nil {
			reason = r.Err.Error()
		}
		return [][]string{{variant, fix, "-", "-", "-", "-", "(" + short(reason, 100) + ")"}}
	}
	var rows [][]string
	for i, s := range r.Suspects {
		rows = append(rows, []string{
			variant, fix, strconv.Itoa(i + 1), s.Commit, strconv.FormatFloat(s.Score, 'f', 2, 64), strconv.Itoa(s.Lines), string(s.Evidence),
			short(strings.Join(s.Files, " "), 60),
		})
	}
	return rows
}
