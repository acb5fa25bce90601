# What the programs of the test tools of C and C++ share. Python runs them with the settings as JSON in the first argument.
import glob, json, os, re, subprocess, sys

LIMIT = 64 << 10  # bytes kept of what a command says
PATIENCE = 300    # seconds that a test may take which sets no limit of its own
MAX_CASES = 400   # cases of a program that are tried alone after it ended early

config = json.loads(sys.argv[1])
build = os.path.abspath(config["build"])
out = config["out"]


def jobs():
    return str(min(len(os.sched_getaffinity(0)), 8))


def say(text):
    sys.stdout.buffer.write(text.encode("utf-8", "replace") + b"\n")
    sys.stdout.flush()


def middle(data):
    if len(data) > LIMIT:
        data = data[: LIMIT // 2] + b"\n[...]\n" + data[-LIMIT // 2:]
    return data.decode("utf-8", "replace")


def run(args, env=None, cwd=None, timeout=None):
    """Runs a command, prints what it says, and returns its exit code, None after a time-out, with what it said."""
    path = os.path.join(build, "sluice.log")
    with open(path, "wb") as log:
        try:
            code = subprocess.run(args, stdin=subprocess.DEVNULL, stdout=log, stderr=subprocess.STDOUT, env=env, cwd=cwd,
                                  timeout=timeout).returncode
        except subprocess.TimeoutExpired:
            code = None
        except OSError as e:
            code = 127
            log.write(str(e).encode("utf-8", "replace"))
    with open(path, "rb") as log:
        text = middle(log.read())
    say(text)
    return code, text


def leave(name, value):
    with open(os.path.join(out, name), "w") as f:
        json.dump(value, f)


TEST = re.compile(r"(?i)(^|[^a-z])(unit)?tests?([^a-z]|$)|unittest|gtest|gmock|_test\b")


def looks_like_test(name, sources):
    return bool(TEST.search(name)) or bool(sources) and all(TEST.search(s) for s in sources)


def failures(targets, make, wanted):
    """Builds, of targets that are not there, one after the other, those that do not wait for another, so that each says its own words.
    targets: name -> {"deps", "there"}; returns name -> (words, whether it waits)."""
    failed, state = {}, {}

    def visit(name):
        if name in state:
            return state[name]
        state[name] = True
        t = targets[name]
        bad = [d for d in t["deps"] if d in targets and not visit(d)]
        if bad:
            if name in wanted:
                failed[name] = "needs %s, which did not build" % bad[0], True
            state[name] = False
        elif not t["there"]() and (name in wanted or t["needed"]):
            code, text = make(name)
            if code != 0:
                failed[name] = text, False
                state[name] = False
        return state[name]

    sys.setrecursionlimit(10000)
    for name in sorted(targets):
        if name in wanted:
            visit(name)
    return failed


# What is an error since GCC 14, and was a warning when old states were written.
OLD = ["implicit-function-declaration", "implicit-int", "int-conversion", "incompatible-pointer-types"]


def closure(names, targets):
    """The targets that hold one of them, in turn."""
    names, more = set(names), True
    while more:
        found = {n for n, t in targets.items() if n not in names and names & set(t["deps"])}
        names |= found
        more = bool(found)
    return names


def kind_of_program(path):
    """Which library a test program's cases are written with, if it can report them one by one."""
    try:
        with open(path, "rb") as f:
            data = f.read(256 << 20)
    except OSError:
        return ""
    if not data.startswith(b"\x7fELF"):
        return ""
    if b"gtest_list_tests" in data or b"libgtest.so" in data:
        return "gtest"
    return ""


def list_cases(program, env, cwd):
    """Asks a program with GoogleTest for the names of its cases."""
    try:
        got = subprocess.run([program, "--gtest_list_tests"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                             stderr=subprocess.DEVNULL, env=env, cwd=cwd, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return []
    cases, suite = [], ""
    for line in got.stdout.decode("utf-8", "replace").splitlines():
        name = line.split("  # ")[0].split(" # ")[0].rstrip()
        if not name.startswith(" ") and name.endswith("."):
            suite = name
        elif name.startswith("  ") and suite:
            cases.append(suite + name.strip())
    return cases


def selected(paths, holders, everything):
    """The targets that hold one of the files of C and C++; None: all, since of one of them nothing is known."""
    chosen = set()
    for p in paths:
        found = holders(p)
        if not found:
            return None
        chosen |= found
    return chosen or None


def unique(wanted, taken):
    name, n = wanted, 1
    while name in taken:
        n += 1
        name = "%s#%d" % (wanted, n)
    taken.add(name)
    return name
