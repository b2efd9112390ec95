#!/usr/bin/env bash
# Runs the tests that own golden files with -update, and shows what changed.
source "$(dirname "$0")/lib.sh"

pkgs=$(git grep -lE 'flag\.Bool\("update"' -- '*_test.go' | xargs -r -n1 dirname | sort -u)
[ -n "$pkgs" ] || { say "no package has golden files"; exit 0; }
for pkg in $pkgs; do
  go test "./$pkg" -update
done
git --no-pager diff --stat
