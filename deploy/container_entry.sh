#!/bin/sh
# The command `longshore` of the container image: the program, as a user without rights.
#
# The image starts as root only so that this script can read the group of the engine's socket, which
# each host numbers differently. The program gets this group, and nothing can give it more: no
# capability is left in any set, and no program that it could start gains one (no_new_privs).
# `docker exec` and the health check pass here, too, so that all files in /data have one owner.

set -eu
program=/usr/local/lib/longshore/longshore
owner=65532

# The operator has chosen a user, and gives it the group with --group-add.
[ "$(id -u)" = 0 ] || exec "$program" "$@"

case ${DOCKER_HOST:-} in
  unix://*) socket=${DOCKER_HOST#unix://} ;;
  tcp://*) socket= ;;
  *) socket=/var/run/docker.sock ;;
esac
group=$owner
[ ! -S "$socket" ] || group=$(stat -c %g "$socket")

exec setpriv --reuid "$owner" --regid "$owner" --groups "$group" \
  --bounding-set -all --inh-caps -all --ambient-caps -all --no-new-privs \
  "$program" "$@"
