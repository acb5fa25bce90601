from xml.etree import ElementTree

QUERY = os.path.join(build, ".cmake/api/v1/query/codemodel-v2")
REPLY = os.path.join(build, ".cmake/api/v1/reply")


def launcher(name, more):
    """A program that starts the compiler with more options behind the project's: an old state's warnings are no errors."""
    path = os.path.join(build, name)
    with open(path, "w") as f:
        f.write('#!/bin/sh\nexec "$@" -Wno-error %s\n' % more)
    os.chmod(path, 0o755)
    return path


def configure():
    os.makedirs(os.path.dirname(QUERY), exist_ok=True)
    open(QUERY, "w").close()
    args = ["cmake", "-S", ".", "-B", build, "-G", "Unix Makefiles", "-Wno-dev",
            "-DCMAKE_C_COMPILER_LAUNCHER=" + launcher("sluice-cc", " ".join("-Wno-error=" + o for o in OLD)),
            "-DCMAKE_CXX_COMPILER_LAUNCHER=" + launcher("sluice-cxx", "")]
    if config.get("googletest") and os.path.isdir("/usr/src/googletest"):
        args += ["-DFETCHCONTENT_SOURCE_DIR_%s=/usr/src/googletest" % n for n in config["googletest"]]
    code, _ = run(args + config.get("args", []))
    sys.exit(code)


def model():
    """What CMake says about the targets: name -> sources relative to the tree's project, program, dependencies."""
    files = sorted(glob.glob(os.path.join(glob.escape(REPLY), "codemodel-v2-*.json")))
    if not files:
        return {}
    with open(files[-1]) as f:
        top = json.load(f)
    names, targets = {}, {}
    refs = top["configurations"][0]["targets"]
    for ref in refs:
        names[ref["id"]] = ref["name"]
    for ref in refs:
        with open(os.path.join(REPLY, ref["jsonFile"])) as f:
            t = json.load(f)
        if t.get("isGeneratorProvided"):
            continue
        artifacts = [os.path.normpath(os.path.join(build, a["path"])) for a in t.get("artifacts", [])]
        targets[t["name"]] = {
            "type": t["type"], "artifacts": artifacts,
            "sources": [s["path"] for s in t.get("sources", []) if not s.get("isGenerated")],
            "deps": [names[d["id"]] for d in t.get("dependencies", []) if d["id"] in names],
            "needed": t["type"] in ("OBJECT_LIBRARY", "UTILITY"),
            "there": lambda a=artifacts: bool(a) and all(os.path.exists(x) for x in a),
        }
    return targets


def listing():
    """The tests as ctest knows them."""
    got = subprocess.run(["ctest", "--show-only=json-v1"], cwd=build, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.DEVNULL)
    try:
        tests = json.loads(got.stdout.decode("utf-8", "replace")).get("tests", [])
    except ValueError:
        return []
    for n, t in enumerate(tests, 1):
        t["number"] = n
        t["props"] = {p["name"]: p["value"] for p in t.get("properties", [])}
    return tests


def owners(targets):
    by_path = {a: n for n, t in targets.items() for a in t["artifacts"]}
    by_name = {os.path.basename(a): n for n, t in targets.items() if t["type"] == "EXECUTABLE" for a in t["artifacts"]}
    return by_path, by_name


def target_of(test, targets, paths):
    """The target that a test's command starts, directly or through something else."""
    by_path, by_name = paths
    if test["name"].endswith("_NOT_BUILT") and test["name"][:-10] in targets:
        return test["name"][:-10]
    for word in test.get("command", []):
        name = by_path.get(os.path.normpath(os.path.join(build, word)))
        if name and targets[name]["type"] == "EXECUTABLE":
            return name
    if not test.get("command"):  # ctest leaves it out when there is no program
        name = test["name"]
        if name in targets and targets[name]["type"] == "EXECUTABLE":
            return name
    return ""


def default_targets():
    """Targets that are built without being asked for."""
    try:
        with open(os.path.join(build, "CMakeFiles/Makefile2"), errors="replace") as f:
            return set(re.findall(r"(?m)^\S*?all: (?:\S*/)?CMakeFiles/(\S+)\.dir/all$", f.read()))
    except OSError:
        return set()


def build_all():
    code, _ = run(["cmake", "--build", build, "-j", jobs(), "--", "-k"])
    targets = model()
    tests = listing()
    paths = owners(targets)
    of_tests = {target_of(t, targets, paths) for t in tests} & set(targets)
    wanted = set()
    if code != 0:
        wanted = {n for n in default_targets() if n in targets and targets[n]["type"] != "UTILITY"}
    wanted |= {n for n in of_tests if not targets[n]["there"]()}
    words = failures(targets, lambda n: run(["cmake", "--build", build, "-j", jobs(), "--target", n]), wanted)
    rows = [{"name": n, "test": n in of_tests or looks_like_test(n, targets[n]["sources"]), "words": w, "waits": waits} for n, (w, waits) in sorted(words.items())]
    leave("build.json", {"exit": code, "failed": rows, "targets": len(targets)})


def holders_in(targets):
    top = os.getcwd()
    depfiles = None

    def holders(path):
        nonlocal depfiles
        path = os.path.normpath(path)
        direct = {n for n, t in targets.items() if any(os.path.normpath(os.path.join(top, s)) == path for s in t["sources"])}
        if not direct:
            if depfiles is None:
                depfiles = {}
                for f in glob.glob(os.path.join(glob.escape(build), "**/CMakeFiles/*.dir/**/*.d"), recursive=True):
                    name = re.search(r".*/CMakeFiles/([^/]+)\.dir/", f).group(1)
                    with open(f, errors="replace") as d:
                        depfiles.setdefault(name, []).append(d.read())
            direct = {n for n, texts in depfiles.items() if n in targets and any(path in t.split() for t in texts)}
        return closure(direct, targets)
    return holders


