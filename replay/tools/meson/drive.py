import shutil


def configure():
    os.makedirs(build, exist_ok=True)
    code, _ = run(["meson", "setup", "--wrap-mode=nodownload", "-Dwerror=false", "-Db_colorout=never", *config.get("args", []), build],
                  env=dict(os.environ, CFLAGS=flags("CFLAGS"), CXXFLAGS=flags("CXXFLAGS")))
    sys.exit(code)


def flags(name):
    """Options behind the project's: an old state's warnings are no errors."""
    old = "".join(" -Wno-error=" + o for o in OLD)
    return (os.environ.get(name, "") + " -Wno-error" + (old if name == "CFLAGS" else "")).strip()


def introspect(what):
    got = subprocess.run(["meson", "introspect", build, "--" + what], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    try:
        return json.loads(got.stdout.decode("utf-8", "replace"))
    except ValueError:
        return []


def model():
    """What Meson says about the targets: id -> name, files, sources, dependencies."""
    targets = {}
    for t in introspect("targets"):
        files = t["filename"] if isinstance(t["filename"], list) else [t["filename"]]
        targets[t["id"]] = {
            "name": t["name"], "type": t["type"], "artifacts": [os.path.normpath(f) for f in files],
            "default": t.get("build_by_default", True) and t["type"] not in ("run", "alias"),
            "sources": [s for g in t.get("target_sources", []) for s in g.get("sources", [])],
            "deps": [d for d in t.get("depends", [])], "needed": False,
            "there": lambda a=files: all(os.path.exists(x) for x in a),
        }
    return targets


def ninja(*args):
    return run(["ninja", "-C", build, "-j", jobs(), *args])


def target_of(test, targets):
    """The target that a test's command starts, directly or through something else."""
    words = [os.path.normpath(w) for w in test["cmd"]]
    for w in words:
        for i, t in targets.items():
            if t["type"] == "executable" and w in t["artifacts"]:
                return i
    for i in test.get("depends", []):
        if i in targets and targets[i]["type"] == "executable":
            return i
    return ""


def build_all():
    code, _ = ninja("-k", "0")
    targets = model()
    tests = introspect("tests")
    of_tests = {target_of(t, targets) for t in tests} & set(targets)
    for t in tests:
        of_tests |= {d for d in t.get("depends", []) if d in targets and targets[d]["type"] == "executable"}
    wanted = {i for i in of_tests if not targets[i]["there"]()}
    if code != 0:
        wanted |= {i for i, t in targets.items() if t["default"] and t["type"] != "custom"}

    def make(i):
        return ninja(*[os.path.relpath(a, build) for a in targets[i]["artifacts"]])

    words = failures(targets, make, wanted)
    rows = []
    for i, (w, waits) in sorted(words.items()):
        t = targets[i]
        rel = [os.path.relpath(s, os.getcwd()) for s in t["sources"]]
        rows.append({"name": t["name"], "test": i in of_tests or looks_like_test(t["name"], rel), "words": w, "waits": waits})
    leave("build.json", {"exit": code, "failed": rows, "targets": len(targets)})


def holders_in(targets):
    """Targets by a file of theirs; what includes a file knows the compiler, in ninja's list of dependencies."""
    found = None

    def holders(path):
        nonlocal found
        direct = {i for i, t in targets.items() if path in (os.path.normpath(s) for s in t["sources"])}
        if not direct:
            if found is None:
                found = {}
                got = subprocess.run(["ninja", "-C", build, "-t", "deps"], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
                where = ""
                for line in got.stdout.decode("utf-8", "replace").splitlines():
                    if line and not line.startswith(" "):
                        m = re.search(r"([^/]+)\.p/", line.split(":")[0])
                        where = m.group(1) if m else ""
                    elif line.strip():
                        found.setdefault(os.path.normpath(os.path.join(build, line.strip())), set()).add(where)
            direct = {i for i, t in targets.items() if any(os.path.basename(a) in found.get(path, ()) for a in t["artifacts"])}
        return closure(direct, targets)
    return holders


def choose(tests, targets):
    files = [os.path.normpath(os.path.join(config["tree"], p)) for p in config.get("paths", [])]
    named = [t for t in tests if any(os.path.normpath(w) in files for w in t["cmd"])]
    rest = [f for f in files if not any(f in map(os.path.normpath, t["cmd"]) for t in named)]
    chosen = selected(rest, holders_in(targets), targets) if rest else set()
    if not files or chosen is None:
        return tests
    some = [t for t in tests if t in named or t["target"] in chosen or set(t.get("depends", [])) & chosen]
    return some or tests


def test_all():
    targets = model()
    tests = introspect("tests")
    taken = set()
    rows = []
    for t in tests:
        t["target"] = target_of(t, targets)
        t["project"] = t["suite"][0].split(":")[0] if t["suite"] else ""
        t["label"] = targets[t["target"]]["name"] if t["target"] else "meson"
        t["id"] = unique("%s::%s" % (t["label"], t["name"]), taken)
    chosen = choose(tests, targets)
    there = [t for t in chosen if not t["target"] or targets[t["target"]]["there"]()]
    run_ = {"report": "meson.jsonl", "cases": "meson.xml", "exit": 0}
    if there:
        args = ["meson", "test", "--no-rebuild", "--num-processes", "1", "--logbase", "sluice", "-C", build]
        if len(there) < len(tests):
            args += ["--"] + sorted({"%s:%s" % (t["project"], t["name"]) for t in there})
        # A number that Meson would draw fills freed memory: outcomes would depend on it.
        run_["exit"], _ = run(args, env=dict(os.environ, MALLOC_PERTURB_="0"))
        for ours, theirs in (("meson.jsonl", "sluice.json"), ("meson.xml", "sluice.junit.xml")):
            try:
                shutil.copyfile(os.path.join(build, "meson-logs", theirs), os.path.join(out, ours))
            except OSError as e:
                say(str(e))
    for t in tests:
        rows.append({"name": t["name"], "id": t["id"], "target": t["label"], "command": t["cmd"], "project": t["project"],
                     "asked": t in there, "protocol": t.get("protocol", "")})
    leave("index.json", {"exit": abs(run_["exit"]), "tests": rows, "runs": [run_] if there else []})
    sys.exit(min(abs(run_["exit"]), 100))


{"configure": configure, "build": build_all, "test": test_all}[config["do"]]()
