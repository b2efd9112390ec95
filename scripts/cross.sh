#!/usr/bin/env bash
# Builds the binary for every supported board into dist/ and prints the sizes.
# The stripped amd64 binary must stay under the limit: boards download it over slow links.
source "$(dirname "$0")/lib.sh"
limit_mb=27

build() { # GOARCH GOARM NAME
  CGO_ENABLED=0 GOOS=linux GOARCH=$1 GOARM=$2 \
    go build -trimpath -ldflags "${LDFLAGS:--s -w}" -o "dist/jivad-linux-$3" ./cmd/jivad
  printf '%8.1f MB  dist/jivad-linux-%s\n' "$(bc_mb "dist/jivad-linux-$3")" "$3"
}
bc_mb() { awk -v b="$(stat -c %s "$1")" 'BEGIN{printf "%.1f", b/1e6}'; }

mkdir -p dist
build amd64 "" amd64
build arm64 "" arm64
build arm 7 armv7
build arm 6 armv6

size=$(stat -c %s dist/jivad-linux-amd64)
if [ "$size" -gt $((limit_mb * 1000000)) ]; then
  say "dist/jivad-linux-amd64 is over the limit of $limit_mb MB"
  exit 1
fi
