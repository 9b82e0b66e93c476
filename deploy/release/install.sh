#!/bin/sh
# Installs or upgrades Longshore @VERSION@ as a systemd service, see --help.
#
# Nothing runs before the last line, so that an incomplete download of this script does nothing.
# Files are verified before they are used, and a run that fails takes back what it has done.

set -u
umask 022

version=@VERSION@
# Directory of the release's files; "VERSION" in it stands for the version.
url=${LONGSHORE_RELEASE_URL:-@URL@}
# Release keys, one a line, as in the .pub files of ssh-keygen.
keys='@KEYS@'

executable=/usr/local/bin/longshore
update_trial=/usr/local/lib/longshore/update-trial
unit=/etc/systemd/system/longshore.service
config=/etc/longshore
data=/var/lib/longshore
cache=/var/cache/longshore

action=install
from=
host=127.0.0.1
port=3000
settings=
token=
dry_run=
no_start=
purge=

work=
undo=
failure=Interrupted

help() {
  cat <<HELP
Installs Longshore $version as a systemd service, or upgrades it. Run it as root:

  sh install.sh [--version V] [--from DIRECTORY] [--host ADDRESS] [--port N] [--set NAME=VALUE]
                [--join TOKEN] [--no-start] [--dry-run]
  sh install.sh --uninstall [--purge] [--dry-run]

  --version V       install this version of the release's address
  --from DIRECTORY  take the files of a release from this directory; no request is sent
  --host ADDRESS    listen address of a new installation ($host; 0.0.0.0: all)
  --port N          port of a new installation ($port)
  --set NAME=VALUE  a variable of a new installation, as often as needed
  --join TOKEN      then join the fleet of the server that has made TOKEN
  --no-start        start at the next boot only
  --dry-run         print the steps, change nothing, send no request
  --uninstall       remove the program, keep the configuration and the data
  --purge           with --uninstall: also delete these, after a question
HELP
}

say() { printf '%s\n' "$@"; }

fail() {
  failure=$*
  exit 1
}

misused() {
  failure="$*; see --help"
  exit 2
}

# Runs a command with the sentence that describes it: "Create the user longshore" useradd ...
step() {
  sentence=$1
  shift
  say "$sentence"
  [ -z "$dry_run" ] || return 0
  complaint=$("$@" 2>&1 >/dev/null </dev/null) ||
    fail "$sentence: $(printf '%s\n' "${complaint:-it failed}" | sed '/^ *$/d' | head -n 1)"
}

# Adds a command that takes the next step back. The newest one runs first.
or_undo() { undo="$*; $undo"; }

# Ends the script: takes back what a failed run has begun, and says why in one sentence.
finish() {
  status=$?
  trap '' HUP INT TERM
  if [ "$status" != 0 ]; then
    if [ -n "$undo$dry_run" ]; then
      [ -n "$dry_run" ] || eval "$undo" >/dev/null 2>&1
      failure="$failure; nothing was changed"
    fi
    printf 'install.sh: %s\n' "$failure" >&2
  fi
  [ -z "$work" ] || rm -rf "$work"
  exit "$status"
}

# A variable for the environment file, of characters that need no quotes there.
add_setting() {
  case $1 in
    *[!0-9A-Za-z_=.,:/@%+~*-]* | [!A-Z]*) ;;
    *=*) settings=${settings:+"$settings
"}$1 && return ;;
  esac
  misused "--set is not a variable such as FLEET_ALLOW=admin"
}

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
      --version | --from | --host | --port | --set | --join) [ -n "${2:-}" ] || misused "$1 needs a value" ;;
    esac
    case $1 in
      --version) version=${2#v} && shift ;;
      --from) from=$2 && shift ;;
      --host) host=$2 && shift ;;
      --port) port=$2 && shift ;;
      --set) add_setting "$2" && shift ;;
      --join) token=$2 && shift ;;
      --no-start) no_start=yes ;;
      --dry-run) dry_run=yes ;;
      --uninstall) action=uninstall ;;
      --purge) purge=yes ;;
      --help | -h) action=help ;;
      *) misused "Unknown option $1" ;;
    esac
    shift
  done
  case $version in '' | *[!0-9A-Za-z.-]*) misused "--version is not a version such as 1.2.3" ;; esac
  case $host in *[!0-9A-Fa-f.:]*) misused "--host is not an address such as 0.0.0.0" ;; esac
  case $port in '' | 0* | *[!0-9]* | ??????*) misused "--port is not a number from 1 to 65535" ;; esac
  [ "$port" -le 65535 ] || misused "--port is not a number from 1 to 65535"
  case $token in *[!0-9A-Za-z_-]*) misused "--join is not a token such as lsjoin_..." ;; esac
  [ -z "$token" ] || [ "$action$no_start" = install ] || misused "--join needs a service that runs"
  [ -z "$purge" ] || [ "$action" = uninstall ] || misused "--purge needs --uninstall"
}

