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
  dumps?: readonly DumpHook[];
  /** Program that the dumps need; a container without it is paused instead. */
  program?: string;
}

/** A command whose standard output becomes a file of the snapshot. */
export interface DumpHook {
  command: string;
  /** E.g. `postgresql.sql`. */
  file: string;
  /** Last characters of a complete dump, for tools that report a damaged one with success. */
  end?: string;
}

const PRE_LABEL = "longshore.backup.pre";
const POST_LABEL = "longshore.backup.post";
const SQLITE_LABEL = "longshore.backup.sqlite";

/** Passwords come from the variables of the images, or from the files that these name; none is an argument. */
const POSTGRESQL: Hooks = {
  dumps: [{
    command: 'exec pg_dumpall --clean --if-exists -U "${POSTGRES_USER:-postgres}"',
    file: "postgresql.sql",
  }],
};

const MYSQL: Hooks = {
  dumps: [{
    command: [
      'p="${MARIADB_ROOT_PASSWORD:-$MYSQL_ROOT_PASSWORD}"',
      'f="${MARIADB_ROOT_PASSWORD_FILE:-$MYSQL_ROOT_PASSWORD_FILE}"',
      '[ -z "$f" ] || p="$(cat "$f")"',
      'export MYSQL_PWD="$p"',
      'd="$(command -v mariadb-dump || command -v mysqldump)"',
      'exec "$d" -uroot --all-databases --single-transaction --routines --events',
    ].join("; "),
    file: "mysql.sql",
  }],
};

const REDIS: Hooks = {
  pre: 'c="$(command -v valkey-cli || command -v redis-cli)"; ' +
    'export REDISCLI_AUTH="${VALKEY_PASSWORD:-$REDIS_PASSWORD}"; ' +
    '[ -n "$REDISCLI_AUTH" ] || unset REDISCLI_AUTH; [ "$("$c" SAVE)" = OK ]',
};

const MONGODB: Hooks = {
  dumps: [{
    command: [
      'u="$MONGO_INITDB_ROOT_USERNAME"',
      'p="$MONGO_INITDB_ROOT_PASSWORD"',
      '[ -z "$MONGO_INITDB_ROOT_PASSWORD_FILE" ] || p="$(cat "$MONGO_INITDB_ROOT_PASSWORD_FILE")"',
      '[ -n "$u" ] || exec mongodump --archive --quiet',
      'printf "password: \\"%s\\"\\n" "$p" | ' +
      'mongodump --archive --quiet -u "$u" --authenticationDatabase admin --config /dev/stdin',
    ].join("; "),
    file: "mongodb.archive",
  }],
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
  const sqlite = sqliteHooks(labels[SQLITE_LABEL] ?? "");
  if (pre || post || sqlite) {
    return { ...(pre && { pre }), ...(post && { post }), ...sqlite };
  }
  const program = programOf(image);
  return program !== undefined && Object.hasOwn(RECOGNIZED, program)
    ? RECOGNIZED[program]
    : undefined;
}

/** @param paths Of databases in the container, with commas between them. */
function sqliteHooks(paths: string): Hooks | undefined {
  const byFile = new Map<string, string>();
  for (const path of new Set(paths.split(",").map((path) => path.trim()).filter(Boolean))) {
    const name = path.replace(/^\/+/, "").replaceAll("/", "-");
    let file = `${name}.sql`;
    for (let number = 2; byFile.has(file); number++) file = `${name}-${number}.sql`;
    byFile.set(file, path);
  }
  if (byFile.size === 0) return undefined;
  return {
    program: "sqlite3",
    dumps: [...byFile].map(([file, path]) => ({
      command: [
        // A read-only database is not created where it is missing.
        `exec sqlite3 -readonly -bail -cmd '.timeout 60000' ${quoted(path)}`,
        "BEGIN",
        ...["user_version", "application_id"].map(printPragma),
        ".dump",
      ].join(" "),
      file,
      end: "COMMIT;\n",
    })),
  };
}

/** A dump does not have it, although programs keep the version of their schema there. */
const printPragma = (name: string): string =>
  `'.print PRAGMA ${name}=' 'pragma ${name}' '.print ;'`;

/** As one word of a shell that is not an option. */
const quoted = (path: string): string =>
  `'${(path.startsWith("/") ? path : `./${path}`).replaceAll("'", "'\\''")}'`;

/** E.g. `postgres` for `registry.example/library/postgres:17`; `undefined` for an id. */
function programOf(image: string): string | undefined {
  try {
    return parseReference(image).repository.split("/").at(-1);
  } catch (error) {
    if (error instanceof EngineError) return undefined;
    throw error;
  }
}
