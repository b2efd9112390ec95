# Shared by the scripts in this folder: source it, do not run it.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

say() { printf '%s\n' "$*"; }

# skip NAME REASON: says that a check did not run, and records it for the closing lines of CI.
skip() {
  say "skipped: $1 ($2)"
  if [ -n "${JIVAD_SKIPPED:-}" ]; then say "skipped: $1 ($2)" >>"$JIVAD_SKIPPED"; fi
}

# scratch: a temporary folder in $scratch that is gone when the script ends.
scratch() {
  scratch=$(mktemp -d "${TMPDIR:-/tmp}/jivad.XXXXXX")
  trap 'rm -rf "$scratch"' EXIT
}
