#!/bin/sh
# Checks the API document with a linter, and generates and compiles two TypeScript clients from it.
# Needs Node, npm and the npm registry. Records in passed.sha256 what it has passed for: the result
# depends on these files alone, so that the gate compares them instead of taking a minute.

set -eu
here=$(cd "$(dirname "$0")" && pwd)
export REDOCLY_TELEMETRY=off REDOCLY_SUPPRESS_UPDATE_NOTICE=true

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
inputs='check.sh package.json package-lock.json redocly.yaml tsconfig.json usage.ts
  ../structure/openapi.snapshot.json'
cd "$here"
# $inputs is a list of words.
# shellcheck disable=SC2086
cp $inputs "$work"
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
cd "$here"
# shellcheck disable=SC2086
sha256sum $inputs >passed.sha256
