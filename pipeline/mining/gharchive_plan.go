package mining

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"sluice/miners/gharchive"
)

// hourPlan is which hours a run looks at, and where their files are.
type hourPlan struct {
	hours    []gharchive.Hour // in order
	files    map[gharchive.Hour]string
	template string // for those without a file; "" for none
	ignored  []string
}

// plan looks at the sources. Without a window it is the files that are there; with one, every hour in which its events may be.
func (o GHArchiveOptions) plan() (hourPlan, error) {
	p := hourPlan{files: map[gharchive.Hour]string{}}
	for _, source := range o.Sources {
		if err := p.addSource(source); err != nil {
			return p, err
		}
	}
	if len(o.Sources) == 0 {
		p.template = GHArchiveHome
	}
	closed := !o.Since.IsZero() && !o.Until.IsZero()
	switch {
	case p.template != "" && !closed:
		return p, fmt.Errorf("%w: a download needs both of its ends", ErrHourWindow)
	case closed:
		w := gharchive.Window{Since: o.Since, Until: o.Until}
		p.hours = w.Hours()
	default:
		w := gharchive.Window{Since: o.Since, Until: o.Until}
		for h := range p.files {
			if w.Touches(h) {
				p.hours = append(p.hours, h)
			}
		}
		slices.SortFunc(p.hours, gharchive.Hour.Compare)
	}
	if len(p.hours) == 0 {
		return p, fmt.Errorf("%w: none holds anything of that time", ErrHourSource)
	}
	return p, nil
}

func (p *hourPlan) addSource(source string) error {
	st, err := os.Stat(source)
	switch {
	case err == nil && st.IsDir():
		return p.addFolder(source)
	case err == nil && !st.Mode().IsRegular():
		// A pipe would wait for its writer, and could not be read twice.
		return fmt.Errorf("%w: %s is neither a file nor a folder", ErrHourSource, source)
	case err == nil:
		h, err := gharchive.HourOfFile(filepath.Base(source))
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHourSource, err)
		}
		p.addFile(h, source)
		return nil
	case strings.Contains(source, "{"):
		template, err := gharchive.Check(source)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrHourSource, err)
		}
		if p.template == "" {
			p.template = template
		}
		return nil
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%w: %s does not exist", ErrHourSource, source)
	}
	return fmt.Errorf("looking at %s: %w", source, err)
}

func (p *hourPlan) addFile(h gharchive.Hour, path string) {
	if p.files[h] == "" {
		p.files[h] = path
	}
}

// addFolder takes the hour files of a folder, at any depth: people keep a folder for each year or day.
func (p *hourPlan) addFolder(folder string) error {
	n := 0
	err := filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		h, herr := gharchive.HourOfFile(d.Name())
		if st, serr := os.Stat(path); herr != nil || serr != nil || !st.Mode().IsRegular() {
			if len(p.ignored) < 10 {
				p.ignored = append(p.ignored, path)
			}
			return nil
		}
		n++
		p.addFile(h, path)
		return nil
	})
	if err != nil {
		return fmt.Errorf("looking at the folder %s: %w", folder, err)
	}
	if n == 0 {
		return fmt.Errorf("%w: the folder %s holds no file with a name like 2015-01-01-8.json.gz", ErrHourSource, folder)
	}
	return nil
}
