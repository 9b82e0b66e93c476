/**
 * Exports of the compliance log: JSON, whose hashes can be verified offline, or CSV for spreadsheets.
 *
 * @module
 */

import {
  type ComplianceConfig,
  type ExportFormat,
  selectComplianceConfig,
} from "../../../db/enterprise/compliance_config.ts";
import {
  selectEntryAt,
  selectHead,
  selectNewestSequences,
} from "../../../db/enterprise/compliance_logs.ts";
import type { StateDatabase } from "../../../db/database.ts";
import type { Caller } from "../../access/caller.ts";
import type { Deps } from "../../deps.ts";
import { actorOf, OWN_ENTRY, recordEntry } from "./append.ts";
import { countRange, rangeOf, type TimeFilter } from "./logs.ts";
import { csvLine } from "./csv.ts";
import { type ComplianceEntry, toEntry } from "./hash_chain.ts";

/** Maximum number of entries per file. */
export const EXPORT_MAX = 10_000;

/** Entries per piece; the event loop runs between the pieces. */
const PIECE_ENTRIES = 100;

/** The fields of an entry, in the order of the CSV columns. */
export const EXPORT_FIELDS = [
  "id",
  "event_id",
  "created_at",
  "category",
  "severity",
  "actor_id",
  "actor_type",
  "action",
  "resource_type",
  "resource_id",
  "detail",
  "outcome",
  "metadata",
  "recorded_by",
  "previous_hash",
  "entry_hash",
] as const satisfies readonly (keyof ComplianceEntry)[];

interface ComplianceExport {
  format: ExportFormat;
  /** Number of entries in the time range. */
  total: number;
  /** Number of entries in the file: the newest ones. */
  exported: number;
  /** The pieces of the file, each created on demand. */
  pieces: Iterator<string>;
}

/**
 * Exports the newest entries of a time range in the order of the chain, and records the export.
 * Entries that the retention deletes in the meantime are omitted.
 *
 * @param format Default: the configured format.
 */
export async function exportEntries(
  deps: Pick<Deps, "compliance" | "db" | "log" | "now">,
  caller: Caller,
  { format: requested, ...time }: TimeFilter & { format?: ExportFormat | undefined },
): Promise<ComplianceExport> {
  const { db } = deps;
  const config: ComplianceConfig = selectComplianceConfig(db);
  const format = requested ?? config.export_format;
  const total = await countRange(deps, time);
  const sequences = selectNewestSequences(db, rangeOf(time), EXPORT_MAX).sort((a, b) => a - b);
  const headHash = selectHead(db)?.hash ?? null;
  const exported = sequences.length;
  if (config.enabled) {
    await recordEntry(deps, {
      ...OWN_ENTRY,
      ...actorOf(caller),
      action: "compliance.export",
      resource_type: "compliance",
      detail: `${exported} of ${total} entries were exported as ${format}`,
      metadata: {
        address: caller.address,
        format,
        from: time.from ?? null,
        to: time.to ?? null,
        exported,
        total,
      },
    });
  }
  const pieces = format === "csv"
    ? csvPieces(db, sequences)
    : jsonPieces(db, sequences, { headHash, time });
  return { format, total: Math.max(total, exported), exported, pieces };
}

function* csvPieces(db: StateDatabase, sequences: readonly number[]): Generator<string> {
  yield csvLine(EXPORT_FIELDS);
  for (const entries of piecesOf(db, sequences)) {
    yield entries.map((entry) =>
      csvLine(
        EXPORT_FIELDS.map((field) => field === "metadata" ? metadataText(entry) : entry[field]),
      )
    ).join("");
  }
}

const metadataText = ({ metadata }: ComplianceEntry) => metadata && JSON.stringify(metadata);

function* jsonPieces(
  db: StateDatabase,
  sequences: readonly number[],
  { headHash, time: { from, to } }: { headHash: string | null; time: TimeFilter },
): Generator<string> {
  const header = {
    head_hash: headHash,
    from: from ?? null,
    to: to ?? null,
    exported: sequences.length,
  };
  yield `${JSON.stringify(header).slice(0, -1)},"logs":[`;
  let separator = "\n";
  for (const entries of piecesOf(db, sequences)) {
    let piece = "";
    for (const entry of entries) {
      piece += separator + JSON.stringify(entry);
      separator = ",\n";
    }
    yield piece;
  }
  yield "\n]}\n";
}

function* piecesOf(db: StateDatabase, sequences: readonly number[]): Generator<ComplianceEntry[]> {
  for (let at = 0; at < sequences.length; at += PIECE_ENTRIES) {
    yield sequences.slice(at, at + PIECE_ENTRIES).flatMap((sequence) => {
      const row = selectEntryAt(db, sequence);
      return row ? [toEntry(row)] : [];
    });
  }
}
