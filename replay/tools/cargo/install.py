# Makes an environment, in three ways: "toolchain" brings a toolchain, "fetch" brings the sources of dependencies, and "compile"
# compiles them under a workspace of stubs. Its arguments: the way, the environment's folder, and what to do as JSON.
import platform
import re
import shutil


def triple():
    machine = {"arm64": "aarch64", "amd64": "x86_64"}.get(platform.machine().lower(), platform.machine())
    return machine + "-unknown-linux-gnu"


def toolchain(env, channel, components, wanted):
    """Brings a toolchain. One that cannot be had is said, and the one that is there is used, unless the code needs a newer one."""
    where = os.path.join(env, "rust")
    say("toolchain", channel)
    reason = bring(channel, components, where)
    if not reason:
        return 0
    shutil.rmtree(where, ignore_errors=True)
    have = version("rustc", surroundings(env))
    if wanted and have < wanted:
        say("the toolchain", channel, "cannot be had:", reason + "; the code needs it, and here is", shown(have))
        return 1
    say("NOTE: the toolchain", channel, "cannot be had:", reason + "; Rust", shown(have), "is used instead")
    return 0


def shown(numbers):
    return ".".join(str(n) for n in numbers)


def bring(channel, components, where):
    """Lets rustup bring a toolchain into a folder of its own. It returns why that is not possible, or nothing."""
    home = where + "-home"
    variables = dict(os.environ, RUSTUP_HOME=home, CARGO_HOME=os.path.join(home, "cargo"), RUSTUP_INIT_SKIP_PATH_CHECK="yes")
    try:
        reason = rustup(["toolchain", "install", channel, "--profile", "minimal", "--no-self-update"], variables)
        if reason:
            return reason
        for name in components:
            if rustup(["component", "add", "--toolchain", channel, name], variables):
                say("the toolchain has no component", name)
        shutil.rmtree(where, ignore_errors=True)
        os.rename(os.path.join(home, "toolchains", os.listdir(os.path.join(home, "toolchains"))[0]), where)
    except OSError as e:
        return str(e)
    finally:
        shutil.rmtree(home, ignore_errors=True)
    return None


