# What both programs need: where things are in an environment, and how cargo is called there.
import json
import os
import subprocess
import sys


def say(*words):
    print(*words, file=sys.stderr, flush=True)


def surroundings(env):
    """The variables of commands: a toolchain of the environment's own comes first, and its folders are where we say."""
    variables = dict(os.environ)
    rust = os.path.join(env, "rust", "bin")
    if os.path.exists(os.path.join(rust, "cargo")):
        variables["PATH"] = rust + ":" + variables.get("PATH", "")
    variables["CARGO_HOME"] = os.path.join(env, "cargo")
    return variables


def ask(args, variables, cwd=None):
    """What a command prints, or None."""
    try:
        done = subprocess.run(args, env=variables, cwd=cwd, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    except OSError as e:
        say(e)
        return None
    if done.returncode:
        say(done.stderr.decode("utf-8", "replace")[-4000:])
        return None
    return done.stdout.decode("utf-8", "replace")


def version(program, variables):
    """The numbers of a program's version: (1, 85, 1)."""
    words = (ask([program, "--version"], variables) or "").split()
    return numbers(words[1]) if len(words) > 1 else (0,)


def numbers(text):
    out = []
    for part in str(text).split("-")[0].split("+")[0].split("."):
        if not part.isdigit():
            break
        out.append(int(part))
    return tuple(out)


def build_args(variables):
    """How this cargo compiles tests without running them, and whether one failure lets the rest be compiled."""
    if version("cargo", variables) >= (1, 74):
        return ["cargo", "build", "--profile", "test", "--tests", "--keep-going"], True
    return ["cargo", "test", "--no-run"], False
