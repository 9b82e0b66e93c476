#!/bin/sh
# Checks the API document with a linter, and generates and compiles two TypeScript clients from it.
# Needs Node, npm and the npm registry.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
cp "$here"/package.json "$here"/package-lock.json "$here"/redocly.yaml "$here"/tsconfig.json \
  "$here"/usage.ts "$here/../structure/openapi.snapshot.json" "$work"
cd "$work"

install() {
  npm ci --ignore-scripts --no-audit --no-fund
}
# Networks fail now and then.
install || {
  sleep 5
  install
}
PATH=$work/node_modules/.bin:$PATH

redocly lint --config redocly.yaml --max-problems 20 openapi.snapshot.json
openapi-typescript openapi.snapshot.json --output generated/types.ts
openapi-ts --input openapi.snapshot.json --output generated/sdk --silent
tsc