def choose(tests, targets, paths):
    by = owners(targets)
    for t in tests:
        t["target"] = target_of(t, targets, by)
    files = [os.path.join(config["tree"], p) for p in config.get("paths", [])]
    named = [t for t in tests if any(os.path.normpath(os.path.join(build, w)) in files for w in t.get("command", [])[1:])]
    rest = [f for f in files if not any(f == os.path.normpath(os.path.join(build, w)) for t in named for w in t.get("command", []))]
    chosen = selected(rest, holders_in(targets), targets) if rest else set()
    if not files or chosen is None:
        return tests
    list_ = [t for t in tests if t in named or t["target"] in chosen]
    return with_fixtures(list_, tests) if list_ else tests


def values(test, name):
    v = test["props"].get(name, [])
    return set(v if isinstance(v, list) else [v])


def with_fixtures(chosen, tests):
    """Adds the tests that others need."""
    while True:
        need = set().union(*(values(t, "FIXTURES_REQUIRED") for t in chosen))
        more = [t for t in tests if t not in chosen and (values(t, "FIXTURES_SETUP") | values(t, "FIXTURES_CLEANUP")) & need]
        if not more:
            return sorted(chosen, key=lambda t: t["number"])
        chosen = chosen + more


FILTER = re.compile(r"--gtest_filter=([^*?:]+)$")


def identify(tests):
    """Gives each test its id. A test that gtest_discover_tests made has the name that GoogleTest knows it by."""
    taken = set()
    for t in tests:
        name = t["name"]
        for word in t.get("command", [])[1:]:
            m = FILTER.match(word)
            if m:
                name = m.group(1)
        t["id"] = unique("%s::%s" % (t["target"] or "ctest", name), taken)


def whole(test):
    """Whether a test is a program with GoogleTest that runs all its cases and says how they ended by its exit code."""
    odd = ("WILL_FAIL", "PASS_REGULAR_EXPRESSION", "DISABLED")
    command = test.get("command", [])
    return (bool(command) and not any(test["props"].get(o) for o in odd) and not any("--gtest_" in w for w in command[1:])
            and kind_of_program(command[0]) == "gtest")


def reasons():
    """Why tests of the last run failed, by name: older versions do not say it in the JUnit report."""
    found = {}
    try:
        with open(os.path.join(build, "Testing/TAG")) as f:
            root = ElementTree.parse(os.path.join(build, "Testing", f.readline().strip(), "Test.xml")).getroot()
    except (OSError, ElementTree.ParseError):
        return found
    for test in root.iter("Test"):
        if test.get("Status") == "failed":
            for m in test.iter("NamedMeasurement"):
                if m.get("name") == "Exit Code":
                    found[test.findtext("Name") or ""] = m.findtext("Value") or ""
    return found


class Runner:
    def __init__(self, tests):
        self.tests, self.runs, self.exit = tests, [], 0

    def ctest(self, tests, more=None, env=None):
        """Runs tests; more is added to what is left about the run."""
        n = len(self.runs)
        entry = {"report": "ctest-%d.xml" % n, **(more or {})}
        numbers = [str(t["number"]) for t in with_fixtures(list(tests), self.tests)]
        args = ["ctest", "-T", "Test", "-j1", "--timeout", str(PATIENCE), "--output-junit", os.path.join(out, entry["report"]),
                "--test-output-size-passed", "4096", "--test-output-size-failed", "65536"]
        if len(numbers) < len(self.tests):
            args += ["-I", ",".join(["0", "0", "0"] + numbers)]
        whole_env = dict(os.environ, **(env or {}))
        entry["exit"], _ = run(args, env=whole_env, cwd=build)
        entry["reasons"] = reasons()
        self.exit = max(self.exit, abs(entry["exit"]))
        self.runs.append(entry)
        return entry

    def program(self, t, prefix):
        """Runs a program with GoogleTest; one that fails without a report is run once for each case, one that ends well owes it."""
        e = self.cases(t, prefix)
        if os.path.exists(os.path.join(out, e["cases"])):
            return
        env = dict(os.environ)
        for v in values(t, "ENVIRONMENT"):
            key, _, value = v.partition("=")
            env[key] = value
        names = list_cases(t["command"][0], env, t["props"].get("WORKING_DIRECTORY") or build)
        if e["exit"] == 0:
            e["owed"] = names[:MAX_CASES]
        elif 0 < len(names) <= MAX_CASES:
            e["alone"] = True
            for name in names:
                self.cases(t, prefix, name)

    def cases(self, t, prefix, case=""):
        xml = "cases-%d.xml" % len(self.runs)
        env = {"GTEST_OUTPUT": "xml:" + os.path.join(out, xml), "GTEST_COLOR": "no"}
        if case:
            env["GTEST_FILTER"] = case
        return self.ctest([t], {"cases": xml, "prefix": prefix, "test": t["name"], "case": case}, env)


def test_all():
    targets = model()
    tests = listing()
    chosen = choose(tests, targets, config.get("paths", []))
    identify(tests)
    r = Runner(tests)
    programs = [t for t in chosen if whole(t)]
    rest = [t for t in chosen if t not in programs]
    if rest:
        r.ctest(rest)
    of = [t["target"] for t in programs]
    for t in programs:
        r.program(t, t["target"] if t["target"] and of.count(t["target"]) == 1 else t["name"])
    rows = [{"name": t["name"], "id": t["id"], "target": t["target"]} for t in tests]
    leave("index.json", {"exit": r.exit, "tests": rows, "runs": r.runs})
    sys.exit(min(r.exit, 100))


{"configure": configure, "build": build_all, "test": test_all}[config["do"]]()
