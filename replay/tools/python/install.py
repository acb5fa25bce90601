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
import threading
import zipfile

try:
    from urllib.parse import urljoin
except ImportError:  # Python 2
    from urlparse import urljoin

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


def run(args, more=None):
    """Runs an installer, shows what it prints, and returns whether it did its work, and what it printed."""
    p = subprocess.Popen(args, env=dict(environment(), **(more or {})), stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    out = p.communicate()[0].decode('utf-8', 'replace')
    if sys.version_info[0] == 2:
        out = out.encode('utf-8')
    print(out)
    sys.stdout.flush()
    return p.returncode == 0, out


def by_uv(more, requirements):
    return run([uv, 'pip', 'install', '--python', sys.executable] + more + requirements)


def by_pip(more, requirements, env=None):
    return run([sys.executable, '-m', 'pip', 'install', '-q', '--disable-pip-version-check', '--no-input'] + more + requirements, env)


class Dated(object):
    """An index on the loopback that has what the real one had before a day, for pip, which knows no days."""

    def __init__(self, day):
        from pip._vendor import requests
        self.day, self.session, self.timeless, self.failed = day, requests.Session(), set(), False
        if os.environ.get('PIP_CERT'):
            self.session.verify = os.environ['PIP_CERT']
        self.index = (os.environ.get('PIP_INDEX_URL') or self.usual()).rstrip('/') + '/'
        try:
            from http.server import BaseHTTPRequestHandler, HTTPServer
        except ImportError:  # Python 2
            from BaseHTTPServer import BaseHTTPRequestHandler, HTTPServer
        dated = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                status, page = dated.page(self.path.strip('/').split('/')[-1])
                self.send_response(status)
                self.send_header('Content-Type', 'text/html; charset=utf-8')
                self.send_header('Content-Length', str(len(page)))
                self.end_headers()
                self.wfile.write(page)

            def log_message(self, *args):
                pass

        server = HTTPServer(('127.0.0.1', 0), Handler)
        thread = threading.Thread(target=server.serve_forever)
        thread.daemon = True
        thread.start()
        self.options = ['--index-url', 'http://127.0.0.1:%d/simple/' % server.server_port, '--trusted-host', '127.0.0.1']

    @staticmethod
    def usual():
        from pip._internal.models.index import PyPI
        return PyPI.simple_url

    def page(self, name):
        """The status and the page of a project."""
        if not re.match(r'[A-Za-z0-9][A-Za-z0-9._-]{0,100}$', name):
            return 404, b''
        try:
            answer = self.session.get(self.index + name + '/', headers={'Accept': 'application/vnd.pypi.simple.v1+json'}, timeout=60)
            if answer.status_code == 404:
                return 404, b''
            files = answer.json()['files'] if answer.status_code == 200 else None
        except ValueError:  # not JSON: of an index that speaks HTML only
            files = []
            self.timeless.add(name)
        except Exception as e:
            say('the index failed for %s: %s' % (name, e))
            files = None
        if files is None:
            self.failed = True
            return 502, b''
        if files and not any(f.get('upload-time') for f in files):
            self.timeless.add(name)
        lines = [self.link(answer.url, f) for f in self.of_the_day(name, files)]
        return 200, ('<!DOCTYPE html><html><body>%s</body></html>' % '\n'.join(lines)).encode('utf-8')

    def of_the_day(self, name, files):
        """The files of before the day; if none is left, the oldest: who asks for a project on a day knew it, and some were taken away since."""
        days = [(f.get('upload-time') or '9')[:10] for f in files]
        first = min(days + ['9'])
        if re.sub('[-_.]+', '-', name.lower()) in TOOLS.get(options.get('tool'), ()):
            return [f for f, d in zip(files, days) if d < '9']
        if first < self.day or first == '9':
            return [f for f, d in zip(files, days) if d < self.day]
        say('nothing of before %s is left of %s: the files of %s are taken' % (self.day, name, first))
        return [f for f, d in zip(files, days) if d == first]

    @staticmethod
    def link(base, f):
        def quoted(s):
            return s.replace('&', '&amp;').replace('"', '&quot;').replace('<', '&lt;').replace('>', '&gt;')
        url = quoted(urljoin(base, f['url']))
        if f.get('hashes', {}).get('sha256'):
            url += '#sha256=' + quoted(f['hashes']['sha256'])
        more = ' data-requires-python="%s"' % quoted(f['requires-python']) if f.get('requires-python') else ''
        return '<a href="%s"%s>%s</a><br>' % (url, more, quoted(f['filename']))


def by_dated_pip(more, requirements):
    global index
    if index is None:
        index = Dated(dated)
    direct = ','.join(filter(None, [os.environ.get('no_proxy') or os.environ.get('NO_PROXY'), '127.0.0.1']))  # files come from where they are
    env = {'no_proxy': direct, 'NO_PROXY': direct, 'PIP_EXTRA_INDEX_URL': '', 'PIP_FIND_LINKS': '', 'PIP_INDEX_URL': ''}
    ok, out = by_pip(index.options + more, requirements, env)
    if index.failed:
        out += '\nConnection reset: the index failed'
    if index.timeless:
        ok, out = False, out + '\nno upload-time of ' + ' '.join(sorted(index.timeless))
    return ok, out


index = None

# What a test tool is made of comes as it is for the interpreter: one of the day would know few of our options.
TOOLS = {'pytest': ('pytest', 'py', 'pluggy', 'attrs', 'more-itertools', 'funcsigs', 'pathlib2', 'scandir', 'atomicwrites', 'packaging', 'pyparsing', 'wcwidth',
                    'importlib-metadata', 'zipp', 'contextlib2', 'configparser', 'six', 'backports-functools-lru-cache')}


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
    elif not list_:
        if constraints:
            list_.append(('pip as of a day, versions of the lock file', by_dated_pip, ['-c', constraints]))
        list_.append(('pip as of a day', by_dated_pip, []))
    return list_


def requirements_of(wheel):
    """What a wheel requires, with the extras that stand behind its name: it may be more than installs."""
    file, _, extras = wheel.partition('[')
    extras = re.findall(r'[\w.-]+', extras)
    with zipfile.ZipFile(file) as z:
        name = [n for n in z.namelist() if n.endswith('.dist-info/METADATA')][0]
        text = z.read(name).decode('utf-8', 'replace')
    found = []
    for line in text.split('\n\n')[0].splitlines():
        key, _, value = line.partition(':')
        if key != 'Requires-Dist' or ' @ ' in value:
            continue
        extra = re.search(r'extra\s*==\s*[\'"]([^\'"]+)', value)
        if extra is None or extra.group(1) in extras:
            found.append(str(re.sub(r'extra\s*==\s*[\'"][^\'"]+[\'"]', 'python_version > "0"', value).strip()))
    return found


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
    trouble = ''
    for name, way, more in list_:
        say('installing with ' + name)
        ok, out = way(more, wanted)
        if ok:
            return 0
        trouble += out  # of every way: what the network ended in one may fail otherwise in the next
    if network(trouble):
        return 1
    each = wanted
    if len(wanted) == 1 and '.whl' in wanted[0]:
        each = requirements_of(wanted[0])
    if len(each) < 2:
        return 1
    say('no way installs all: each on its own')
    left = [r for r in each if not alone(list_, r)]
    for r in left:
        say('left out, as it does not install: ' + r)
    gone = [r for r in left if re.match(r'[\w.-]+', r).group().lower() == options.get('tool')]
    return 1 if gone or len(left) == len(each) else 0


sys.exit(main())
