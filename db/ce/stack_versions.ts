/**
 * The `stack_versions` table: the sources of stacks, with their history.
 *
 * @module
 */

import type { Database } from "../database.ts";

/** One version of the sources of a stack. */
export interface StackVersion {
  stack: string;
  /** From 1. */
  version: number;
  kind: "compose" | "swarm";
  /** The sources as JSON, encrypted. */
  sealedSource: string;
  /** Id of the user. */
  createdBy: string;
  /** ISO 8601, UTC. */
  createdAt: string;
}

const COLUMNS = `
  stack, version, kind, sealed_source AS sealedSource, created_by AS createdBy,
  created_at AS createdAt`;

/** The current version; `undefined` for a stack without stored sources. */
export function selectCurrentVersion(db: Database, stack: string): StackVersion | undefined {
  return db.get<StackVersion>(
    `SELECT ${COLUMNS} FROM stack_versions WHERE stack = :stack ORDER BY version DESC LIMIT 1`,
    { stack },
  );
}

export function selectStackVersion(
  db: Database,
  stack: string,
  version: number,
): StackVersion | undefined {
  return db.get<StackVersion>(
    `SELECT ${COLUMNS} FROM stack_versions WHERE stack = :stack AND version = :version`,
    { stack, version },
  );
}

/** All versions of a stack without their sources, newest first. */
export function selectStackVersions(
  db: Database,
  stack: string,
): Omit<StackVersion, "sealedSource">[] {
  return db.all(
    `SELECT stack, version, kind, created_by AS createdBy, created_at AS createdAt
     FROM stack_versions WHERE stack = :stack ORDER BY version DESC`,
    { stack },
  );
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

/** Throws a unique violation if the version exists. */
export function insertStackVersion(db: Database, version: StackVersion): void {
  db.run(
    `INSERT INTO stack_versions (stack, version, kind, sealed_source, created_by, created_at)
     VALUES (:stack, :version, :kind, :sealedSource, :createdBy, :createdAt)`,
    { ...version },
  );
}

/** Deletes the versions up to and including `version`. */
export function deleteStackVersionsUpTo(db: Database, stack: string, version: number): void {
  db.run("DELETE FROM stack_versions WHERE stack = :stack AND version <= :version", {
    stack,
    version,
  });
}

/** @returns Whether there were any. */
export function deleteStackVersions(db: Database, stack: string): boolean {
  return db.run("DELETE FROM stack_versions WHERE stack = :stack", { stack }) > 0;
}
