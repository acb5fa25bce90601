# make demo   see what sluice does, on a repository that it writes itself
# make test   run all tests
# make check  what CI checks besides the tests: vet, modules, format and architecture, generated pages
# make bench  run the benchmarks

GO ?= go
BIN := bin

.PHONY: demo test check bench build

build:
	$(GO) build -o $(BIN)/ ./cmd/...

demo: build
	$(BIN)/sluice demo

test:
	$(GO) test ./...

check:
	$(GO) vet ./...
	$(GO) mod verify
	$(GO) test -count=1 .
	$(GO) run ./cmd/sluice docs --check

bench:
	$(GO) test -run '^$$' -bench . -benchmem ./...
