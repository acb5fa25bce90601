# Compiles a state's tests, and runs what was compiled. Its arguments: the way ("build", "test" or "source"), the environment's folder,
# the tree, the report's file, and what to do as JSON.
#
# build: compiles all targets that have tests, and notes what cargo says of each. A target that does not compile stops no other.
# test: runs the programs, one after the other, as cargo would: in their package's folder, with its variables. The test library of
#       Rust writes its events as JSON for those who ask for what is unstable; nothing else is switched by that. What was not asked for a report
#       (harness = false) is one test, which passes when its program exits 0. Then the examples in the documentation. Where the project has
#       settings for nextest, each test has a process of its own, as there.
# source: compiles the same packages without their tests, if something did not compile. Without the tests' dependencies others have other
#       features, so little of what is there can be used.
import re
import shlex
import shutil
import signal

SECONDS = 300  # one program
EXAMPLES = 1200  # those of one package's documentation, each of which is compiled
LINE, LINES = 1 << 20, 1 << 20  # letters of a line, and lines, that are looked at
ALONE = 200  # tests that are run by themselves when another one ended their program


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
        if names and variables.get("NEXTEST_EXECUTION_MODE") == "process-per-test":
            for test in names:
                self.begin(name, "harness", list=[test])
                self.ended(self.harness([exe, test, "--exact"], p["dir"], variables)[0])
            return
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
        v["CARGO"] = found_at("cargo", v)
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
            except (ValueError, RecursionError):
                continue
            name = m.get("name")
            if m["type"] == "test" and isinstance(name, str):
                names.append(name) if m.get("event") == "started" else ends.add(name)
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
            f.write("#!/bin/sh\nRUSTC_BOOTSTRAP=1 exec " + shlex.quote(found_at("rustdoc", v)) + ' "$@"\n')
        os.chmod(wrapper, 0o755)
        args = ["cargo", "test", "--doc", "--package", p["spec"], "--no-fail-fast", "--offline", "--", "-Z", "unstable-options", "--format", "json"]
        self.begin(p["name"] + "/doc", "doc")
        end, text = self.execute(args + files, self.run.top, v, EXAMPLES)
        self.lines(text, end)
        self.ended(end)

    def failed(self, p, lib):
        return any(e["id"] == p["id"] and kind(e["target"]) == "lib" for e in self.of("error"))


def found_at(name, variables):
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
                try:
                    with open(os.path.join(at, name), "rb") as f:
                        if FENCE.search(f.read()):
                            return True
                except OSError:
                    continue  # a link to nothing
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
