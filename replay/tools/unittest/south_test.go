package unittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// TestSouth: databases of tests are made after South has said how, where it is among a project's applications; both are small
// stand-ins here, since those that go together run with no Python of today.
func TestSouth(t *testing.T) {
	t.Parallel()
	python, err := exec.LookPath("python3")
	if err != nil {
		t.Skip(err)
	}
	for apps, want := range map[string]string{"['shop', 'south']": "migrated", "['shop']": "plain"} {
		dir := t.TempDir()
		for name, text := range map[string]string{
			"django/__init__.py":      "",
			"django/conf.py":          "class settings:\n    DATABASES = {}\n    INSTALLED_APPS = " + apps + "\n    how = 'plain'\n",
			"django/test/__init__.py": "class TestCase: pass\n\n\nclass TransactionTestCase: pass\n",
			"django/test/utils.py": `from django.conf import settings


def get_runner(settings):
    return Runner


class Runner:
    def __init__(self, **options):
        pass

    def setup_test_environment(self):
        pass

    def setup_databases(self):
        settings.made = settings.how

    def teardown_databases(self, made):
        pass
`,
			"south/__init__.py":                     "",
			"south/management/__init__.py":          "",
			"south/management/commands/__init__.py": "from django.conf import settings\n\n\ndef patch_for_test_db_setup():\n    settings.how = 'migrated'\n",
			"test_a.py":                             "import unittest\nfrom django.conf import settings\n\n\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.assertEqual(settings.made, '" + want + "')\n",
		} {
			file := filepath.Join(dir, filepath.FromSlash(name))
			if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		cmd := exec.CommandContext(t.Context(), python, "-c", program, "-", "test_a.py")
		cmd.Dir, cmd.Env = dir, []string{"PATH=/usr/bin:/bin", "DJANGO_SETTINGS_MODULE=any"}
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "PASSED test_a.py::A::test_a") {
			t.Errorf("%s: %v\n%s", apps, err, out)
		}
	}
}
