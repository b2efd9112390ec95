#!/usr/bin/env bash
# Builds an Ollama server for the tests of internal/ollama, from its Go module: the version that go.mod
# names, for the processor alone. Needs a C++ compiler and, on Debian, nlohmann-json3-dev and libstb-dev:
# the module comes without the folder in which llama.cpp keeps such headers. A quarter of an hour on two
# cores. Usage: ollama.sh [FOLDER], which is bin where none is given; one that is there is left as it is.
source "$(dirname "$0")/lib.sh"

out=$(realpath -m "${1:-bin}")
version=$(awk '$1 == "github.com/ollama/ollama" {print $2}' go.mod)

if [ -x "$out/ollama" ]; then
  say "$out/ollama is there already"
  exit 0
fi
if ! command -v "${CXX:-g++}" >/dev/null; then
  skip "Ollama server" "no C++ compiler"
  exit 0
fi

scratch
# The headers: two of them are packages of the system, the third is part of another Go module.
for header in nlohmann/json.hpp stb/stb_image.h; do
  if ! echo "#include <$header>" | "${CXX:-g++}" -x c++ -fsyntax-only - 2>/dev/null; then
    skip "Ollama server" "no header $header: on Debian, apt-get install nlohmann-json3-dev libstb-dev"
    exit 0
  fi
done
for module in "github.com/gen2brain/malgo@v0.11.24" "github.com/ollama/ollama@$version"; do
  if ! (cd "$scratch" && GOFLAGS=-mod=mod go mod download -json "$module") >"$scratch/module.json"; then
    skip "Ollama server" "the Go module proxy gives no $module"
    exit 0
  fi
  if [ -z "${malgo:-}" ]; then malgo=$(sed -n 's/.*"Dir": "\(.*\)".*/\1/p' "$scratch/module.json"); fi
done
mkdir -p "$scratch/include/miniaudio" "$out"
install -m 644 "$malgo/miniaudio.h" "$scratch/include/miniaudio/miniaudio.h"

say "building Ollama $version into $out; this takes a while"
# Without what a debugger would want, and with less optimising, it takes half as long.
CGO_ENABLED=1 CGO_CFLAGS=-O1 CGO_CXXFLAGS=-O1 GOFLAGS= GOBIN=$out CPLUS_INCLUDE_PATH=$scratch/include${CPLUS_INCLUDE_PATH:+:$CPLUS_INCLUDE_PATH} \
  go install -trimpath -ldflags "-s -w -X=github.com/ollama/ollama/version.Version=${version#v}" "github.com/ollama/ollama@$version"
say "$out/ollama: $(du -m "$out/ollama" | cut -f1) MB"
