# make demo   see what sluice does, on a repository that it writes itself
# make test   run all tests
# make check  what CI checks besides the tests: vet, modules, format and architecture, generated pages
# make bench  run the benchmarks
# make test-hostile  run all programs that attack the sandboxes, on both; it takes many minutes
# make test-model  run the tests against a real model server, which it installs from PyPI into bin/model; it takes many minutes

GO ?= go
BIN := bin

.PHONY: demo test test-hostile test-model check bench build

build:
	$(GO) build -o $(BIN)/ ./cmd/...

demo: build
	$(BIN)/sluice demo

# A package whose builds are killed twenty times needs two minutes on an idle machine; the go command's limit of ten is short on a busy one.
test:
	$(GO) test -timeout 20m ./...

# make test runs a subset of them. SLUICE_HOSTILE=PART runs those whose kind/name contains PART.
test-hostile:
	SLUICE_HOSTILE=all $(GO) test -count=1 -v -timeout 60m -run '^TestHostilePrograms$$' ./replay/local ./replay/docker

test-model:
	GO="$(GO)" scripts/test-model.sh

check:
	$(GO) vet ./...
	$(GO) mod verify
	$(GO) test -count=1 .
	$(GO) run ./cmd/sluice docs --check

# The figures of a whole build come as ratios: x-plain-git is mining and blame against the git program alone doing the least
# that they need, x-sandbox-runs is the build's wall time against the sum of its sandbox runs. SLUICE_BENCH_REPO and
# SLUICE_BENCH_SINCE measure a repository of yours instead of the demo's.
# BenchmarkWorkers' x-one-worker is how many times as fast two workers are as one, environments being there; SLUICE_BENCH_SANDBOX=docker
# takes the docker sandbox.
# BenchmarkHour's x-gzip-grep is how many times as many bytes of a synthetic GH Archive hour a core gets through as gzip -dc | grep -c
# does in the same run; SLUICE_BENCH_GHARCHIVE_MB=1024 takes an hour of a gigabyte instead of 256 MB.
# BenchmarkJudgements' of-ideal is the share of the rate that a server of models allows which takes 50 ms and is asked 16 at once; s/10000
# is as many judgements from stored replies. On a busy machine its cpu-ms say more. BenchmarkPaid is the same without the engine, BenchmarkAsk
# without the store.
bench:
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 2h ./pipeline/build ./pipeline/attribution
	$(GO) test -run '^$$' -bench . -benchmem ./store ./miners/... ./judges/... ./replay/... ./pipeline/judging
