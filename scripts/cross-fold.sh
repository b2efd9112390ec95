#!/usr/bin/env bash
# The same events must give the same companion on every board. The sample diary is imported by the
# amd64 binary; then the ARM binaries, under qemu-user, fold the log from genesis in copies of that
# folder, verify it, and must arrive at the state that amd64 arrived at.
source "$(dirname "$0")/lib.sh"

if [ "$(uname -m)" != x86_64 ]; then
  skip "fold on ARM against amd64" "this machine is $(uname -m)"
  exit 0
fi

scratch
build() { # GOARCH GOARM NAME
  CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOARM=$2 go build -trimpath -ldflags "-s -w" -o "$scratch/jivad-$3" ./cmd/jivad
}

# verify DATA COMMAND...: folds from genesis, prints the checks, leaves the state's digest in $digest.
verify() {
  local data=$1 out
  shift
  if ! out=$("$@" --data "$data" verify --full --json); then
    say "$out"
    say "the store does not verify"
    exit 1
  fi
  grep -o '"detail": ".*"' <<<"$out" | cut -d'"' -f4 | sed 's/^/  /'
  digest=$(sed -n 's/.*"state_digest": "\([0-9a-f]*\)".*/\1/p' <<<"$out")
  [ -n "$digest" ] || { say "verify gave no digest"; exit 1; }
}

reference= # the folder and its digest are made only when something will be compared with them
make_reference() {
  build amd64 "" amd64
  "$scratch/jivad-amd64" --data "$scratch/amd64" init --yes --sample --quiet
  "$scratch/jivad-amd64" --data "$scratch/amd64" import "$scratch/amd64/diary" --quiet
  say "fold on amd64"
  verify "$scratch/amd64" "$scratch/jivad-amd64"
  reference=$digest
}

under() { # QEMU GOARCH GOARM NAME
  if ! command -v "$1" >/dev/null; then
    skip "fold on $4 against amd64" "$1 is not installed (Debian: qemu-user-static)"
    return
  fi
  [ -n "$reference" ] || make_reference
  build "$2" "$3" "$4"
  cp -a "$scratch/amd64" "$scratch/$4"
  say "fold on $4 of what amd64 wrote"
  verify "$scratch/$4" "$1" "$scratch/jivad-$4"
  # The log and the exponential are our own, and nothing is fused: the bits are the same.
  if [ "$digest" != "$reference" ]; then
    say "the state is $digest on $4 and $reference on amd64"
    exit 1
  fi
  say "  the same state, bit for bit: $digest"
}

under qemu-aarch64-static arm64 "" arm64
under qemu-arm-static arm 6 armv6
