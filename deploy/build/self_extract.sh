#!/bin/sh
# Longshore in one file: this script, and behind it the program and the runtime (each gzip).
#
# At the first start both are unpacked below the first usable of these directories, afterwards
# they are run from there:
#
#   $LONGSHORE_RUNTIME_DIR
#   $CACHE_DIRECTORY/runtime        (systemd's CacheDirectory=)
#   $XDG_CACHE_HOME/longshore
#   ~/.cache/longshore
#   $DATA_DIR/runtime               (else $STATE_DIRECTORY/runtime, else ./data/runtime)
#
# The names of the unpacked files contain the hash of their content, so that several versions can
# coexist and an update of the program alone does not unpack the runtime. A directory that other
# users than this one and root can write to is not used.
#
# Needs sh, cat, find, gzip, head, id, ls, mkdir, mktemp, mv, rm, tail, tar, tr, uname, wc; busybox
# will do. Where sha256sum is present, it is used too.

set -u
callers_umask=$(umask)
umask 077

app_hash=@APP_HASH@
app_offset=@APP_OFFSET@
app_packed=@APP_PACKED@
app_size=@APP_SIZE@
app_files_size=@APP_FILES_SIZE@
runtime_hash=@RUNTIME_HASH@
runtime_offset=@RUNTIME_OFFSET@
runtime_size=@RUNTIME_SIZE@
built_for='@BUILT_FOR@'

say() {
  printf 'longshore: %s\n' "$*" >&2
}

fail() {
  say "$@"
  exit 1
}

# Whether only this user and root can change files in directory $1, including by renaming one of its
# parents. Write permission for the group is accepted if the group is the user's private one.
is_private() {
  case $1 in
    *"
"*) return 1 ;; # One line a directory below.
  esac
  chain=$(
    path=$1
    set -- /
    while [ "$path" != / ]; do
      set -- "$@" "$path"
      path=${path%/*}
      path=${path:-/}
    done
    # Sorted by name, thus from the root down to the directory itself.
    LC_ALL=C ls -ldn "$@" 2>/dev/null
  ) || return 1
  shared=
  while read -r mode _ owner group _; do
    [ "$owner" = "$user" ] || [ "$owner" = 0 ] || return 1
    shared=
    case $mode in
      # As /tmp: others can write there, but neither rename nor remove what is ours.
      d????????[tT]*) shared=yes ;;
      d???????w*) return 1 ;;
      d????w*)
        [ "$group" = 0 ] || { [ "$group" = "$(id -g)" ] && [ "$(id -gn)" = "$(id -un)" ]; } ||
          return 1
        ;;
      d*) ;;
      *) return 1 ;;
    esac
  done <<CHAIN
$chain
CHAIN
  [ -z "$shared" ]
}

# Whether $1 is a plain file of $2 bytes that only this user or root can have written.
is_unpacked() {
  [ -f "$1" ] && [ ! -h "$1" ] || return 1
  read -r mode _ owner _ size _ <<FILE
$(LC_ALL=C ls -ldn "$1" 2>/dev/null)
FILE
  case $mode in
    -????w* | -???????w*) return 1 ;;
  esac
  [ "$size" = "$2" ] && { [ "$owner" = "$user" ] || [ "$owner" = 0 ]; }
}

# Whether $1 is a directory with the whole program that only this user or root can have written.
is_program() {
  [ -d "$1" ] && [ ! -h "$1" ] || return 1
  read -r mode _ owner _ <<DIRECTORY
$(LC_ALL=C ls -ldn "$1" 2>/dev/null)
DIRECTORY
  case $mode in
    d????w* | d???????w*) return 1 ;;
  esac
  # The sizes alone: reading hundreds of files would take longer than the rest of the start.
  read -r size _ <<TOTAL
$(wc -c "$1"/* 2>/dev/null | tail -n 1)
TOTAL
  [ "$size" = "$app_files_size" ] && { [ "$owner" = "$user" ] || [ "$owner" = 0 ]; }
}

# Whether a program can be started from directory $1; on a noexec mount it cannot.
can_execute() {
  probe=$(mktemp "$1/probe-XXXXXX") 2>/dev/null || return 1
  printf '#!/bin/sh\nexit 0\n' >"$probe" && chmod 700 "$probe" && "$probe" 2>/dev/null
  outcome=$?
  rm -f "$probe"
  return "$outcome"
}

# Whether file $1 has SHA-256 $2. Where that cannot be computed gzip's own check has to do.
has_hash() {
  command -v sha256sum >/dev/null || return 0
  case $(sha256sum <"$1") in
    "$2 "*) return 0 ;;
  esac
  return 1
}

# Unpacks standard input to file $1, of $2 bytes with SHA-256 $3. It gets its name when it is whole:
# of several starts at the same time each writes its own file, and the last rename wins.
unpack() {
  part=$(mktemp "$1.part-XXXXXX" 2>/dev/null) || return 1
  if gzip -dc >"$part" 2>/dev/null && [ "$(wc -c <"$part")" -eq "$2" ] &&
    has_hash "$part" "$3" && chmod 700 "$part"; then
    # On disk before it gets its name: a power cut must not leave holes under it.
    sync "$part" 2>/dev/null
    mv -f "$part" "$1" && return 0
  fi
  rm -f "$part"
  return 1
}

# Unpacks the archive on standard input to directory $1, which gets its name when it is complete. Of
# several starts at the same time the first one wins.
unpack_program() {
  files=$(mktemp -d "$1.part-XXXXXX" 2>/dev/null) || return 1
  if unpack "$files/tar" "$app_size" "$app_hash" && tar -xf "$files/tar" -C "$files" 2>/dev/null &&
    rm -f "$files/tar"; then
    sync "$files"/* "$files" 2>/dev/null
    # Something else has the name: a damaged program, or one that others could have changed.
    if [ -e "$1" ] || [ -h "$1" ]; then is_program "$1" || rm -rf "$1"; fi
    mv -f "$files" "$1"
    # When another start was faster, it is now below that one's.
    files=$1/${files##*/}
  fi
  rm -rf "$files"
  is_program "$1"
}

# Makes directory $1 ready and sets home, runtime, app and runtime_cache; or says why it cannot be used.
prepare() {
  if ! { [ -d "$1" ] || mkdir -p "$1" 2>/dev/null; }; then
    say "cannot create $1 for the runtime."
    return 1
  fi
  if ! home=$(cd -P "$1" 2>/dev/null && pwd -P); then
    say "cannot enter $1 for the runtime."
    return 1
  fi
  if ! is_private "$home"; then
    say "does not keep its runtime in $home: other users can write there or above it."
    return 1
  fi
  runtime=$home/deno-$runtime_hash
  app=$home/longshore-$app_hash
  # Each version has its own: the runtime never removes from it, and reads more of it the larger it is.
  runtime_cache=$home/cache-$app_hash
  if is_unpacked "$runtime" "$runtime_size" && is_program "$app"; then
    [ -x "$runtime" ] && return 0
    say "cannot run its runtime in $home: not executable for this user, or mounted noexec."
    return 1
  fi
  if [ ! -w "$home" ]; then
    say "cannot write its runtime into $home."
    return 1
  fi
  if ! can_execute "$home"; then
    say "cannot run its runtime in $home: mounted noexec, or full."
    return 1
  fi
  is_program "$app" || {
    tail -c "+$app_offset" "$self" 2>/dev/null | head -c "$app_packed" |
      unpack_program "$app" || {
      say "cannot unpack the program into $home: no space, or $self is damaged."
      return 1
    }
    forget_programs
  }
  is_unpacked "$runtime" "$runtime_size" || {
    tail -c "+$runtime_offset" "$self" 2>/dev/null |
      unpack "$runtime" "$runtime_size" "$runtime_hash" || {
      say "cannot unpack its runtime into $home: no space (it takes $runtime_size bytes)," \
        "or $self is damaged."
      return 1
    }
    "$runtime" --version >/dev/null 2>&1 ||
      fail "cannot run on this host: its runtime needs glibc 2.27 or newer and libgcc."
    forget_runtimes
  }
}

# Removes the caches of former versions, which a running one misses little, and their programs, at
# about 13 MB each, once they are a month old. A service that still runs one of them would miss its
# files: it loads some on first use. Those in other containers are not seen.
forget_programs() {
  running=$(cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\0' '\n')
  for former in "$home"/longshore-* "$home"/cache-*; do
    hash=${former##*-}
    # The directory may be one with files of others.
    case $hash in
      "$app_hash" | *[!0-9a-f]*) continue ;;
    esac
    [ "${#hash}" -eq 64 ] || continue
    case ${former##*/} in
      cache-*) rm -rf "$former" ;;
      *)
        case $running in
          *"$former/"*) continue ;;
        esac
        [ -z "$(find "$former" -prune -mtime +29 2>/dev/null)" ] || rm -rf "$former"
        ;;
    esac
  done
}

