#!/usr/bin/env bash
# Tests of the pure packages on ARM under qemu-user: the same laws and vectors must hold there,
# where the compiler may fuse a multiplication with an addition.
source "$(dirname "$0")/lib.sh"

pure=(./reactivation ./gate/... ./chitta/fold ./chitta/vasana ./internal/ledger ./soul/...)

under() { # QEMU GOARCH GOARM
  if ! command -v "$1" >/dev/null; then
    skip "tests on $2" "$1 is not installed (Debian: qemu-user-static)"
    return
  fi
  say "tests on $2"
  CGO_ENABLED=0 GOARCH=$2 GOARM=$3 go test -short -vet=off -timeout 15m -exec "$1" "${pure[@]}"
}

under qemu-aarch64-static arm64 ""
if command -v qemu-aarch64-static >/dev/null; then
  say "the encoder's kernel on arm64"
  CGO_ENABLED=0 GOARCH=arm64 go test -short -vet=off -timeout 15m -exec qemu-aarch64-static \
    -run 'Mul|Products|Unpack|StayInside|Encode' ./internal/builtin
fi
under qemu-arm-static arm 6
