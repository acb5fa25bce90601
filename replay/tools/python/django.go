package python

import (
	"maps"
	"path"
	"regexp"
	"strings"

	"sluice/replay"
	"sluice/replay/tools/project"
)

// settingsModule is how Django's own template of manage.py names a project's settings.
var settingsModule = regexp.MustCompile(`DJANGO_SETTINGS_MODULE['"]\s*(?:,|\]\s*=)\s*['"]([A-Za-z_]\w{0,60}(?:\.[A-Za-z_]\w{0,60}){0,6})['"]`)

// Django is the module of the settings of a Django project whose manage.py lies in root; "" if it is none.
func Django(t *project.Tree, root string) (string, error) {
	text, err := t.Read(path.Join(root, manage))
	if err != nil {
		return "", err
	}
	if m := settingsModule.FindStringSubmatch(text); m != nil {
		return m[1], nil
	}
	return "", nil
}

const manage = "manage.py"

const (
	// pytestDjango sets Django up as the settings say that it is told of. It looks for manage.py in the folders that pytest is called with only.
	pytestDjango     = "pytest-django"
	settingsVariable = "DJANGO_SETTINGS_MODULE"
)

// withSettings tells a recipe's tests the settings of the only manage.py of the project, and where they are, if nothing else names any.
func withSettings(t *project.Tree, r *replay.Recipe) error {
	if r.Env[settingsVariable] != "" {
		return nil
	}
	for _, f := range []string{"pytest.ini", "setup.cfg", "tox.ini", "pyproject.toml"} {
		if text, err := t.Read(path.Join(r.Root, f)); err != nil || strings.Contains(text, settingsVariable) {
			return err
		}
	}
	var roots []string
	for f := range t.Files() {
		if path.Base(f) == manage && project.Within(r.Root, f) {
			roots = append(roots, path.Dir(f))
		}
	}
	if len(roots) != 1 {
		return nil
	}
	settings, err := Django(t, roots[0])
	if settings != "" {
		r.Env = maps.Clone(r.Env)
		r.Env[settingsVariable] = settings
		if dir := path.Join("{tree}", roots[0]); r.Env["PYTHONPATH"] == "" {
			r.Env["PYTHONPATH"] = dir
		} else {
			r.Env["PYTHONPATH"] += ":" + dir
		}
	}
	return err
}
