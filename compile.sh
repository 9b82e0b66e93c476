#!/bin/sh
# Builds Longshore as one executable file and checks it by running it. See `compile.sh --help`.

set -eu

help() {
  cat <<'HELP'
Builds Longshore as one executable file and checks it by running it.

Usage: ./compile.sh [--output FILE] [--target TRIPLE] [--license-keys FILE]

  --output FILE        where to put it (dist/longshore)
  --target TRIPLE      for another system, e.g. aarch64-unknown-linux-gnu; needs that system's
                       compile-time runtime (see below), and is not tried out here
  --license-keys FILE  trust these keys instead of services/access/license/license_keys.json: a JWKS of public
                       Ed25519 keys
  --help               this text

With "denort", the runtime's base for executables, the result is a genuine standalone executable.
It is looked for in DENORT_BIN (a file; for this system), in the runtime's cache
($DENO_DIR/dl/release/v<version>/denort-<triple>.zip) and on the network. Where it cannot be had,
the result is a file of the same use that unpacks the runtime at its first start; that needs
Linux or macOS with a shell, gzip and tar.

DENO names the runtime to build with; otherwise deno is looked for on the PATH, then npx gets it.
HELP
}

# The version that the program is developed and tested with.
deno_version=2.9.6

# Nothing outside the one file is read: no configuration, lock file or package.
closed_flags="--no-config --no-lock --no-remote --no-npm --no-check"

# Longest wait for an answer of the host of the runtime's releases, in milliseconds.
network_patience_ms=5000

say() {
  printf '%s\n' "$*"
}

fail() {
  printf 'compile.sh: %s\n' "$*" >&2
  exit 1
}

misused() {
  printf 'compile.sh: %s\nSee compile.sh --help.\n' "$*" >&2
  exit 2
}

from=$PWD
cd "$(dirname "$0")"
root=$PWD

absolute() {
  case $1 in
    /*) printf '%s' "$1" ;;
    *) printf '%s' "$from/$1" ;;
  esac
}

output=$root/dist/longshore
target=
license_keys=
while [ $# -gt 0 ]; do
  case $1 in
    --help | -h)
      help
      exit 0
      ;;
    --output | --target | --license-keys)
      [ $# -ge 2 ] && [ -n "$2" ] || misused "$1 needs a value"
      option=$1
      value=$2
      shift 2
      ;;
    --output=?* | --target=?* | --license-keys=?*)
      option=${1%%=*}
      value=${1#*=}
      shift
      ;;
    *) misused "unknown argument: $1" ;;
  esac
  case $option in
    --output) output=$(absolute "$value") ;;
    --target) target=$value ;;
    --license-keys) license_keys=$(absolute "$value") ;;
  esac
done
[ ! -d "$output" ] || misused "--output: $output is a directory"

if [ -n "${DENO:-}" ]; then
  deno=$DENO
elif command -v deno >/dev/null 2>&1; then
  deno=deno
elif command -v npx >/dev/null 2>&1; then
  deno="npx --yes deno@$deno_version"
else
  fail "needs deno (https://deno.com) or npx on the PATH, or DENO set."
fi
export NO_COLOR=1 DENO_NO_UPDATE_CHECK=1

# $deno may be a command of several words.
# shellcheck disable=SC2086
run_deno() {
  $deno "$@"
}

facts=$(
  run_deno eval --no-config --no-lock \
    'console.log(Deno.version.deno, Deno.build.target, Deno.execPath())'
) || fail "cannot run \"$deno\"."
version=${facts%% *}
facts=${facts#* }
host_target=${facts%% *}
runtime=${facts#* }
[ "$version" = "$deno_version" ] ||
  say "Building with deno $version; developed and tested with $deno_version."

# The same permissions and flags as the task `start`.
run_flags=$(run_deno run --no-config --no-lock deploy/build/run_flags.ts) ||
  fail "cannot read the flags of the task start in deno.json."

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$(dirname "$output")"

# Bundled first: compiling the unbundled program overflows the compiler's stack.
source=$root
points=
if [ -n "$license_keys" ]; then
  [ -f "$license_keys" ] || fail "--license-keys: there is no file $license_keys."
  points=$(
    run_deno run --no-config --no-lock --no-prompt --allow-read="$license_keys" \
      deploy/build/check_license_keys.ts "$license_keys"
  ) || exit 1
  source=$work/source
  mkdir "$source"
  for entry in *; do
    case $entry in
      dist | data | coverage | deploy | tests | bench | node_modules) ;;
      *) cp -R "$entry" "$source/" ;;
    esac
  done
  cp "$license_keys" "$source/services/access/license/license_keys.json"
fi
in_source() {
  (cd "$source" && run_deno run -A --no-config --no-lock "$root/deploy/build/$1" main.ts \
    "$work/program")
}
in_source bundle.ts || fail "cannot bundle the program."
in_source check_using.ts || fail "the bundler dropped what has to close or release something."
run_deno run --frozen -A deploy/build/ui.ts || fail "cannot build the dashboard."
cp dist/ui.pack "$work/program/"
for point in $points; do
  grep -rqF -e "$point" "$work/program" ||
    fail "the license keys did not get into the program."
done

# Whether denort for $1 can be had: given, in the cache, or on the network.
has_denort() {
  [ -z "${DENORT_BIN:-}" ] || return 0
  run_deno eval --no-config --no-lock "
    const name = 'release/v$version/denort-$1.zip';
    const home = Deno.env.get('DENO_DIR') ??
      (Deno.env.get('XDG_CACHE_HOME') ?? Deno.env.get('HOME') + '/.cache') + '/deno';
    try {
      Deno.statSync(home + '/dl/' + name);
      Deno.exit(0);
    } catch { /* Not in the cache. */ }
    try {
      const answer = await fetch('https://dl.deno.land/' + name, {
        method: 'HEAD',
        signal: AbortSignal.timeout($network_patience_ms),
      });
      Deno.exit(answer.ok ? 0 : 1);
    } catch {
      Deno.exit(1);
    }" 2>/dev/null
}