check_host() {
  [ "$(id -u)" = 0 ] || [ -n "$dry_run" ] || fail "Root is required; run it with sudo"
  if [ -z "$no_start" ] && [ ! -d /run/systemd/system ]; then
    fail "This host does not run systemd; run the container image instead, or give --no-start"
  fi
  for program in systemctl useradd groupadd getent install sha256sum; do
    command -v "$program" >/dev/null || fail "The program $program is not installed"
  done
}

find_target() {
  case $(uname -sm) in
    'Linux x86_64') target=x86_64-unknown-linux-gnu loader=/lib64/ld-linux-x86-64.so.2 ;;
    'Linux aarch64') target=aarch64-unknown-linux-gnu loader=/lib/ld-linux-aarch64.so.1 ;;
    *) fail "$(uname -sm) is not supported, only Linux on x86_64 and aarch64" ;;
  esac
  [ ! -e "$loader" ] || return 0
  for musl in /lib/ld-musl-*; do
    [ ! -e "$musl" ] || fail "This host has musl and the executable needs glibc; run the container image instead"
  done
  fail "This host has no glibc, which the executable needs ($loader); run the container image instead"
}

make_work() {
  work=$(mktemp -d /var/tmp/longshore-install.XXXXXX 2>/dev/null) ||
    fail "Cannot create a directory in /var/tmp; it is full or read-only"
  # An executable that unpacks itself does so there when this script calls it.
  export LONGSHORE_RUNTIME_DIR="$work/runtime"
}

# Gets a file of the release into the work directory.
fetch() {
  if [ -n "$from" ]; then
    step "Copy $from/$1" cp "$from/$1" "$work/$1"
  elif command -v curl >/dev/null; then
    step "Download $url/$1" curl -fsSL --proto =http,https -o "$work/$1" "$url/$1"
  elif command -v wget >/dev/null; then
    step "Download $url/$1" wget -q -O "$work/$1" "$url/$1"
  else
    fail "Neither curl nor wget is installed; install one, or give --from"
  fi
}

find_release() {
  [ -z "$settings" ] || [ ! -e "$config/longshore.env" ] ||
    say "--set is for new installations: $config/longshore.env is not changed"
  # Hosts that the new server invites are installed from the same address, if the service takes it.
  case $url in
    *[!0-9A-Za-z_.:/~%-]*) ;;
    http://?* | https://?*) [ -n "$from" ] || settings=RELEASE_URL=$url${settings:+"
$settings"} ;;
  esac
  case $url in *VERSION*) url=${url%%VERSION*}$version${url#*VERSION} ;; esac
  [ -n "$from$url" ] || fail "Set LONGSHORE_RELEASE_URL to the address of the release, or give --from"
  [ -z "$from" ] || [ -d "$from" ] || fail "--from: $from is not a directory"
}

verify_signature() {
  if [ -z "$keys" ]; then
    say "Only the checksums are verified: this script was made without a release key"
  elif ! command -v ssh-keygen >/dev/null; then
    say "Only the checksums are verified: ssh-keygen is not installed"
  else
    fetch SHA256SUMS.sig
    step "Verify the signature of SHA256SUMS" signature_is_valid
  fi
}

signature_is_valid() {
  printf '%s\n' "$keys" | sed 's/^/longshore namespaces="file" /' >"$work/signers" &&
    ssh-keygen -Y verify -f "$work/signers" -I longshore -n file -s "$work/SHA256SUMS.sig" \
      <"$work/SHA256SUMS" >&2
}

# Verifies that the sums list the file with its content, once.
sum_is_valid() {
  line=$(grep -E "^[0-9a-f]{64}  $(printf '%s' "$1" | sed 's/[.]/[.]/g')\$" "$work/SHA256SUMS") || {
    echo "SHA256SUMS does not list it" >&2
    return 1
  }
  [ "$line" = "$(cd "$work" && sha256sum "$1")" ] || {
    echo "its content is not the one that SHA256SUMS lists" >&2
    return 1
  }
}

fetch_release() {
  fetch SHA256SUMS
  verify_signature
  [ -n "$dry_run" ] || grep -q "  $file\$" "$work/SHA256SUMS" || fail "The release has no $file"
  for name in "$file" longshore.service longshore-update-trial; do
    fetch "$name"
    step "Verify the checksum of $name" sum_is_valid "$name"
  done
}

