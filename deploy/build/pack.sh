#!/bin/sh
# Packs a runtime and a bundled program into one self-extracting file.
#
# Usage: pack.sh RUNTIME PROGRAM OUTPUT [FLAG...]
#
# RUNTIME is the deno executable, PROGRAM a tar archive of the bundle, which starts with main.js; the
# FLAGs go to `deno run` and must be plain words. The same input gives the same output, byte by byte.

set -eu
here=$(dirname "$0")

[ $# -ge 3 ] || {
  echo 'usage: pack.sh RUNTIME PROGRAM OUTPUT [FLAG...]' >&2
  exit 2
}
runtime=$1
program=$2
output=$3
shift 3
for flag in "$@"; do
  case $flag in
    *[!a-zA-Z0-9_=,:./-]*)
      echo "pack.sh: not a plain word: $flag" >&2
      exit 2
      ;;
  esac
done

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Name and time stay out of the packed files, so that they depend on nothing but the content.
gzip -9nc <"$program" >"$work/app.gz"
# Level 9 would take twice as long and save a third of a percent.
gzip -6nc <"$runtime" >"$work/runtime.gz"

size_of() { wc -c <"$1" | tr -d ' '; }
hash_of() { sha256sum <"$1" | cut -c 1-64; }

# The offsets stand in the script and depend on its length: they are written with a fixed width.
render() {
  sed -e "s|@APP_HASH@|$(hash_of "$program")|" \
    -e "s|@APP_OFFSET@|$1|" \
    -e "s|@APP_PACKED@|$(size_of "$work/app.gz")|" \
    -e "s|@APP_SIZE@|$(size_of "$program")|" \
    -e "s|@APP_FILES_SIZE@|$(tar -xOf "$program" | wc -c | tr -d ' ')|" \
    -e "s|@RUNTIME_HASH@|$(hash_of "$runtime")|" \
    -e "s|@RUNTIME_OFFSET@|$2|" \
    -e "s|@RUNTIME_SIZE@|$(size_of "$runtime")|" \
    -e "s|@BUILT_FOR@|$(uname -sm)|" \
    -e "s|@RUN_FLAGS@|$flags|" \
    "$here/self_extract.sh"
}
flags=$*
render 0000000000 0000000000 >"$work/stub"
app_offset=$(($(size_of "$work/stub") + 1))
runtime_offset=$((app_offset + $(size_of "$work/app.gz")))
render "$(printf '%-10s' "$app_offset")" "$(printf '%-10s' "$runtime_offset")" >"$work/stub"

cat "$work/stub" "$work/app.gz" "$work/runtime.gz" >"$work/whole"
chmod 755 "$work/whole"
mv -f "$work/whole" "$output"
