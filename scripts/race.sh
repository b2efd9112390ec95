#!/usr/bin/env bash
# The tests of what has goroutines under the race detector, which needs cgo and a C compiler. The plain run
# has all tests, and the long ones whole; those of pure packages, which know of no goroutine, would only be slower here.
# Usage: race.sh GOTESTSUM...
source "$(dirname "$0")/lib.sh"

with=(
  ./chitta ./chitta/neighbour ./internal/api ./internal/atomicfile ./internal/broker ./internal/config ./internal/door ./internal/ollama
  ./lifecycle ./lifecycle/claims ./lifecycle/diary ./lifecycle/projection ./lifecycle/tools ./cmd/jivad
)

if command -v "${CC:-gcc}" >/dev/null; then
  # A real model's server is waited for, for minutes, and has no goroutine of ours: the plain run has that.
  CGO_ENABLED=1 "$@" -- -race -short -timeout 20m -skip '^(TestFaultsOfARealServer|TestRealServer.*)$' "${with[@]}"
  CGO_ENABLED=1 "$@" -- -race -timeout 20m -run 'Helpers|EveryPart|TextsAtOnce' ./internal/builtin
else
  skip "race detector" "no C compiler"
fi
