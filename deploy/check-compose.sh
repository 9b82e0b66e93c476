#!/bin/sh
# Compares a stack on disk that Longshore deployed with what your own Compose makes of its files.
#
#     deploy/check-compose.sh DIRECTORY [PROJECT]
#
# PROJECT is the name of the stack; default: the name of the directory. Three checks: the services
# are those of the containers, `config --hash` is the label of each container, and `up --detach`
# recreates nothing. The last one starts what does not run. Compose v1 has other hashes, so that
# only the first check is made. COMPOSE names the program, e.g. COMPOSE="docker-compose".
set -eu

if [ $# -lt 1 ] || [ $# -gt 2 ]; then
  echo "Usage: $0 DIRECTORY [PROJECT]" >&2
  exit 2
fi
cd "$1"
project=${2:-$(basename "$PWD")}
compose=${COMPOSE:-docker compose}
failed=0

# The containers of the project, without those of `run`.
containers() {
  docker ps --all --no-trunc \
    --filter "label=com.docker.compose.project=$project" \
    --filter "label=com.docker.compose.oneoff=False" --format "$1" | sort
}

report() {
  if [ "$2" = "$3" ]; then
    echo "ok: $1"
  else
    failed=1
    printf 'FAILED: %s\n--- Compose\n%s\n--- Longshore\n%s\n' "$1" "$2" "$3"
  fi
}

label() {
  printf '{{.Label "com.docker.compose.%s"}}' "$1"
}

if [ -z "$(containers '{{.ID}}')" ]; then
  echo "Project $project has no containers" >&2
  exit 2
fi

# shellcheck disable=SC2086 # The program may have arguments.
run() { $compose --project-name "$project" "$@"; }

report "services" "$(run config --services | sort)" "$(containers "$(label service)" | uniq)"

case $($compose version --short 2>/dev/null || echo 1) in
  1 | 1.* | v1.*)
    echo "skipped: hashes and up, because Compose v1 has other hashes"
    exit $failed
    ;;
esac

report "hashes" "$(run config --hash '*' | sort)" \
  "$(containers "$(label service) $(label config-hash)" | uniq)"
before=$(containers '{{.ID}}')
run up --detach >/dev/null
report "containers after up" "$(containers '{{.ID}}')" "$before"
exit $failed
