package imports

import (
	"context"
	"fmt"
	"os"

	"sluice/miners/pairlist"
	"sluice/pipeline/mining"
	"sluice/store"
)

// Lists mines lists of pairs and of finished instances. repo is of rows that name none. A file that is no list at all is
// ErrSchema, with what is wanted.
func Lists(ctx context.Context, s *store.Store, repo string, names []string) (Report, error) {
	rep := newReport()
	l := lists{batch{store: s, rep: &rep}, repo}
	err := l.each(ctx, "list v1 "+repo, names, func(string) bool { return true }, l.file)
	return rep, err
}

// ErrSchema says that a file is no list of pairs or instances.
var ErrSchema = pairlist.ErrSchema

type lists struct {
	batch
	repo string
}

func (l *lists) file(ctx context.Context, name string) error {
	f, err := os.Open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	r := pairlist.Reader{
		Repo: l.repo,
		Bad:  func(p pairlist.Problem) { l.rep.bad(Problem{name, p.Line, p.Reason, p.Value}) },
		Use: func(row pairlist.Row) error {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			l.rep.Records++
			return l.row(ctx, fmt.Sprintf("%s:%d", name, row.Line), row)
		},
	}
	return r.Read(f)
}

func (l *lists) row(ctx context.Context, key string, row pairlist.Row) error {
	if row.Instance != nil {
		return l.add(ctx, l.instance(*row.Instance), key, row.Raw)
	}
	for _, p := range row.Pairs {
		lead := mining.Pair{Intro: ref(p.Intro), Fix: ref(p.Fix), Issue: p.Issue, ID: p.ID, Cue: p.How}
		err := l.add(ctx, mining.Found{
			Kind: store.PairLead, Repo: p.Repo, Source: mining.ListSource, Method: mining.ListMethod, Data: lead,
			Key: fmt.Sprintf("%s#%d..%s#%d", p.Intro.SHA, p.Intro.Number, p.Fix.SHA, p.Fix.Number),
		}, key, row.Raw)
		if err != nil {
			return err
		}
	}
	return nil
}

func ref(r pairlist.Ref) mining.Ref { return mining.Ref{SHA: r.SHA, Number: r.Number} }

// instance is the lead of a finished instance.
func (l *lists) instance(in pairlist.Instance) mining.Found {
	data := mining.Instance{
		Format: in.Format, ID: in.ID, Base: in.Base, PR: in.PR, Issues: in.Issues, Fix: in.Fix, F2P: in.F2P, P2P: in.P2P,
		Language: in.Language, Created: in.Created, Inverted: in.Inverted,
	}
	for _, u := range []struct {
		name    string
		unknown bool
	}{{"base", in.Base == ""}, {"pr", in.PR == 0}, {"f2p", in.F2P == nil}, {"p2p", in.P2P == nil}} {
		if u.unknown {
			data.Unknown = append(data.Unknown, u.name)
			l.rep.Unknown[u.name]++
		}
	}
	return mining.Found{
		Kind: store.InstanceLead, Repo: in.Repo, Source: mining.InstanceSource, Method: in.Format, Data: data,
		Key: in.Format + " " + in.ID + " " + in.Base,
	}
}
