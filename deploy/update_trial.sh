#!/bin/sh
# Returns to the previous executable when an update does not get ready twice.
#
#   update-trial count EXECUTABLE     before each start, as root: counts, and puts back at the third
#   update-trial prepare EXECUTABLE   before each start, as the service: backs up or restores the data
#   update-trial ready EXECUTABLE     when the service is ready, as root: ends the trial
#
# `longshore self-update` leaves EXECUTABLE.previous, and EXECUTABLE.trial with the number of starts.
# A newer version migrates the databases at its first start, and the previous one refuses migrated
# ones. Therefore it backs up before that start, and returning restores this backup.
#
# Needs sh, cat, mv, rm. Its status is never 2, which systemd does not restart after.

set -u
executable=$2
previous=$executable.previous
trial=$executable.trial
returned=$executable.returned
data=${DATA_DIR:-${STATE_DIRECTORY:-}}
data=${data%%:*}
backup=$data/before-update.backup

say() {
  printf 'longshore update: %s\n' "$*" >&2
}

fail() {
  say "$@"
  exit 1
}

# Prints the number of starts in the trial, nothing without a trial.
starts() {
  [ ! -f "$trial" ] || cat "$trial"
}

count() {
  case $(starts) in
    '') ;;
    0) echo 1 >"$trial" || fail "cannot count the start in $trial." ;;
    1) echo 2 >"$trial" || fail "cannot count the start in $trial." ;;
    *)
      : >"$returned" && mv -f "$previous" "$executable" && rm -f "$trial" ||
        fail "cannot put back $previous."
      say "the new executable was not ready in two starts: returned to the previous one."
      ;;
  esac
}

prepare() {
  [ -n "$data" ] || fail "neither DATA_DIR nor STATE_DIRECTORY is set."
  case $(starts) in
    '') [ ! -f "$returned" ] || restore_data ;;
    1)
      # First, because the next start takes a backup for the one of this update.
      [ ! -f "$backup" ] || mv -f "$backup" "$backup.former" || fail "cannot rename $backup."
      "$executable" version >/dev/null || fail "the new executable does not start."
      [ ! -f "$data/state.sqlite" ] || "$previous" backup "$backup" ||
        fail "no backup, so that the new executable is not started."
      ;;
    *)
      [ -f "$backup" ] || [ ! -f "$data/state.sqlite" ] ||
        fail "no backup, so that the new executable is not started."
      ;;
  esac
}

# Without a backup the new executable was not started.
restore_data() {
  [ -f "$backup" ] || return 0
  "$executable" restore "$backup" || fail "cannot restore $backup."
  rm -f "$backup"
}

case $1 in
  count | prepare) "$1" ;;
  ready) rm -f "$trial" "$returned" ;;
  *) fail "unknown action $1." ;;
esac
