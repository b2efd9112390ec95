#!/usr/bin/env bash
# Shows the daemon at work on the bundled, invented diary, in a folder that is gone afterwards.
# On a terminal it stays up until Ctrl-C; elsewhere it stops by itself. Usage: run-sample.sh bin/jivad
source "$(dirname "$0")/lib.sh"

unset "${!JIVAD_@}" # the settings of a companion of the person's own are none of this one's
bin=$(realpath "$1")
scratch
data=$scratch/data
log=$scratch/jivad.log
jivad() { "$bin" --data "$data" "$@"; }

daemon=
stop() {
  trap - EXIT INT TERM
  if [ -n "$daemon" ]; then kill -TERM "$daemon" 2>/dev/null || true; wait "$daemon" || true; fi
  rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 0' INT TERM

say "1. A new companion in $data, and four months of an invented diary for it to read."
jivad init --yes --sample --quiet
jivad import "$data/diary"

printf '\n%s\n\n' "2. The daemon."
"$bin" --data "$data" run >"$log" 2>&1 &
daemon=$!
for ((i = 0; ; i++)); do
  if ! kill -0 "$daemon" 2>/dev/null; then
    say "the daemon ended at once; its log:"
    cat "$log"
    exit 1
  fi
  [ -S "$data/jivad.sock" ] && break
  if [ "$i" -ge 300 ]; then
    say "the daemon opened no socket within 30 s; its log:"
    cat "$log"
    exit 1
  fi
  sleep 0.1
done
jivad status

printf '\n%s\n\n' "3. Who it has become (SOUL.md)."
jivad soul
printf '\n%s\n\n' "4. How it came there: one session per day of the diary."
jivad trend

command=$(printf %q "$bin")
own="For a companion of your own: $command init, then import what you have written, then run."
if [ ! -t 0 ]; then
  printf '\n%s\n%s\n' "5. The daemon stops now and its folder goes. Started on a terminal it stays, and its verbs can be tried." "$own"
  exit 0
fi
cat <<EOF

5. Try next, in another terminal while this runs:

  $command --data $(printf %q "$data") recall "walks along the river"
  $command --data $(printf %q "$data") write "Sat for ten minutes. The tap dripped."
  $command --data $(printf %q "$data") vasanas

$own
The daemon is running. Ctrl-C stops it, and the folder of the sample goes with it.
EOF
wait "$daemon" || true