new=$output.new-$$
trap 'rm -rf "$work" "$new"' EXIT
wanted=${target:-$host_target}
[ -z "${DENORT_BIN:-}" ] || [ "$wanted" = "$host_target" ] ||
  misused "DENORT_BIN is taken for this system; put the other one's into the runtime's cache"

if has_denort "$wanted"; then
  kind=standalone
  # shellcheck disable=SC2086
  run_deno compile --quiet $closed_flags $run_flags --include "$work/program" \
    --target "$wanted" -o "$new" "$work/program/main.js" || fail "deno compile failed."
  # For Windows the compiler adds its own ending.
  [ -f "$new" ] || { [ -f "$new.exe" ] && mv "$new.exe" "$new"; } || fail "nothing was built."
elif [ "$wanted" = "$host_target" ]; then
  kind=bundled
  case $wanted in
    *windows*) fail "no denort for $wanted can be had, and there is no other way on Windows." ;;
  esac
  say "No denort for $wanted can be had: building a self-extracting file with the whole runtime."
  run_deno run --no-config --no-lock --no-prompt --allow-read="$work/program" \
    deploy/build/archive.ts "$work/program" >"$work/program.tar" || fail "cannot archive the program."
  # shellcheck disable=SC2086
  deploy/build/pack.sh "$runtime" "$work/program.tar" "$new" --cached-only $closed_flags \
    $run_flags
else
  fail "no denort for $wanted can be had (DENORT_BIN, cache or network; see --help)."
fi

if [ "$wanted" = "$host_target" ]; then
  run_deno run -A --no-config --no-lock deploy/build/check_executable.ts "$new" $kind ||
    fail "the executable does not pass its checks and is not kept."
else
  say "Built for $wanted: it could not be tried out here."
fi
mv -f "$new" "$output"
size=$(wc -c <"$output")
say "Done: $output ($kind, $((size / 1000000)) MB)."
