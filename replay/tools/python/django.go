package python

import (
	"path"
	"regexp"

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
