#!/usr/bin/env bash
# All tests under the race detector, which needs cgo and a C compiler; without one, all tests plainly.
# Usage: race.sh GOTESTSUM...
source "$(dirname "$0")/lib.sh"

if command -v "${CC:-gcc}" >/dev/null; then
  CGO_ENABLED=1 "$@" -- -race -timeout 20m ./...
else
  skip "race detector" "no C compiler"
  "$@" -- -timeout 20m ./...
fi
