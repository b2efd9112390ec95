#!/usr/bin/env bash
# Runs every fuzz target for a while, one after another. Usage: fuzz.sh 10s
source "$(dirname "$0")/lib.sh"

found=0
for pkg in $(go list ./...); do
  for target in $(go test -list '^Fuzz' "$pkg" | grep '^Fuzz' || true); do
    found=$((found + 1))
    say "$pkg $target"
    # An input that is found interesting is hardly made smaller: that would take most of the time.
    go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" -fuzzminimizetime 10x "$pkg"
  done
done
say "$found fuzz targets ran"