def rustup(args, variables):
    """Runs rustup. It returns its last error, or nothing."""
    if not shutil.which("rustup"):
        return "there is no rustup"
    done = subprocess.run(["rustup"] + args, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    words = done.stderr.decode("utf-8", "replace")
    say(words[-4000:])
    errors = [line.partition("error: ")[2] for line in words.splitlines() if "error: " in line]
    return (errors or ["rustup ends with " + str(done.returncode)])[-1] if done.returncode else None


def lay(folder, files):
    for name, text in files.items():
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write(text)


def tried(args, variables, cwd):
    say("$", *args)
    return subprocess.run(args, env=variables, cwd=cwd, stdin=subprocess.DEVNULL).returncode == 0


def fetch(env, tree, what):
    """Brings what the lock file says, else what the manifests say; a dependency that wants a newer compiler brings it."""
    variables, top = surroundings(env), os.path.join(env, "stub", what["root"])
    lay(os.path.join(env, "stub"), what["files"])
    lock, kept = os.path.join(tree, what["root"], "Cargo.lock"), os.path.join(top, "Cargo.lock")
    if not (from_lock(lock, kept, variables, top) if os.path.exists(lock) else from_manifests(variables, top)):
        return 1
    if not os.path.exists(kept):
        tried(["cargo", "generate-lockfile", "--offline"], variables, top)
    if os.path.exists(kept):
        lay(env, {"lock/Cargo.lock": open(kept).read()})
    return newer(env, variables, top)


def from_lock(lock, kept, variables, top):
    """Brings what a lock file says. One that lags behind its manifests is completed, and what was changed in it is said."""
    shutil.copy(lock, kept)
    if tried(["cargo", "fetch", "--locked"], variables, top):
        return True
    if tried(["cargo", "fetch"], variables, top):
        before, after = versions(lock), versions(kept)
        if before != after:
            say("NOTE: the lock file does not fit its manifests, and was completed;", changes(before, after))
        return True
    say("NOTE: the lock file cannot be used; versions are those of today")
    os.remove(kept)
    return tried(["cargo", "fetch"], variables, top)


def from_manifests(variables, top):
    """Brings the newest versions that fit, or those of a day. That cargo can tell is unstable: https://doc.rust-lang.org/cargo/reference/unstable.html"""
    day = os.environ.get("SLUICE_BEFORE")
    if not day:
        return tried(["cargo", "fetch"], variables, top)
    args = ["cargo", "generate-lockfile", "-Z", "unstable-options", "--publish-time", day + "T00:00:00Z"]
    if not tried(args, dict(variables, RUSTC_BOOTSTRAP="1"), top):
        return False
    silent = undated(versions(os.path.join(top, "Cargo.lock"), ("registry+", "sparse+")), os.path.join(variables["CARGO_HOME"], "registry", "index"))
    if silent:
        say("the index does not tell when these were published:", ", ".join(n + " " + v for n, v in silent[:20]))
        return False
    return tried(["cargo", "fetch", "--locked"], variables, top)


def undated(packages, index):
    """The packages of which the index, as cargo keeps it, does not say when they were published: cargo takes them whatever the day."""
    names, said = {name.lower() for name, _ in packages}, set()
    for at, _, files in os.walk(index):
        for name in names & set(files) if ".cache" in at else ():
            with open(os.path.join(at, name), "rb") as f:
                for part in f.read().split(b"\0"):
                    entry = parsed(part)
                    said |= {(entry.get("name"), entry.get("vers"))} if entry.get("pubtime") else set()
    return sorted(packages - said)


def parsed(text):
    try:
        entry = json.loads(text) if text.startswith(b"{") else None
    except ValueError:
        entry = None
    return entry if isinstance(entry, dict) else {}


def versions(lock, sources=("",)):
    """The packages of a lock file that come from elsewhere: their names and versions."""
    import tomllib
    try:
        with open(lock, "rb") as f:
            return {(p["name"], p["version"]) for p in tomllib.load(f).get("package", [])
                    if p.get("source") and p["source"].startswith(sources)}
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return set()


def changes(before, after):
    parts = [("new", after - before), ("gone", before - after)]
    return "; ".join(word + ": " + (", ".join(n + " " + v for n, v in sorted(some)[:20]) or "nothing") for word, some in parts)


def newer(env, variables, top):
    """Brings the toolchain that the dependencies of this machine's kind want, if it is newer than the one that is there."""
    text = ask(["cargo", "metadata", "--format-version", "1", "--offline", "--filter-platform", triple()], variables, top)
    if not text:
        return 0
    data = json.loads(text)
    used = {n["id"] for n in (data.get("resolve") or {}).get("nodes", [])}
    want = max((numbers(p["rust_version"]) for p in data["packages"] if p["id"] in used and p.get("rust_version")), default=())
    if want <= version("rustc", variables):
        return 0
    want = ".".join(str(n) for n in (want + (0, 0))[:3])
    say("a dependency wants Rust", want)
    toolchain(env, want, [], ())
    return 0


def forget(env, variables, top, target, kept):
    """Takes what was made of the stubs out of the folder of what is compiled: only dependencies may be found there. One of these may have
    a stub's name, and is known by its hash."""
    text = ask(["cargo", "metadata", "--format-version", "1", "--offline", "--no-deps"], variables, top)
    if not text:
        return False
    names = set()
    for p in json.loads(text)["packages"]:
        names.add(p["name"])
        names.update(t["name"] for t in p["targets"])
    names |= {n.replace("-", "_") for n in names}
    for folder, _, _ in list(os.walk(target)):
        if os.path.basename(folder) not in (".fingerprint", "build", "deps", "incremental", "debug", "examples"):
            continue
        for entry in os.listdir(folder):
            stem = entry.split(".")[0]
            base, _, number = stem.rpartition("-")
            base = base or stem
            if number in kept:
                continue
            if base in names or base[3:] in names and base.startswith("lib") or stem in names or stem[3:] in names and stem.startswith("lib"):
                path = os.path.join(folder, entry)
                if os.path.isdir(path) and entry not in (".fingerprint", "build", "deps", "incremental", "examples"):
                    shutil.rmtree(path)
                elif not os.path.isdir(path):
                    os.remove(path)
    return True


def compiled(args, variables, cwd):
    """Compiles, and returns the hashes by which cargo names what it made of packages that are not the tree's."""
    say("$", *args)
    done = subprocess.run(args + ["--message-format=json-render-diagnostics"], env=variables, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    kept = set()
    for line in done.stdout.splitlines():
        m = parsed(line)
        if m.get("reason") not in ("compiler-artifact", "build-script-executed") or "path+file:" in m["package_id"]:
            continue
        for path in m.get("filenames", []) + [m.get("out_dir") or ""]:
            kept.update(re.findall("-([0-9a-f]{16})(?![^./])", path))
    return kept


def compile_dependencies(env, what):
    """What fails costs time later. The mark says that the folder holds nothing of the stubs."""
    variables, top, target = surroundings(env), os.path.join(env, "stub", what["root"]), os.path.join(env, "target")
    variables["CARGO_TARGET_DIR"] = target
    args, _ = build_args(variables)
    kept = compiled(args + ["--workspace", "--offline"], variables, top)
    if forget(env, variables, top, target, kept):
        lay(target, {".sluice": ""})
    shutil.rmtree(os.path.join(env, "stub"))
    return 0


def main():
    way, env, what = sys.argv[1], sys.argv[2], json.loads("".join(sys.argv[4:]))
    if way == "toolchain":
        return toolchain(env, what["channel"], what["components"], numbers(what["channel"]) if what["needed"] else ())
    if way == "fetch":
        return fetch(env, sys.argv[3], what)
    return compile_dependencies(env, what)


sys.exit(main())
