#!/usr/bin/env bash
# The system unit must be understood by systemd and expose no more than 2.0 of 10.
source "$(dirname "$0")/lib.sh"

if ! command -v systemd-analyze >/dev/null; then
  skip "exposure of the systemd unit" "systemd-analyze is not installed"
  exit 0
fi
scratch
if ! systemd-analyze security --offline=true --no-pager --threshold=20 systemd/jivad.service >"$scratch/out" 2>"$scratch/err"; then
  cat "$scratch/out" "$scratch/err"
  exit 1
fi
if grep -Ei 'unknown|failed to parse|invalid' "$scratch/err"; then exit 1; fi
tail -n 1 "$scratch/out" | tr -d '→' | sed 's/^ *//'
