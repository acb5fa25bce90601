"""Runs unittest over files of the current folder and reports each test as a line of JSON.

Arguments: the report, then files; without files, all that look like tests. A report named "-" is a line "PASSED id" on the
console for each test, as pytest would end with. Exit code: 0 all is well, 1 something failed, 5 no test. sluice passes this text with -c. It holds its own references to what it needs, since tests replace such things.
"""
import sys

PATH = list(sys.path)
sys.path[:] = [p for p in PATH if p]  # the project's modules must not stand in for those below

import os

ROOT = os.getcwd()


def inside(p):
    return os.path.abspath(p) == ROOT or os.path.abspath(p).startswith(ROOT + os.sep)


sys.path[:] = [p for p in sys.path if not inside(p)]

import importlib
import json
import re
import traceback
import unittest

REPORT, NAMED = sys.argv[1], sys.argv[2:]
sys.argv[:] = ["unittest"]
sys.path[:] = [ROOT] + [p for p in PATH if p and os.path.abspath(p) != ROOT]

SKIPPED = ("build", "dist", "node_modules", "venv", "env", "site-packages", "__pycache__")
LONG = 8000  # characters of one text


STATUS = {"pass": "PASSED", "skip": "SKIPPED", "fail": "FAILED", "error": "ERROR"}
WORSE = ("", "pass", "skip", "error", "fail")


class Report(object):
    def __init__(self, path):
        self.fd = None if path == "-" else os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_APPEND, 0o644)
        self.pid = os.getpid()
        self.console = sys.stderr

    def line(self, event, dumps=json.dumps, write=os.write, getpid=os.getpid):
        if self.fd is None or getpid() != self.pid:
            return  # a test may have forked, and its child got here
        data = (dumps(event) + "\n").encode("ascii")
        while data:
            data = data[write(self.fd, data):]

    def say(self, text):
        try:
            self.console.write(text)
            self.console.flush()
        except Exception:
            pass  # a test closed it: the console is for people only


