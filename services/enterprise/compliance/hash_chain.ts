/**
 * The chain of the compliance log: the hash of an entry covers all that is shown of it and the hash
 * of the entry before, so that nothing can be changed, added or taken away in between without all
 * later hashes telling.
 *
 * Whoever can write to the database file can also write a whole new chain. That is told by a hash
 * of the head that was kept elsewhere: the verification shows it, and the daily sweeper logs it.
 *
 * @module
 */

import type { ComplianceRow } from "../../../db/enterprise/compliance_logs.ts";
import { nodeCrypto } from "../../builtins.ts";

/** What the first entry follows. */
export const GENESIS_HASH = `sha256:${"0".repeat(64)}`;

/** An entry as it is shown. */
export type ComplianceEntry = Omit<ComplianceRow, "sequence" | "metadata"> & {
  metadata: Record<string, unknown> | null;
};

/** What the hash of an entry covers; its metadata as canonical JSON. */
export type HashedFields = Omit<ComplianceRow, "sequence" | "entry_hash">;

/** `sha256:` and the SHA-256 of the canonical JSON (RFC 8785) of all fields, nulls included. */
export function hashOf(fields: HashedFields): string {
  // In one call, which leaves no object to be collected for each of a million entries.
  return `sha256:${nodeCrypto().hash("sha256", canonicalFields(fields), "hex")}`;
}

/**
 * What `canonicalize()` would make of the entry, in a third of the time: the members are known and
 * stand in their order here, and the metadata is canonical as it is stored.
 */
function canonicalFields(fields: HashedFields): string {
  return `{"action":${json(fields.action)},"actor_id":${json(fields.actor_id)},"actor_type":${
    json(fields.actor_type)
  },"category":${json(fields.category)},"created_at":${json(fields.created_at)},"detail":${
    json(fields.detail)
  },"event_id":${json(fields.event_id)},"id":${json(fields.id)},"metadata":${
    fields.metadata ?? "null"
  },"outcome":${json(fields.outcome)},"previous_hash":${json(fields.previous_hash)},"recorded_by":${
    json(fields.recorded_by)
  },"resource_id":${json(fields.resource_id)},"resource_type":${
    json(fields.resource_type)
  },"severity":${json(fields.severity)}}`;
}

const json = (text: string | null) => JSON.stringify(text);

/** An entry as it is shown; metadata that somebody made unreadable is left out. */
export function shownEntry({ sequence: _, metadata, ...fields }: ComplianceRow): ComplianceEntry {
  return { ...fields, metadata: metadata === null ? null : objectOf(metadata) ?? null };
}

/** The object that a text is the JSON of; `undefined` where it is of none. */
function objectOf(text: string): Record<string, unknown> | undefined {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What is wrong with an entry, as a sentence; `undefined` when it is what was written, and where.
 *
 * @param previousHash Of the entry before it.
 */
export function faultOf(row: ComplianceRow, previousHash: string): string | undefined {
  const { previous_hash, entry_hash, metadata } = row;
  if (previous_hash !== previousHash) {
    return `Entry ${shown(row.id)} does not follow the one before it: expected previous_hash ` +
      `${shown(previousHash)}, actual ${shown(previous_hash)}`;
  }
  // What is hashed is the stored text. Since that is one whole object, as what was written was, it
  // cannot be parted from the fields around it in another way that gives the same hash.
  if (metadata !== null && objectOf(metadata) === undefined) {
    return `Entry ${shown(row.id)} was changed: expected hash ${shown(entry_hash)}, actual none, ` +
      "for its metadata is no JSON object";
  }
  const actual = hashOf(row);
  if (actual === entry_hash) return undefined;
  return `Entry ${shown(row.id)} was changed: expected hash ${shown(entry_hash)}, actual ${actual}`;
}

/** Whoever changed an id or a hash may have put anything there. */
const shown = (text: string) => text.length > 100 ? `${text.slice(0, 100)}...` : text;
