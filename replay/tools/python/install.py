# Installs requirements into the interpreter that runs this. Arguments: a folder that may hold uv, a JSON object, "--", requirements.
#
# The object: "constraints" are versions that a lock file names, "tool" is what must be there in the end. Several ways are tried until one
# installs everything. If none does, each requirement is installed on its own, and what cannot be is named and left out: a list of a
# project's often names more than its tests need. What fails for the network's sake is left out of nothing: then the step fails.
from __future__ import print_function

import json
import os
import re
import subprocess
import sys
import tempfile

uv_dir, options = sys.argv[1], json.loads(sys.argv[2])
wanted = sys.argv[sys.argv.index('--') + 1:]
dated = os.environ.get('UV_EXCLUDE_NEWER')
uv = os.path.join(uv_dir, 'bin', 'uv')

NETWORK = re.compile(
    r'Max retries exceeded|Read timed out|ReadTimeout|ConnectTimeout|Connection (?:refused|reset|aborted)|ConnectionResetError|'
    r'Temporary failure in name resolution|Name or service not known|Failed to establish a new connection|'
    r'error sending request|dns error|operation timed out|tcp connect error|certificate verify failed|invalid peer certificate|'
    r'HTTP (?:error|status)[^\n]{0,60}\b(?:429|5\d\d)\b|\b50[0234] (?:Server Error|Bad Gateway|Service Unavailable|Gateway Time)')
NO_TIMES = re.compile(r'missing an upload date|no upload.?time|upload-time')


def say(text):
    print('sluice: ' + text)
    sys.stdout.flush()


def listed(name, lines):
    path = os.path.join(tempfile.gettempdir(), 'sluice-%s.txt' % name)
    with open(path, 'w') as f:
        f.write('\n'.join(lines) + '\n')
    return path


def environment():
    """uv is told what pip is told: where the index is, and whom to trust."""
    env = dict(os.environ)
    for pip, name in (('PIP_INDEX_URL', 'UV_DEFAULT_INDEX'), ('PIP_EXTRA_INDEX_URL', 'UV_INDEX'), ('PIP_TRUSTED_HOST', 'UV_INSECURE_HOST'),
                      ('PIP_FIND_LINKS', 'UV_FIND_LINKS'), ('PIP_CERT', 'SSL_CERT_FILE'), ('PIP_DEFAULT_TIMEOUT', 'UV_HTTP_TIMEOUT')):
        if env.get(pip) and not env.get(name):
            env[name] = env[pip]
    env.update(UV_NO_CONFIG='1', UV_NO_CACHE='1', UV_LINK_MODE='copy', UV_PYTHON_DOWNLOADS='never', UV_NO_PROGRESS='1')
    return env


def run(args):
    """Runs an installer, shows what it prints, and returns whether it did its work, and what it printed."""
    p = subprocess.Popen(args, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = p.communicate()[0].decode('utf-8', 'replace')
    if sys.version_info[0] == 2:
        out = out.encode('utf-8')
    print(out)
    sys.stdout.flush()
    return p.returncode == 0, out


def by_uv(more, requirements):
    return run([uv, 'pip', 'install', '--python', sys.executable] + more + requirements)


def by_pip(more, requirements):
    return run([sys.executable, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-input'] + more + requirements)


def ways(constraints, era, old):
    """The ways to install, the best first: as the lock file says, with build tools of before pkg_resources went, and as it comes."""
    list_ = []
    if os.path.exists(uv):
        if constraints:
            list_.append(('uv, versions of the lock file', by_uv, ['-c', constraints, '-b', era]))
        list_ += [('uv', by_uv, ['-b', era]), ('uv, any setuptools', by_uv, []), ('uv, old setuptools', by_uv, ['-b', old])]
    if not dated:
        if constraints and not list_:
            list_.append(('pip, versions of the lock file', by_pip, ['-c', constraints]))
        list_.append(('pip', by_pip, []))
    return list_


def network(out):
    if NETWORK.search(out):
        say('the network or the index failed: nothing is left out for that')
        return True
    if dated and NO_TIMES.search(out):
        say('the index does not tell when versions were published: it cannot be asked for those of before ' + dated)
        return True
    return False


def alone(list_, requirement):
    trouble = ''
    for _, way, more in list_:
        ok, out = way(more, [requirement])
        if ok:
            return True
        trouble += out
    if network(trouble):
        sys.exit(1)
    return False


def main():
    constraints = listed('constraints', options['constraints']) if options.get('constraints') else None
    list_ = ways(constraints, listed('era', ['setuptools<81']), listed('old', ['setuptools<58', 'wheel<0.43']))
    if not list_:
        say('there is no uv here, and pip is not asked for versions of before a day')
        return 1
    trouble = ''
    for name, way, more in list_:
        say('installing with ' + name)
        ok, out = way(more, wanted)
        if ok:
            return 0
        trouble += out  # of every way: what the network ended in one may fail otherwise in the next
    if network(trouble) or len(wanted) < 2:
        return 1
    say('no way installs all: each on its own')
    left = [r for r in wanted if not alone(list_, r)]
    for r in left:
        say('left out, as it does not install: ' + r)
    gone = [r for r in left if re.match(r'[\w.-]+', r).group().lower() == options.get('tool')]
    return 1 if gone or len(left) == len(wanted) else 0


sys.exit(main())