def words(text):
    text = text.replace(ROOT + os.sep, "")
    return text if len(text) <= LONG else text[:LONG // 2] + "\n[...]\n" + text[-LONG // 2:]


def message(err, only=traceback.format_exception_only):
    try:
        return words("".join(only(err[0], err[1])).strip())
    except Exception:
        return getattr(err[0], "__name__", "an exception") + ": it cannot be printed"


OURS = ("<string>", "<frozen", os.path.dirname(importlib.__file__), os.path.dirname(unittest.__file__))


def trace(err, whole=traceback.format_exception):
    tb = err[2]
    while tb is not None and tb.tb_frame.f_code.co_filename.startswith(OURS):
        tb = tb.tb_next
    try:
        return words("".join(whole(err[0], err[1], tb, chain=False)))
    except Exception:
        return message(err)


def looks_like_tests(folder, name):
    if not name.endswith(".py") or not (name.startswith("test") or name.endswith(("_test.py", "_tests.py"))):
        return False
    with open(os.path.join(folder, name), "rb") as f:
        text = f.read()
    return b"class " in text or b"load_tests" in text


def all_files():
    for folder, below, names in os.walk(ROOT):
        below[:] = sorted(d for d in below if not d.startswith(".") and d not in SKIPPED and not d.endswith(".egg-info")
                          and not os.path.exists(os.path.join(folder, d, "pyvenv.cfg")))
        for name in sorted(names):
            if looks_like_tests(folder, name):
                yield os.path.relpath(os.path.join(folder, name), ROOT).replace(os.sep, "/")


def module_name(file):
    """The folder to import a file from, and its name there: packages are the folders above it that have an __init__.py."""
    with open(os.path.join(ROOT, file), "rb") as f:
        relative = re.search(br"(?m)^\s*from\s+\.", f.read())
    folder, name = os.path.split(file[:-len(".py")])
    while folder and (relative or os.path.exists(os.path.join(ROOT, folder, "__init__.py"))):
        folder, package = os.path.split(folder)
        name = package + "." + name
    return os.path.join(ROOT, folder) if folder else ROOT, name


def load(file):
    top, name = module_name(file)
    if top in sys.path:
        sys.path.remove(top)
    sys.path.insert(0, top)
    first = name.split(".")[0]
    known = sys.modules.get(first)
    where = getattr(known, "__file__", None) or (list(getattr(known, "__path__", None) or []) + [""])[0]
    if known is not None and not os.path.abspath(where).startswith(os.path.join(top, first)):
        for m in [m for m in sys.modules if m == first or m.startswith(first + ".")]:
            del sys.modules[m]  # of the same name in another folder
    getattr(importlib, "invalidate_caches", int)()  # Python 2 has none
    module = importlib.import_module(name)
    found = re.sub(r"\.pyc$", ".py", getattr(module, "__file__", "") or "")
    if os.path.realpath(found) != os.path.realpath(os.path.join(ROOT, file)):
        raise ImportError("module %s is found in %s" % (name, getattr(module, "__file__", "another place")))
    return module


def flat(suite):
    try:
        tests = iter(suite)
    except TypeError:
        return [suite]
    return [t for part in tests for t in flat(part)]


class Result(unittest.TestResult):
    """Sends what becomes of tests to the report. What fails for a class or a module is an outcome of its tests."""

    def __init__(self, report):
        unittest.TestResult.__init__(self)
        self.report, self.file, self.tests, self.ids, self.count = report, "", [], {}, {}
        self.ended, self.last, self.bad = {}, {}, 0

    def enter(self, file, suite):
        self.file, self.last = file, {}
        self.tests = flat(suite)
        for t in self.tests:
            self.id_of(t)

    def id_of(self, test):
        test = getattr(test, "test_case", test)  # of a subtest
        if id(test) in self.ids and self.ids[id(test)][0] is test:
            return self.ids[id(test)][1]
        if isinstance(test, unittest.TestCase) and type(test).__module__.split(".")[0] not in ("unittest", "doctest"):
            name = self.file + "::" + getattr(type(test), "__qualname__", type(test).__name__).replace(".", "::") + "::" + test._testMethodName
        else:
            name = self.file + "::" + str(test.id() if hasattr(test, "id") else test)
        n = self.count[name] = self.count.get(name, 0) + 1
        name += "#%d" % n if n > 1 else ""
        self.ids[id(test)] = (test, name)  # the test too, so that its id() stays its own
        return name

    def end(self, test, outcome, kind="", text="", late=False):
        name = self.id_of(test)
        self.ended[name] = max(self.ended.get(name, ""), outcome, key=WORSE.index)
        self.report.line({"e": "end", "id": name, "o": outcome, "k": kind, "m": text, "late": late})

    def broken(self, file, text):
        self.bad += 1
        self.report.line({"e": "broken", "file": file, "m": text})
        self.report.say("cannot be loaded: %s\n%s\n" % (file, text))

    def startTest(self, test):
        unittest.TestResult.startTest(self, test)
        self.report.line({"e": "start", "id": self.id_of(test)})
        self.last[type(test)] = self.last[None] = test

    def addSuccess(self, test):
        self.end(test, "pass")

    def addSkip(self, test, reason):
        if type(test).__name__ == "_ErrorHolder":
            self.whole(test, "skip", "", words(str(reason)))
        else:
            self.end(test, "skip", "", words(str(reason)))

    def addExpectedFailure(self, test, err):
        self.end(test, "skip", "", "expected failure: " + message(err))

    def addUnexpectedSuccess(self, test):
        self.end(test, "fail", "assertion", "unexpected success")

    def addFailure(self, test, err):
        self.failed(test, "fail", "assertion", err)

    def addError(self, test, err):
        self.failed(test, "error", "exception", err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            assertion = issubclass(err[0], test.failureException)
            self.failed(test, *(("fail", "assertion") if assertion else ("error", "exception")), err=err,
                        more="\n" + subtest._subDescription())

    def failed(self, test, outcome, kind, err, more=""):
        self.report.say("%s: %s\n%s\n" % (outcome, test, trace(err)))
        if type(test).__name__ == "_ErrorHolder":
            self.whole(test, outcome, kind, message(err))
        else:
            self.end(test, outcome, kind, message(err) + more)

    def whole(self, holder, outcome, kind, text):
        """What happens in setUpClass and the like: unittest names it "setUpClass (tests.test_a.C)"."""
        m = re.match(r"(\w+) \((.*)\)$", str(getattr(holder, "description", holder)))
        stage, name = m.groups() if m else ("", "")
        of = [t for t in self.tests if name in (unittest.util.strclass(type(t)), type(t).__module__)]
        if stage.startswith("setUp"):
            waiting = [t for t in of if self.id_of(t) not in self.ended]
            for t in waiting:
                self.end(t, outcome, kind, stage + ": " + text if text else stage)
            if waiting:
                return
        last = [self.last[type(t)] for t in of if type(t) in self.last][-1:] or [self.last.get(None)]
        if last[0] is None:
            self.broken(self.file, text)
        elif outcome != "skip":
            self.end(last[0], outcome, kind, (stage + ": " if stage else "") + text, late=True)


def collect(result, file):
    """Imports a file; returns its suite, or None."""
    try:
        if not os.path.isfile(os.path.join(ROOT, file)):
            result.broken(file, "file or directory not found")
            return None
        loader = unittest.TestLoader()
        suite = loader.loadTestsFromModule(load(file))
        if getattr(loader, "errors", None):
            result.broken(file, words("".join(loader.errors)))
            return None
        return suite
    except unittest.SkipTest as e:
        result.report.line({"e": "ignored", "file": file, "m": words(str(e))})
    except KeyboardInterrupt:
        raise
    except BaseException:
        result.broken(file, trace(sys.exc_info()))
    return None


class Django(object):
    """What Django's own test command does around the tests, with the settings that the environment names; nothing without."""

    def __init__(self, report):
        self.report, self.runner, self.made, self.cases = report, None, None, ()
        if os.environ.get("DJANGO_SETTINGS_MODULE"):
            self.careful(self.start)

    def careful(self, step):
        try:
            step()
        except KeyboardInterrupt:
            raise
        except BaseException:  # each test will say what it lacks
            self.report.say("Django: %s\n" % trace(sys.exc_info()))

    def start(self):
        import django
        from django.conf import settings
        for base in settings.DATABASES.values():
            if "sqlite" not in base.get("ENGINE", ""):  # a server: there is none where tests run
                base.clear()
                base.update(ENGINE="django.db.backends.sqlite3", NAME=":memory:")
        getattr(django, "setup", tuple)()  # from Django 1.7 on
        import django.test as kinds
        from django.test.utils import get_runner
        try:
            runner = get_runner(settings)
        except ImportError:  # of a distribution that is not there
            from django.test.runner import DiscoverRunner as runner
        self.cases = (kinds.TestCase, kinds.TransactionTestCase)
        self.runner = runner(verbosity=0, interactive=False)
        self.runner.setup_test_environment()

    def make(self):
        if self.runner:
            self.careful(self.south)
            self.careful(lambda: setattr(self, "made", self.runner.setup_databases()))

    def south(self):
        """Before Django 1.7 South migrates the databases of tests, if its own test command tells Django so."""
        from django.conf import settings
        if "south" in getattr(settings, "INSTALLED_APPS", ()):
            from south.management.commands import patch_for_test_db_setup
            patch_for_test_db_setup()

    def remove(self):
        if self.made is not None:
            self.careful(lambda: self.runner.teardown_databases(self.made))

    def flushes(self, test):
        """Says that a test leaves an empty database behind, as Django tells them apart."""
        return bool(self.cases) and isinstance(test, self.cases[1]) and not isinstance(test, self.cases[0])


def main(exit=os._exit):
    report = Report(REPORT)
    result = Result(report)
    django = Django(report)
    suites = [(f, collect(result, f)) for f in (NAMED or list(all_files()))]
    django.make()
    late = []
    for file, suite in suites:
        if suite is not None:
            result.enter(file, suite)
            later = [t for t in result.tests if django.flushes(t)]
            if later:
                late.append((file, unittest.TestSuite(later)))
                suite = unittest.TestSuite([t for t in result.tests if not django.flushes(t)])
            suite(result)
    for file, suite in late:
        result.enter(file, suite)
        suite(result)
    django.remove()
    result.bad += sum(o in ("fail", "error") for o in result.ended.values())
    report.line({"e": "done", "tests": len(result.ended), "bad": result.bad})
    report.say("%d tests, %d bad\n" % (len(result.ended), result.bad))
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass
    if report.fd is None:
        lines = ["%s %s\n" % (STATUS[o], name) for name, o in sorted(result.ended.items())]
        os.write(1, "".join(lines).encode("utf-8", "backslashreplace"))
    exit(1 if result.bad else 0 if result.ended else 5)  # whatever the tests left running


main()
