# Compiles a state's tests, and runs what was compiled. Its arguments: the way ("build", "test" or "source"), the environment's folder,
# the tree, the report's file, and what to do as JSON.
#
# build: compiles all targets that have tests, and notes what cargo says of each. A target that does not compile stops no other.
# test: runs the programs, one after the other, as cargo would: in their package's folder, with its variables. The test library of
#       Rust writes its events as JSON for those who ask for what is unstable; nothing else is switched by that. What was not asked for a report
#       (harness = false) is one test, which passes when its program exits 0. Then the examples in the documentation.
# source: compiles the same packages without their tests, if something did not compile. Without the tests' dependencies others have other
#       features, so little of what is there can be used.
import re
import shutil
import signal
import tempfile
import threading
import tomllib

SECONDS = 300  # one program
EXAMPLES = 1200  # those of one package's documentation, each of which is compiled
LINE, LINES, WORDS = 1 << 20, 1 << 20, 8 << 10
ALONE = 200  # tests that are run by themselves when another one ended their program


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


class Tests:
    """One run of what was compiled."""

    def __init__(self, run, out, made):
        self.run, self.out = run, out
        self.of = lambda e: [x for x in made if x["e"] == e]
        self.packages = {x["id"]: x for x in self.of("package")}
        self.details = {p["id"]: p for p in run.packages() or []}
        shown = [ask(["rustc", "--print", what], run.variables) or "" for what in ("sysroot", "target-libdir")]
        self.libraries = [shown[0].strip() + "/lib", shown[1].strip()]
        self.bad, self.count = False, 0

    def all(self):
        usual = os.path.join(self.run.top, "target")
        if not os.path.lexists(usual):
            os.symlink(self.run.target, usual)  # where tests look that compile something or run a program of the package
        chosen = (self.of("chosen") or [{"scopes": [], "paths": {}, "all": True}])[0]
        scopes, seen = set(chosen["scopes"]), set()
        for m in self.of("made"):
            p = self.packages.get(m["id"])
            if p is None or not m["test"] or scope(p, m["target"]) not in scopes or m["exe"] in seen:
                continue
            seen.add(m["exe"])
            self.program(p, m)
        for p in self.packages.values():
            if p["id"] in chosen["paths"] or chosen["all"]:
                self.documentation(p, chosen["paths"].get(p["id"], []))
        broken = any(self.of("error")) or any(self.of("stopped")) or any(self.of("unread"))
        self.out.add(e="done", runs=self.count)
        return 1 if self.bad or broken else 0

    def begin(self, name, how, **more):
        self.count += 1
        self.out.add(e="begin", run=self.count, scope=name, how=how, **more)

    def ended(self, end, alone=None):
        self.bad = self.bad or end["exit"] != 0 or end["signal"] != 0 or end["late"] or end.get("cut", False)
        event = dict(end, e="end", run=self.count)
        if alone:
            event["alone"] = alone
        self.out.add(**event)

    def program(self, p, m):
        manifest = read_toml(os.path.join(p["dir"], "Cargo.toml"))
        variables = self.variables(p, manifest)
        exe, name = m["exe"], scope(p, m["target"])
        if plain(manifest, m["target"]):
            self.begin(name, "program")
            self.ended(self.execute([exe], p["dir"], variables)[0])
            return
        names = listed(exe, p["dir"], variables)
        self.begin(name, "harness", list=names)
        end, began, over = self.harness([exe], p["dir"], variables)
        self.ended(end)
        if end["late"] or not end["cut"] or not began:
            return
        for test in [n for n in names or began if n not in over][:ALONE]:
            end = self.harness([exe, test, "--exact"], p["dir"], variables)[0]
            self.ended(end, alone=test)

    def variables(self, p, manifest):
        """What cargo gives a test program."""
        v = dict(self.run.variables)
        for name in ("CARGO_TARGET_DIR", "CARGO_NET_OFFLINE", "RUSTFLAGS", "CARGO_HOME"):
            v.pop(name, None)
        v.update(self.run.what.get("env") or {})
        v["CARGO_HOME"], v["CARGO_NET_OFFLINE"] = self.run.variables["CARGO_HOME"], "true"
        v.update(configured(p["dir"], self.run.tree))
        v["CARGO_MANIFEST_DIR"], v["CARGO_MANIFEST_PATH"] = p["dir"], os.path.join(p["dir"], "Cargo.toml")
        v["CARGO"] = shutil_which("cargo", v)
        d = self.details.get(p["id"], {})
        numbers_of = (d.get("version") or "0.0.0").split("-")[0].split("+")[0].split(".")
        v["CARGO_PKG_NAME"], v["CARGO_PKG_VERSION"] = p["name"], d.get("version") or ""
        for part, number in zip(("MAJOR", "MINOR", "PATCH"), numbers_of):
            v["CARGO_PKG_VERSION_" + part] = number
        v["CARGO_PKG_VERSION_PRE"] = (d.get("version") or "").split("+")[0].partition("-")[2]
        v["CARGO_PKG_AUTHORS"] = ":".join(d.get("authors") or [])
        for part in ("description", "homepage", "repository", "license", "license_file", "rust_version", "readme"):
            v["CARGO_PKG_" + part.upper()] = d.get(part) or ""
        paths = [os.path.join(self.run.target, "debug"), os.path.join(self.run.target, "debug", "deps")]
        for s in self.of("script"):
            paths += [q.rpartition("=")[2] for q in s["paths"] if q.rpartition("=")[2].startswith(self.run.target)]
            if s["id"] == p["id"]:
                v.update(s["env"])
                if s["out"]:
                    v["OUT_DIR"] = s["out"]
        v["LD_LIBRARY_PATH"] = ":".join(dict.fromkeys(paths + self.libraries))
        for m in self.of("made"):
            if m["id"] == p["id"] and kind(m["target"]) == "bin" and not m["test"]:
                v["CARGO_BIN_EXE_" + m["target"]["name"]] = m["exe"]
        return v

    def harness(self, args, cwd, variables):
        """Runs a program of the test library. It returns the end, and the names of the tests that began and that ended."""
        args = args + ["-Z", "unstable-options", "--format", "json"]
        end, text = self.execute(args, cwd, dict(variables, RUSTC_BOOTSTRAP="1"))
        return end, *self.lines(text, end)

    def lines(self, text, end):
        """Hands on the lines that may be events; what tests print is no event."""
        names, ends, suites = [], set(), 0
        for line in text[:LINES]:
            at = line.find('{ "type": "')
            at = line.find('{"type":"') if at < 0 else at
            if at < 0:
                continue
            self.out.add(e="out", run=self.count, line=line[at:][:LINE])
            try:
                m = json.loads(line[at:])
            except ValueError:
                continue
            if m["type"] == "test" and m.get("event") == "started":
                names.append(m["name"])
            elif m["type"] == "test":
                ends.add(m.get("name"))
            suites += m["type"] == "suite" and m.get("event") != "started"
        end["cut"] = suites == 0
        return names, ends

    def execute(self, args, cwd, variables, seconds=SECONDS):
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                p = subprocess.Popen(args, cwd=cwd, env=variables, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True)
            except OSError as e:
                return {"exit": 126, "signal": 0, "late": False, "words": str(e)}, []
            late = False
            try:
                code = p.wait(timeout=seconds)
            except subprocess.TimeoutExpired:
                late, code = True, 0
            try:
                os.killpg(p.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            p.wait()
            out.seek(0)
            text = out.read(64 << 20).decode("utf-8", "replace").split("\n")
            size = err.seek(0, os.SEEK_END)
            err.seek(max(0, size - WORDS))
            words = err.read().decode("utf-8", "replace")
        return {"exit": max(code, 0), "signal": max(-code, 0), "late": late, "words": words}, text

    def documentation(self, p, files):
        """Runs the examples in a library's documentation, those of some files if there are any."""
        lib = next((t for t in self.details.get(p["id"], {}).get("targets", []) if kind(t) == "lib"), None)
        if lib is None or not lib.get("doctest", True) or not examples(p["dir"]) or self.failed(p, lib):
            return
        wrapper = os.path.join(self.run.target, "sluice-rustdoc")
        v = dict(self.run.variables, RUSTDOC=wrapper)
        with open(wrapper, "w") as f:
            f.write("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec " + shutil_which("rustdoc", v) + ' "$@"\n')
        os.chmod(wrapper, 0o755)
        args = ["cargo", "test", "--doc", "--package", p["spec"], "--no-fail-fast", "--offline", "--", "-Z", "unstable-options", "--format", "json"]
        self.begin(p["name"] + "/doc", "doc")
        end, text = self.execute(args + files, self.run.top, v, EXAMPLES)
        self.lines(text, end)
        self.ended(end)

    def failed(self, p, lib):
        return any(e["id"] == p["id"] and kind(e["target"]) == "lib" for e in self.of("error"))


def shutil_which(name, variables):
    return shutil.which(name, path=variables.get("PATH")) or name


def plain(manifest, target):
    """Whether a target has a main function of its own, and no library in it that speaks the test library's language."""
    k = kind(target)
    entries = [manifest.get("lib", {})] if k == "lib" else manifest.get(k, [])
    own = any(isinstance(e, dict) and e.get("harness") is False and (k == "lib" or e.get("name") == target["name"]) for e in entries)
    alike = {"libtest-mimic", "libtest2-mimic", "datatest-stable"}
    deps = set(manifest.get("dev-dependencies", {})) | set(manifest.get("dependencies", {}))
    return own and not alike & deps


def listed(exe, cwd, variables):
    """The names that a program of the test library says it has, or None."""
    try:
        done = subprocess.run([exe, "--list", "--format", "terse"], cwd=cwd, env=variables, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return None
    if done.returncode:
        return None
    lines = done.stdout.decode("utf-8", "replace").split("\n")
    return [line.rpartition(": ")[0] for line in lines if line.endswith((": test", ": benchmark"))]


def configured(cwd, tree):
    """The variables that .cargo/config.toml gives; the nearest file comes first."""
    out, at = {}, cwd
    while at.startswith(tree):
        for name in ("config", "config.toml"):
            table = read_toml(os.path.join(at, ".cargo", name)).get("env", {})
            for k, v in table.items() if isinstance(table, dict) else []:
                value = v.get("value") if isinstance(v, dict) else v
                if not isinstance(value, str) or k in os.environ and not (isinstance(v, dict) and v.get("force")):
                    continue
                out.setdefault(k, os.path.join(at, value) if isinstance(v, dict) and v.get("relative") else value)
        if at == tree:
            break
        at = os.path.dirname(at)
    return out


FENCE = re.compile(rb"(?m)^\s*(?://[/!]|\*|#\[doc|).{0,200}?(?:```|~~~)|include_str!")


def examples(top):
    """Whether a package's sources may hold examples at all: starting cargo to find none takes time."""
    for at, folders, files in os.walk(os.path.join(top, "src")):
        for name in files:
            if name.endswith(".rs"):
                with open(os.path.join(at, name), "rb") as f:
                    if FENCE.search(f.read()):
                        return True
    return not os.path.isdir(os.path.join(top, "src"))


def read_lines(path):
    try:
        with open(path) as f:
            return [json.loads(line) for line in f]
    except (OSError, ValueError):
        return []


def main():
    way, env, tree, report, what = sys.argv[1], sys.argv[2], sys.argv[3], sys.argv[4], json.loads(sys.argv[-1])
    run = Run(env, tree, what)
    if way == "build":
        return compile_tests(run, Report(report))
    if way == "test":
        made = read_lines(sys.argv[5])
        if not made:
            say("nothing is known of what was compiled")
            return 3
        return Tests(run, Report(report), made).all()
    made = read_lines(sys.argv[5])
    if made and not any(x["e"] in ("error", "stopped", "unread") for x in made):
        say("all was compiled")
        return 0
    chosen = {s.split("/")[0] for x in made if x["e"] == "chosen" and not x["all"] for s in x["scopes"]}
    packages = [a for x in made if x["e"] == "package" and x["name"] in chosen for a in ("--package", x["spec"])] or ["--workspace"]
    args = ["cargo", "build", "--offline"] + packages + (["--keep-going"] if version("cargo", run.variables) >= (1, 74) else [])
    return subprocess.run(args, env=run.variables, cwd=run.top, stdin=subprocess.DEVNULL).returncode


sys.exit(main())
