/**
 * Commands in containers around a snapshot. Databases whose image is recognized are dumped with their
 * own tools, which are in the image; labels name other commands.
 *
 * @module
 */

import { EngineError } from "../../engine/errors.ts";
import { parseReference } from "../../engine/image_reference.ts";
import type { Container } from "../containers/inventory.ts";

/** Commands of one container, each run by `sh -c`. */
export interface Hooks {
  /** Runs before the files are read, e.g. `redis-cli SAVE`. */
  pre?: string;
  /** Runs when they have been read, also after a failure. */
  post?: string;
  /** Its standard output becomes a file of the snapshot. */
  dump?: { command: string; file: string };
}

const PRE_LABEL = "longshore.backup.pre";
const POST_LABEL = "longshore.backup.post";

/** Passwords come from the variables of the images, or from the files that these name; none is an argument. */
const POSTGRESQL: Hooks = {
  dump: {
    command: 'exec pg_dumpall --clean --if-exists -U "${POSTGRES_USER:-postgres}"',
    file: "postgresql.sql",
  },
};

const MYSQL: Hooks = {
  dump: {
    command: [
      'p="${MARIADB_ROOT_PASSWORD:-$MYSQL_ROOT_PASSWORD}"',
      'f="${MARIADB_ROOT_PASSWORD_FILE:-$MYSQL_ROOT_PASSWORD_FILE}"',
      '[ -z "$f" ] || p="$(cat "$f")"',
      'export MYSQL_PWD="$p"',
      'd="$(command -v mariadb-dump || command -v mysqldump)"',
      'exec "$d" -uroot --all-databases --single-transaction --routines --events',
    ].join("; "),
    file: "mysql.sql",
  },
};

const REDIS: Hooks = {
  pre: 'c="$(command -v valkey-cli || command -v redis-cli)"; ' +
    'export REDISCLI_AUTH="${VALKEY_PASSWORD:-$REDIS_PASSWORD}"; ' +
    '[ -n "$REDISCLI_AUTH" ] || unset REDISCLI_AUTH; [ "$("$c" SAVE)" = OK ]',
};

const MONGODB: Hooks = {
  dump: {
    command: [
      'u="$MONGO_INITDB_ROOT_USERNAME"',
      'p="$MONGO_INITDB_ROOT_PASSWORD"',
      '[ -z "$MONGO_INITDB_ROOT_PASSWORD_FILE" ] || p="$(cat "$MONGO_INITDB_ROOT_PASSWORD_FILE")"',
      '[ -n "$u" ] || exec mongodump --archive --quiet',
      'printf "password: \\"%s\\"\\n" "$p" | ' +
      'mongodump --archive --quiet -u "$u" --authenticationDatabase admin --config /dev/stdin',
    ].join("; "),
    file: "mongodb.archive",
  },
};

/** By the last part of an image's name. */
const RECOGNIZED: Readonly<Record<string, Hooks>> = {
  postgres: POSTGRESQL,
  postgresql: POSTGRESQL,
  postgis: POSTGRESQL,
  pgvector: POSTGRESQL,
  timescaledb: POSTGRESQL,
  mysql: MYSQL,
  mariadb: MYSQL,
  redis: REDIS,
  valkey: REDIS,
  mongo: MONGODB,
  mongodb: MONGODB,
};

/** @returns `undefined` for a container without labels for it whose image is not recognized. */
export function hooksOf(
  { image, labels }: Pick<Container, "image" | "labels">,
): Hooks | undefined {
  const pre = labels[PRE_LABEL];
  const post = labels[POST_LABEL];
  if (pre || post) return { ...(pre && { pre }), ...(post && { post }) };
  const program = programOf(image);
  return program !== undefined && Object.hasOwn(RECOGNIZED, program)
    ? RECOGNIZED[program]
    : undefined;
}

/** E.g. `postgres` for `registry.example/library/postgres:17`; `undefined` for an id. */
function programOf(image: string): string | undefined {
  try {
    return parseReference(image).repository.split("/").at(-1);
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}
