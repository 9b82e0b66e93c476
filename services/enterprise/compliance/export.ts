/**
 * The compliance log as a file that can be examined elsewhere: JSON, from which every hash can be
 * computed again, or CSV for a spreadsheet.
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
import type { Caller } from "../../auth/caller.ts";
import type { Deps } from "../../deps.ts";
import { actorOf, recordEntry } from "./append.ts";
import { countRange, rangeOf, type TimeFilter } from "./logs.ts";
import { csvLine } from "./csv.ts";
import { type ComplianceEntry, shownEntry } from "./hash_chain.ts";

/** Most entries of one file. */
export const EXPORT_MAX = 10_000;

/** Entries of one piece of the file, so that nobody waits for the whole. */
const PIECE = 100;

/** The fields of an entry: the columns of the CSV, in their order. */
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

export interface ComplianceExport {
  format: ExportFormat;
  /** How many entries the time has, and how many of them, the newest, are in the file. */
  total: number;
  exported: number;
  /** The file in pieces, each made when it is asked for. */
  pieces: Iterator<string>;
}

/**
 * Makes a file of the newest entries of a time, in the order of the chain, and writes down that it
 * did. Entries that a retention deletes meanwhile are left out.
 *
 * @param format Default: the configured one.
 */
export async function exportEntries(
  deps: Pick<Deps, "db" | "log" | "now">,
  caller: Caller,
  { format: given, ...time }: TimeFilter & { format?: ExportFormat | undefined },
): Promise<ComplianceExport> {
  const { db } = deps;
  const config: ComplianceConfig = selectComplianceConfig(db);
  const format = given ?? config.export_format;
  const total = await countRange(deps, time);
  const sequences = selectNewestSequences(db, rangeOf(time), EXPORT_MAX).sort((a, b) => a - b);
  const headHash = selectHead(db)?.hash ?? null;
  const exported = sequences.length;
  if (config.enabled) {
    await recordEntry(deps, {
      ...actorOf(caller),
      category: "security",
      severity: "info",
      action: "compliance.export",
      resource_type: "compliance",
      resource_id: null,
      detail: `${exported} of ${total} entries were exported as ${format}`,
      outcome: "success",
      metadata: {
        address: caller.address,
        format,
        from: time.from ?? null,
        to: time.to ?? null,
        exported,
        total,
      },
      recorded_by: null,
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
  const about = {
    head_hash: headHash,
    from: from ?? null,
    to: to ?? null,
    exported: sequences.length,
  };
  yield `${JSON.stringify(about).slice(0, -1)},"logs":[`;
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

function* piecesOf(
  db: StateDatabase,
  sequences: readonly number[],
): Generator<ComplianceEntry[]> {
  for (let at = 0; at < sequences.length; at += PIECE) {
    yield sequences.slice(at, at + PIECE).flatMap((sequence) => {
      const row = selectEntryAt(db, sequence);
      return row ? [shownEntry(row)] : [];
    });
  }
}
