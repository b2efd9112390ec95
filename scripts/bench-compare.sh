#!/usr/bin/env bash
# Measures a base commit and the work tree in turns, so that a busy machine disturbs both alike,
# and lets benchstat say what changed. Usage: bench-compare.sh BASE BENCHSTAT-COMMAND
# PKGS (./...), BENCH (.) and ROUNDS (6) narrow it down.
source "$(dirname "$0")/lib.sh"
base=$1 benchstat=$2
pkgs=${PKGS:-./...} bench=${BENCH:-.} rounds=${ROUNDS:-6}

scratch
git worktree add --quiet --detach "$scratch/base" "$base"
trap 'git worktree remove --force "$scratch/base"; rm -rf "$scratch"' EXIT

: >bench-base.txt
: >bench-work.txt
for ((i = 1; i <= rounds; i++)); do
  say "round $i of $rounds"
  (cd "$scratch/base" && go test -run '^$' -bench "$bench" -benchmem $pkgs) >>bench-base.txt
  go test -run '^$' -bench "$bench" -benchmem $pkgs >>bench-work.txt
done
$benchstat "base=bench-base.txt" "work=bench-work.txt"
