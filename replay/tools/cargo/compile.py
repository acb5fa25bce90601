# The first half of the program that compiles and runs tests: what it works on, which targets paths select, and what cargo says of compiling them.
import tempfile
import threading
import tomllib

WORDS = 8 << 10  # bytes kept of what a program says


def read_toml(path):
    try:
        with open(path, "rb") as f:
            return tomllib.load(f)
    except (OSError, ValueError):
        return {}


class Report:
    """Lines of JSON, written as they come: a run that is cut off leaves what it did."""

    def __init__(self, path):
        self.file = open(path, "w")
        self.lock = threading.Lock()

    def add(self, **event):
        with self.lock:
            self.file.write(json.dumps(event) + "\n")
            self.file.flush()


class Run:
    def __init__(self, env, tree, what):
        self.env, self.tree, self.what = env, tree, what
        self.top = os.path.join(tree, what["root"]) if what["root"] else tree
        self.variables = surroundings(env)
        self.target = os.path.join(env, "target")
        if not os.path.exists(os.path.join(self.target, ".sluice")):
            self.target = os.path.join(env, "target-of-the-state")
        self.variables["CARGO_TARGET_DIR"] = self.target
        self.variables["CARGO_NET_OFFLINE"] = "true"

    def cargo(self, args, **more):
        return subprocess.Popen(args, env=self.variables, cwd=self.top, stdin=subprocess.DEVNULL, **more)

    def packages(self):
        text = ask(["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"], self.variables, self.top)
        if text is None:
            return None
        data = json.loads(text)
        members = set(data["workspace_members"])
        return [p for p in data["packages"] if p["id"] in members]


def folder(p):
    return os.path.dirname(p["manifest_path"])


def kind(t):
    for k in ("bin", "test", "bench", "example"):
        if k in t["kind"]:
            return k
    return "custom-build" if "custom-build" in t["kind"] else "lib"


def scope(p, t):
    """Names a target: the package for its library, else package/kind/name."""
    return p["name"] if kind(t) == "lib" else p["name"] + "/" + kind(t) + "/" + t["name"]


def spec(p):
    """Names a package to cargo. A dependency may have the same name: what tests a package may use a release of it."""
    return p["id"] if "#" in p["id"] else p["name"] + "@" + p["version"]


def targets(p):
    return [t for t in p["targets"] if kind(t) != "custom-build" and t.get("test", kind(t) in ("lib", "bin", "test"))]


def wanted(packages, paths, tree):
    """The targets that paths of the tree select, as pairs (package, target); and by library the files whose documentation does."""
    chosen, docs = [], {}
    for path in paths:
        full = os.path.join(tree, path)
        inside = [p for p in packages if full.startswith(folder(p) + "/")]
        if not inside:
            continue
        p = max(inside, key=lambda p: len(folder(p)))
        rel = os.path.relpath(full, folder(p))
        chosen += [(p, t) for t in of_path(p, full, rel)]
        if rel.endswith(".rs") and not rel.startswith(("tests/", "benches/", "examples/")):
            docs.setdefault(p["id"], []).append(rel)
    seen, out = set(), []
    for p, t in chosen:
        if scope(p, t) not in seen:
            seen.add(scope(p, t))
            out.append((p, t))
    return out, docs


def of_path(p, full, rel):
    """The targets of a package that a file belongs to: its own, else those of its folder, else all."""
    all_of = targets(p)
    own = [t for t in all_of if t["src_path"] == full]
    if own:
        return own
    below = [t for t in all_of if os.path.basename(t["src_path"]) == "main.rs" and kind(t) != "bin" and full.startswith(os.path.dirname(t["src_path"]) + "/")]
    if below:
        return below
    if rel.startswith("tests/"):
        return [t for t in all_of if kind(t) == "test"] or all_of
    if rel.endswith(".rs") and rel.startswith("src/"):
        near = [t for t in all_of if kind(t) in ("lib", "bin")]
        roots = [t for t in near if full.startswith(os.path.dirname(t["src_path"]) + "/")]
        return roots or near or all_of
    return all_of


def selection(chosen, features=True):
    """The words by which cargo compiles targets; with features, those too that need some."""
    args = []
    for p, t in chosen:
        args += ["--package", spec(p)]
        args += {"lib": ["--lib"]}.get(kind(t), ["--" + kind(t), t["name"]])
        for f in features and t.get("required-features") or []:
            args += ["--features", f if "/" in f else p["name"] + "/" + f]
    return args


def compile_tests(run, out):
    packages = run.packages()
    if packages is None:
        out.add(e="unread", words=words_of_cargo(run))
        return 1
    chosen, docs = wanted(packages, run.what["paths"], run.tree)
    for p in packages:
        out.add(e="package", name=p["name"], id=p["id"], spec=spec(p), dir=folder(p))
    everything = not chosen
    if everything:
        chosen = [(p, t) for p in packages for t in targets(p)]
    args, goes_on = build_args(run.variables)
    args = args + ["--offline", "--message-format=json"]
    code = noted(run, args + (["--workspace"] if everything else selection(chosen)), out)
    if code and not goes_on:
        for p, t in chosen:
            noted(run, args + selection([(p, t)], not everything), out)
    out.add(e="chosen", scopes=[scope(p, t) for p, t in chosen], paths=docs, all=everything)
    return code


def words_of_cargo(run):
    done = subprocess.run(["cargo", "metadata", "--format-version", "1", "--no-deps", "--offline"], env=run.variables, cwd=run.top,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return done.stderr.decode("utf-8", "replace")[-WORDS:]


def noted(run, args, out):
    """Runs cargo and notes what it made and what did not compile."""
    say("$", *args)
    with tempfile.TemporaryFile() as errors:
        made = run.cargo(args, stdout=subprocess.PIPE, stderr=errors)
        for line in made.stdout:
            try:
                m = json.loads(line)
            except ValueError:
                continue
            note(m, out)
        code = made.wait()
        errors.seek(0)
        tail = errors.read()[-WORDS:].decode("utf-8", "replace")
        say(tail)
        if code:
            out.add(e="stopped", exit=code, words=tail)
    return code


def note(m, out):
    reason = m.get("reason")
    if reason == "compiler-message" and m["message"].get("level") == "error":
        words = m["message"].get("rendered") or m["message"].get("message") or ""
        out.add(e="error", id=m["package_id"], target=m["target"], words=words[:WORDS])
    elif reason == "compiler-artifact" and m.get("executable"):
        out.add(e="made", id=m["package_id"], target=m["target"], exe=m["executable"], test=m["profile"]["test"])
    elif reason == "compiler-artifact" and m["target"].get("doctest", True) and not m["profile"]["test"] and kind(m["target"]) == "lib":
        out.add(e="library", id=m["package_id"], target=m["target"])
    elif reason == "build-script-executed":
        out.add(e="script", id=m["package_id"], paths=m["linked_paths"], env=m["env"], out=m.get("out_dir"))
