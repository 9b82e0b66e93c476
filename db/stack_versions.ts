/** The `stack_versions` table: the sources of stacks, with their history. @module */

import { json, number, type Row, table, text } from "./columns.ts";
import type { Database } from "./database.ts";

/** The commit that a version was made of. */
export interface VersionCommit {
  id: string;
  /** `Name <address>`. */
  author: string;
  /** The first line. */
  message: string;
  /** ISO 8601, UTC. */
  committedAt: string;
  /** Principal whose signature was verified. */
  signer: string | null;
}

const versions = table("stack_versions", {
  stack: text(),
  /** From 1. */
  version: number(),
  kind: text<"compose" | "swarm">(),
  /** The sources as JSON, encrypted. */
  sealedSource: text(),
  /** Id of the user. */
  createdBy: text(),
  /** ISO 8601, UTC. */
  createdAt: text(),
  /** The commit that it was made of. */
  gitCommit: json<VersionCommit | null>(),
}, { key: "stack" });

/** One version of the sources of a stack. */
export type StackVersion = Row<typeof versions>;

export const {
  /** Throws a unique violation if the version exists. */
  insert: insertStackVersion,
  /** Deletes all versions. @returns Whether there were any. */
  delete: deleteStackVersions,
} = versions;

/** The current version; `undefined` for a stack without stored sources. */
export function selectCurrentVersion(db: Database, stack: string): StackVersion | undefined {
  return versions.selectOne(db, "WHERE stack = :stack ORDER BY version DESC LIMIT 1", { stack });
}

export function selectStackVersion(
  db: Database,
  stack: string,
  version: number,
): StackVersion | undefined {
  return versions.selectOne(db, "WHERE stack = :stack AND version = :version", { stack, version });
}

/** All versions of a stack without their sources, newest first. */
export function selectStackVersions(
  db: Database,
  stack: string,
): Omit<StackVersion, "sealedSource">[] {
  const rows = db.all<
    Omit<StackVersion, "sealedSource" | "gitCommit"> & { gitCommit: string | null }
  >(
    `SELECT stack, version, kind, created_by AS createdBy, created_at AS createdAt,
       git_commit AS gitCommit
     FROM stack_versions WHERE stack = :stack ORDER BY version DESC`,
    { stack },
  );
  return rows.map((row) => ({
    ...row,
    gitCommit: row.gitCommit === null ? null : JSON.parse(row.gitCommit),
  }));
}

/** Stacks with sources, by name. */
export function selectStoredStacks(db: Database): Pick<StackVersion, "stack" | "kind">[] {
  return db.all("SELECT DISTINCT stack, kind FROM stack_versions ORDER BY stack");
}

/** Number of stacks with sources. */
export function countStackSources(db: Database): number {
  return db.get<{ count: number }>("SELECT count(DISTINCT stack) AS count FROM stack_versions")!
    .count;
}

/** Deletes the versions up to and including `version`. */
export function deleteStackVersionsUpTo(db: Database, stack: string, version: number): void {
  db.run("DELETE FROM stack_versions WHERE stack = :stack AND version <= :version", {
    stack,
    version,
  });
}
