package setup

import (
	"strings"
	"testing"

	"sluice/replay"
)

func TestVars(t *testing.T) {
	t.Parallel()
	start := replay.Recipe{Env: map[string]string{"PYTEST_ADDOPTS": "--ignore=docs -m unit"}}
	for _, ok := range []string{
		"TZ=UTC", "LANG=C.UTF-8", "CI=1", "DJANGO_SETTINGS_MODULE=tests.settings", "SETUPTOOLS_SCM_PRETEND_VERSION=1.2", "CGO_CFLAGS=-O1 -I$SLUICE_ENV/include",
		"GO111MODULE=off", "GO111MODULE=auto", "GOFLAGS=-mod=mod", "GOFLAGS=-mod=vendor -buildvcs=false -tags=netgo,osusergo", "GOFLAGS=-modfile=$SLUICE_ENV/go.mod",
		"GOPATH=$SLUICE_ENV/gopath", "GOPATH=${SLUICE_ENV}/a:$SLUICE_TREE/b", "GOTOOLCHAIN=go1.21.3", "GOWORK=off", "GODEBUG=x509sha1=1", "GOEXPERIMENT=loopvar",
		"PYTHONPATH=src", "PYTHONPATH=$SLUICE_TREE/src:$SLUICE_TREE", "PYTHONPATH=$SLUICE_ENV/lib", "PYTHONHASHSEED=0", "PYTHONWARNINGS=ignore::DeprecationWarning",
		"PYTEST_ADDOPTS=--import-mode=importlib", "PYTEST_ADDOPTS=-W ignore::DeprecationWarning -p no:cov", "PYTEST_ADDOPTS=--ignore=docs -m unit --asyncio-mode=auto",
		"PYTEST_ADDOPTS=-o asyncio_mode=auto", "NODE_OPTIONS=--openssl-legacy-provider --max-old-space-size=4096", "CC=gcc", "CC=gcc -std=gnu99", "EMPTY=", "MONKEY=1", "QT_QPA_PLATFORM=offscreen",
	} {
		name, value, _ := strings.Cut(ok, "=")
		if err := checkVars([]Var{{name, value}}, start); err != nil {
			t.Errorf("%s: %v", ok, err)
		}
	}
	for _, bad := range []string{
		"PATH=/evil:/bin", "Path=x", "HOME=/tmp", "LD_PRELOAD=x.so", "LD_LIBRARY_PATH=/x", "DYLD_INSERT_LIBRARIES=x", "GIT_DIR=/x", "GIT_SSH_COMMAND=x", "http_proxy=x", "HTTPS_PROXY=x", "ALL_PROXY=x",
		"GITHUB_TOKEN=x", "AWS_SECRET_ACCESS=x", "DB_PASSWORD=x", "OPENAI_API_KEY=x", "KEY=x", "NPM_CONFIG_REGISTRY=x", "PIP_INDEX_URL=x", "PIP_EXTRA_INDEX_URL=x", "UV_INDEX=x", "BASH_ENV=x", "ENV=x", "IFS=x",
		"SLUICE_ENV=x", "VIRTUAL_ENV=/x", "1X=2", "A-B=c", "=x", "A=a\x00b", "A=a\nb", "A=\u202e", "A=$HOME", "A=`id`", "A={out}/x", "A=/tmp/junit.xml", "A=https://example.org/x",
		"PYTHONPATH=/opt/other", "PYTHONPATH=$SLUICE_TREE/../x", "PYTHONPATH=../x", "PYTHONPATH=src::", "PYTHONPATH=$SLUICE_TREEX", "PYTHONPATH={env}{tree}", "PYTHONSTARTUP=x.py", "PYTHONHOME=/x", "PYTHONOPTIMIZE=1", "PYTHONINSPECT=1",
		"PYTHONBREAKPOINT=x", "PYTHONUSERBASE=/x", "PYTHONWARNINGS=error::x",
		"PYTEST_ADDOPTS=--collect-only", "PYTEST_ADDOPTS=--co", "PYTEST_ADDOPTS=-k nothing", "PYTEST_ADDOPTS=-m slow", "PYTEST_ADDOPTS=--deselect=x", "PYTEST_ADDOPTS=--ignore=tests", "PYTEST_ADDOPTS=-p evil",
		"PYTEST_ADDOPTS=-p no:python", "PYTEST_ADDOPTS=-pno:python", "PYTEST_ADDOPTS=-x", "PYTEST_ADDOPTS=--maxfail=1", "PYTEST_ADDOPTS=-c other.ini", "PYTEST_ADDOPTS=-o python_files=x", "PYTEST_ADDOPTS=-o addopts=-k",
		"PYTEST_ADDOPTS=-W", "PYTEST_ADDOPTS=--noconftest", "PYTEST_ADDOPTS=@file", "PYTEST_ADDOPTS=--runxfail", "PYTEST_ADDOPTS=--setup-only", "PYTEST_PLUGINS=evil", "COVERAGE_PROCESS_START=x",
		"GOFLAGS=-run=none", "GOFLAGS=-skip=.", "GOFLAGS=-list=.", "GOFLAGS=-exec=true", "GOFLAGS=-toolexec=x", "GOFLAGS=-overlay=x.json", "GOFLAGS=-short", "GOFLAGS=-mod=mod -run=^$", "GOFLAGS=--run=none", "GOFLAGS=-test.run=none",
		"GOFLAGS=-modfile=/x/go.mod", "GOFLAGS=-modfile=$SLUICE_ENV/../x.mod", "GOFLAGS=-ldflags=-X=a.b=c", "GOFLAGS=-vet=off", "GOFLAGS=-count=0", "GOFLAGS=-failfast", "GOFLAGS=-C=/x", "GOFLAGS='-run=none'",
		"GOROOT=/x", "GOPROXY=direct", "GOSUMDB=off", "GONOSUMDB=x", "GOPRIVATE=x", "GOINSECURE=x", "GOVCS=x", "GOENV=x", "GOOS=plan9", "GOARCH=wasm", "GOCACHEPROG=x", "GOTMPDIR=/x", "GOBIN=/x", "GO111MODULE=maybe", "GOPATH=/opt/go",
		"NODE_OPTIONS=--require ./evil.js", "NODE_OPTIONS=-r ./evil.js", "NODE_OPTIONS=--import=./x.mjs", "NODE_OPTIONS=--loader=x", "NODE_OPTIONS=--test-only", "NODE_PATH=/x", "JAVA_TOOL_OPTIONS=-javaagent:x", "PERL5OPT=-Mx", "RUBYOPT=-rx",
		"CC=/tmp/evil", "CC=sh -c x", "CC=./x", "RUSTC_WRAPPER=x", "MAKEFLAGS=--eval=x", "LONG=" + strings.Repeat("x", 1001),
	} {
		name, value, _ := strings.Cut(bad, "=")
		err := checkVars([]Var{{name, value}}, start)
		if err == nil {
			t.Errorf("%q is taken", bad)
		} else if strings.Contains(err.Error(), "\n") || len(err.Error()) > 600 {
			t.Errorf("%q: the line for the model is %q", bad, err)
		}
	}
	if err := checkVars([]Var{{"A", "1"}, {"A", "2"}}, start); err == nil {
		t.Error("a variable is set twice")
	}
	if err := checkVars(make([]Var, 21), start); err == nil {
		t.Error("21 variables are taken")
	}
	if got := doubts([]Var{{"GOFLAGS", "-mod=mod"}, {"GOFLAGS", "-tags=x"}, {"CGO_ENABLED", "0"}, {"TZ", "UTC"}}); len(got) != 2 || got[0].Sure {
		t.Errorf("doubts %v", got)
	}
	if got := (Var{"GOPATH", "${SLUICE_ENV}/a:$SLUICE_TREE"}).placed(); got != "{env}/a:{tree}" {
		t.Errorf("placed %q", got)
	}
}