# Removes the runtimes of former versions, at about 100 MB each, and what a killed start left. A
# service of a former version that still runs keeps its open file.
forget_runtimes() {
  for file in "$home"/deno-*; do
    case $file in
      "$runtime" | *.part-*) ;;
      *) rm -f "$file" ;;
    esac
  done
  find "$home" -name '*.part-*' -prune -mtime +0 -exec rm -rf {} \; 2>/dev/null
}

self=$0
case $self in
  */*) ;;
  *) self=./$self ;; # As `sh longshore` has it.
esac
[ -r "$self" ] || fail "cannot read its own file $self."

host=$(uname -sm)
[ "$host" = "$built_for" ] || fail "was built for $built_for; this host is $host."

user=$(id -u)
cache=${CACHE_DIRECTORY:-}
cache=${cache%%:*}
state=${STATE_DIRECTORY:-}
data=${DATA_DIR:-${state%%:*}}

ready=
for directory in \
  "${LONGSHORE_RUNTIME_DIR:-}" \
  "${cache:+$cache/runtime}" \
  "${XDG_CACHE_HOME:+$XDG_CACHE_HOME/longshore}" \
  "${HOME:+$HOME/.cache/longshore}" \
  "${data:-./data}/runtime"; do
  case $directory in
    '') continue ;;
    -*) directory=./$directory ;;
  esac
  prepare "$directory" && ready=yes && break
done
[ -n "$ready" ] || fail "found no directory for its runtime. Set LONGSHORE_RUNTIME_DIR to one" \
  "that is writable, not mounted noexec, and closed to other users."

# The runtime's caches are next to it, and it does not check the network for newer versions.
export DENO_DIR="$runtime_cache" DENO_NO_UPDATE_CHECK=1
# One arena, and freed memory goes back to the system: a busy service is some 20 MB smaller.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-1}"
export MALLOC_TRIM_THRESHOLD_="${MALLOC_TRIM_THRESHOLD_:-131072}"
# For `longshore self-update`.
export LONGSHORE_FILE="$self"
umask "$callers_umask"
exec "$runtime" run @RUN_FLAGS@ "$app/main.js" "$@"