# The value of a variable in the environment file, else $2.
configured() {
  value=$(sed -n "s/^$1=//p" "$config/longshore.env" 2>/dev/null | tail -n 1 | tr -d "\"'")
  printf '%s' "${value:-$2}"
}

check_port() {
  # Sockets that listen have state 0A.
  if grep -qi ":$(printf '%04X' "$port") [0-9A-F]*:0000 0A " /proc/net/tcp /proc/net/tcp6 2>/dev/null; then
    fail "Port $port is in use; choose another one with --port, or PORT in $config/longshore.env"
  fi
}

write_config() {
  printf '%s\n' "# Read by longshore.service; 'longshore config' lists all variables." \
    "HOST=$host" "PORT=$port" 'TRUSTED_PROXIES=127.0.0.1/32,::1/128' \
    ${settings:+"$settings"} >"$config/longshore.env.new" &&
    chmod 600 "$config/longshore.env.new" && mv -f "$config/longshore.env.new" "$config/longshore.env"
}

# Puts a file in place at once: what was there before stays until the new one is complete.
place() {
  install -m "$1" "$2" "$3.new" && mv -f "$3.new" "$3"
}

create_user() {
  # The unit gives the service this group, which owns the socket of Docker.
  if ! getent group docker >/dev/null; then
    or_undo groupdel docker
    step "Create the group docker" groupadd --system docker
  fi
  if ! getent passwd longshore >/dev/null; then
    or_undo userdel longshore
    step "Create the user longshore" useradd --system --user-group --home-dir "$data" \
      --shell /usr/sbin/nologin longshore
  fi
}

create_files() {
  if [ ! -d "$data" ]; then
    # Without a service that has started, it is empty or has what this run created.
    or_undo rm -rf "$data" "$cache"
    step "Create $data" install -d -m 700 -o longshore -g longshore "$data"
  fi
  if [ ! -e "$config/longshore.env" ]; then
    [ -d "$config" ] || or_undo rmdir "$config"
    step "Create $config" install -d -m 750 "$config"
    or_undo rm -f "$config/longshore.env" "$config/longshore.env.new"
    step "Write $config/longshore.env" write_config
  fi
  [ -d "${update_trial%/*}" ] || or_undo rmdir "${update_trial%/*}"
  or_undo rm -f "$update_trial" "$update_trial.new" "$unit" "$unit.new"
  step "Create ${update_trial%/*}" install -d -m 755 "${update_trial%/*}"
  step "Install $update_trial" place 755 "$work/longshore-update-trial" "$update_trial"
  step "Install $unit" place 644 "$work/longshore.service" "$unit"
  # Last, because it marks a complete installation.
  or_undo rm -f "$executable" "$executable.new"
  step "Install $executable" place 755 "$work/$file" "$executable"
}

start() {
  or_undo systemctl daemon-reload
  or_undo systemctl disable longshore
  step "Enable the service" systemctl enable longshore
  [ -z "$no_start" ] || return 0
  step "Read the unit" systemctl daemon-reload
  or_undo systemctl stop longshore
  # It returns when the service is ready.
  step "Start the service (journalctl -u longshore shows its log)" systemctl start longshore
}

print_address() {
  [ -z "$no_start$dry_run" ] || return 0
  case $host in
    127.0.0.1 | ::1) name=localhost ;;
    0.0.0.0 | ::) name=$(uname -n) ;;
    *:*) name=[$host] ;;
    *) name=$host ;;
  esac
  address=$(configured SERVICE_BASE_URL "http://$name:$port")
  address=${address%/}
  code=$(sed -n 's/^Setup code: //p' "$data/initial-credentials" 2>/dev/null)
  say "" "Longshore $version is ready."
  if [ -n "$code" ]; then
    say "Set up: open $address/setup#$code"
  else
    say "Dashboard: $address/"
  fi
  [ "$address" != "http://localhost:$port" ] ||
    say "From another computer: ssh -L $port:localhost:$port $(uname -n), then open the same address"
}

install_new() {
  [ -n "$no_start" ] || check_port
  say "Install Longshore $version"
  fetch_release
  create_user
  create_files
  start
  undo=
  print_address
}

# Ends an installation or upgrade that was killed before its last step, else says what is there.
keep() {
  if [ -e "$executable.trial" ] && [ -z "$no_start" ]; then
    restart
  elif ! systemctl is-enabled longshore >/dev/null 2>&1; then
    [ -n "$no_start" ] || check_port
    start
    undo=
    print_address
  elif systemctl is-active longshore >/dev/null 2>&1; then
    say "Longshore $version is installed and runs"
  else
    say "Longshore $version is installed; start it with: systemctl start longshore"
  fi
}

