#!/usr/bin/env bash
# The same events must give the same companion on every board. The sample diary is imported by the
# amd64 binary; then the ARM binaries, under qemu-user, fold the log from genesis in copies of that
# folder and compare with the state that amd64 left, to 1e-9 (bit-identity holds on one architecture).
source "$(dirname "$0")/lib.sh"

if [ "$(uname -m)" != x86_64 ]; then
  skip "fold on ARM against amd64" "this machine is $(uname -m)"
  exit 0
fi

scratch
build() { # GOARCH GOARM NAME
  CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOARM=$2 go build -trimpath -ldflags "-s -w" -o "$scratch/jivad-$3" ./cmd/jivad
}
made= # the reference folder is made only when something will be compared with it

under() { # QEMU GOARCH GOARM NAME
  if ! command -v "$1" >/dev/null; then
    skip "fold on $4 against amd64" "$1 is not installed (Debian: qemu-user-static)"
    return
  fi
  if [ -z "$made" ]; then
    build amd64 "" amd64
    "$scratch/jivad-amd64" --data "$scratch/amd64" init --yes --sample --quiet
    "$scratch/jivad-amd64" --data "$scratch/amd64" import "$scratch/amd64/diary" --quiet
    made=yes
  fi
  build "$2" "$3" "$4"
  cp -a "$scratch/amd64" "$scratch/$4"
  say "fold on $4 of what amd64 wrote"
  "$1" "$scratch/jivad-$4" --data "$scratch/$4" verify --full --json
}

under qemu-aarch64-static arm64 "" arm64
under qemu-arm-static arm 6 armv6
