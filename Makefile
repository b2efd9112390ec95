# Targets are short; anything longer lives in scripts/. `make` alone explains itself.
SHELL       := /bin/bash
VERSION     ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo unknown)
LDFLAGS     := -s -w -X main.version=$(VERSION)
TOOL        := go tool -modfile=internal/tools/go.mod
GOTESTSUM   := $(TOOL) gotestsum --format pkgname-and-test-fails
FUZZTIME    ?= 10s
BASE        ?= HEAD~1
export LDFLAGS

.DEFAULT_GOAL := help
.PHONY: help build run test check fmt lint house mutants race diaries cover fuzz bench bench-compare golden ollama torture cross test-arm64 clean

help: ## this list
	@awk -F':.*## ' '/^[a-z0-9-]+:.*## /{printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

build: ## bin/jivad for this machine, static
	CGO_ENABLED=0 go build -trimpath -ldflags "$(LDFLAGS)" -o bin/jivad ./cmd/jivad

run: build ## start on the sample diary in a throw-away folder
	scripts/run-sample.sh bin/jivad

test: ## go vet and all tests
	go vet ./...
	$(GOTESTSUM) -- ./...

check: fmt lint house test mutants race diaries cross test-arm64 ## everything CI runs

fmt:
	@out=$$(gofmt -l $$(git ls-files '*.go')); [ -z "$$out" ] || { echo "run gofmt -w on:"; echo "$$out"; exit 1; }

lint: ## go vet, staticcheck, systemd units
	go vet ./...
	$(TOOL) staticcheck ./...
	scripts/units.sh

house: # layout, import arrows, links, file sizes
	go test -count=1 ./internal/house/

mutants: # programs that each keep one promise less, which the fault harness must find out
	TORTURE_MUTANTS=1 $(GOTESTSUM) -- -count=1 -timeout 15m -run TestMutantsAreFound ./internal/torture

race:
	scripts/race.sh $(GOTESTSUM)

diaries: ## whole diaries through the whole program, where ../shared has them
	JIVAD_DIARIES=1 $(GOTESTSUM) -- -count=1 -timeout 25m -run 'Diaries' ./lifecycle

cover: ## coverage by package, and coverage.html
	go test -coverprofile=coverage.out ./...
	go tool cover -html=coverage.out -o coverage.html
	@go tool cover -func=coverage.out | tail -1

fuzz: ## every fuzz target for FUZZTIME (10s)
	scripts/fuzz.sh $(FUZZTIME)

bench: ## all benchmarks into bench.txt
	go test -run '^$$' -bench . -benchmem -timeout 60m ./... | tee bench.txt

bench-compare: ## benchmarks of BASE (HEAD~1) against the work tree
	scripts/bench-compare.sh $(BASE) "$(TOOL) benchstat"

golden: ## write the golden files anew; read the diff before committing it
	scripts/golden.sh

ollama: ## bin/ollama, a model server for the tests, where none is there
	scripts/ollama.sh

torture: build ## kill it, fill its disk, cut its power: MINUTES (10), or ROUNDS, or SWEEP=1
	@mkdir -p bin && CGO_ENABLED=0 go build -o bin/torture ./internal/torture
	bin/torture -binary bin/jivad -minutes $(or $(MINUTES),10) $(if $(ROUNDS),-rounds $(ROUNDS)) $(if $(SWEEP),-sweep) \
	  $(if $(SEED),-seed $(SEED)) $(if $(ROUND),-round $(ROUND)) $(TORTURE)

cross: ## binaries for every supported board, with their sizes
	scripts/cross.sh

test-arm64: ## pure packages and the fold on 64- and 32-bit ARM under qemu
	scripts/test-qemu.sh
	scripts/cross-fold.sh

clean: ## remove what was built
	rm -rf bin dist coverage.out coverage.html bench.txt bench-*.txt $${TMPDIR:-/tmp}/jivad-{bench,aged,idle,sentences}-*