upgrade() {
  say "Upgrade Longshore $installed to $version"
  fetch_release
  printf '%s\n' "$keys" >"$work/keys"
  mkdir "$work/former"
  step "Keep the former unit" cp -p "$unit" "$update_trial" "$work/former"
  or_undo return_executable
  step "Verify and replace $executable with longshore self-update" \
    "$executable" self-update "$work/$file" --executable "$executable" --key "$work/keys"
  or_undo return_unit
  step "Install $update_trial" place 755 "$work/longshore-update-trial" "$update_trial"
  step "Install $unit" place 644 "$work/longshore.service" "$unit"
  step "Read the unit" systemctl daemon-reload
  # From here the unit returns to the former version by itself, with its data.
  trap '' HUP INT TERM
  undo=
  [ -n "$no_start" ] || restart
}

return_executable() {
  [ ! -e "$executable.trial" ] || mv -f "$executable.previous" "$executable"
  rm -f "$executable.trial" "$executable".*.new
}

return_unit() {
  place 644 "$work/former/longshore.service" "$unit"
  place 755 "$work/former/update-trial" "$update_trial"
  systemctl daemon-reload
}

restart() {
  say "Restart the service"
  [ -z "$dry_run" ] || return 0
  systemctl restart longshore >/dev/null 2>&1
  # The trial of the new version ends when it is ready, or at the third start.
  seconds=0
  while [ -e "$executable.trial" ] && [ "$seconds" -lt 600 ]; do
    sleep 1
    seconds=$((seconds + 1))
  done
  [ "$(version_of "$executable")" != "$version" ] || {
    print_address
    return
  }
  [ ! -d "$work/former" ] || return_unit
  fail "Version $version did not get ready and $installed runs again; see journalctl -u longshore"
}

# Nothing is taken back here: with the same keys, the host can try again.
join_fleet() {
  [ -n "$token" ] || return 0
  say "" "Join the fleet"
  [ -z "$dry_run" ] || return 0
  said=$(DATA_DIR=$(configured DATA_DIR "$data") "$executable" --env-file "$config/longshore.env" \
    join "$token" --yes 2>&1 </dev/null) ||
    fail "Longshore is installed, but did not join the fleet: ${said##*longshore: }"
  say "$said"
}

# Prints the version of an executable, nothing if it cannot run.
version_of() {
  "$1" version 2>/dev/null </dev/null | sed -n 's/^longshore \([^ ]*\).*/\1/p'
}

install_or_upgrade() {
  find_target
  check_host
  find_release
  make_work
  port=$(configured PORT "$port")
  host=$(configured HOST "$host")
  file=longshore-$version-$target
  [ -e "$executable" ] || {
    install_new
    return
  }
  if [ ! -e "$unit" ] || [ ! -e "$update_trial" ]; then
    fail "$executable was not installed with its unit; remove it, or install $unit"
  fi
  installed=$(version_of "$executable")
  case $installed in
    '') fail "$executable does not run; remove it and install again" ;;
    "$version") keep ;;
    *) upgrade ;;
  esac
}

confirm_purge() {
  [ -z "$dry_run" ] || return 0
  # Not from the standard input, which may be this script.
  if ! (: </dev/tty) 2>/dev/null; then fail "--purge asks on the terminal, and there is none"; fi
  say "Delete $config and $data with all accounts, history and keys? Type yes:" >/dev/tty
  read -r answer </dev/tty || fail "Not confirmed"
  [ "$answer" = yes ] || fail "Not confirmed"
}

uninstall() {
  [ -z "$purge" ] || confirm_purge
  [ ! -e "$unit" ] || step "Stop the service" systemctl disable --now longshore
  step "Remove $executable, $unit, ${update_trial%/*} and $cache" rm -rf "$unit" "$executable" \
    "$executable.previous" "$executable.trial" "$executable.returned" "${update_trial%/*}" "$cache"
  step "Forget the unit" systemctl daemon-reload
  if [ -z "$purge" ]; then
    say "Kept: $config, $data and the user longshore"
    return
  fi
  step "Delete $config and $data" rm -rf "$config" "$data"
  getent passwd longshore >/dev/null || return 0
  step "Delete the user longshore" userdel longshore
}

main() {
  trap finish EXIT
  trap 'exit 1' HUP INT TERM
  parse "$@"
  case $action in
    help) help ;;
    uninstall) check_host && uninstall ;;
    install) install_or_upgrade && join_fleet ;;
  esac
}

main "$@"