// FuzzVars: whatever is accepted has no token of a place but the two, and no option that chooses tests.
func FuzzVars(f *testing.F) {
	for _, s := range [][2]string{{"GOFLAGS", "-mod=mod"}, {"PYTEST_ADDOPTS", "-o asyncio_mode=auto"}, {"PYTHONPATH", "$SLUICE_TREE/src"}, {"TZ", "UTC"}} {
		f.Add(s[0], s[1])
	}
	f.Fuzz(func(t *testing.T, name, value string) {
		v := Var{name, value}
		if checkVars([]Var{v}, replay.Recipe{}) != nil {
			return
		}
		placed := v.placed()
		if strings.ContainsAny(placed, "$`\n\x00") || strings.Contains(placed, "{out}") || len(value) > maxValue {
			t.Errorf("%q=%q is taken", name, value)
		}
		if name == "PYTHONPATH" && (strings.Contains(":"+placed, ":/") || strings.Contains(placed, "..") && strings.Contains("/"+strings.ReplaceAll(placed, ":", "/")+"/", "/../")) {
			t.Errorf("%q leads out", placed)
		}
		for _, w := range []string{"-run", "--collect-only", "-k", "--require"} {
			if (name == "GOFLAGS" || name == "PYTEST_ADDOPTS" || name == "NODE_OPTIONS") && strings.Contains(" "+value+" ", " "+w+" ") {
				t.Errorf("%q=%q is taken", name, value)
			}
		}
	})
}
