/**
 * Verification of an exported compliance log: JSON as exported, JSON Lines, or CSV.
 *
 * It detects changed, inserted, moved and missing entries between the first and the last one. A
 * missing start or end is only detected if the file states its range or the caller knows the hash of
 * the last entry, because an export of a time range can start and end anywhere.
 *
 * @module
 */

import canonicalize from "canonicalize";
import type { ComplianceRow } from "../../../db/enterprise/compliance_logs.ts";
import type { Verification } from "./chain.ts";
import { EXPORT_FIELDS } from "./export.ts";
import { cellVariants, parseCsv } from "./csv.ts";
import { findHashFault, GENESIS_HASH } from "./hash_chain.ts";

interface ExportReport extends Verification {
  /** Whether the first entry is the first of the whole log. */
  isFromBeginning: boolean;
  /** Time of the last entry; `undefined` without entries. */
  newest: string | undefined;
}

/** An export whose entries have not been checked yet. */
interface ExportedLog {
  /** Possible readings of each entry, because a CSV cell can represent several texts. */
  entries: Iterable<unknown[]>;
  /** The header of a JSON export. */
  headHash?: unknown;
  exported?: unknown;
  /** `null` for an export up to the head. */
  to?: unknown;
}

/** Fields that can be `null`. */
const NULLABLE: readonly string[] = [
  "resource_type",
  "resource_id",
  "detail",
  "metadata",
  "recorded_by",
];

/** Maximum number of readings per CSV line. */
const READINGS_MAX = 1_024;

/** @param text The whole file. */
export function checkExport(text: string): ExportReport {
  let checked = 0;
  let last: ComplianceRow | undefined;
  let isFromBeginning = false;
  const report = (reason: string | null, brokenAt: string | null = null): ExportReport => ({
    verified: reason === null,
    entries_checked: checked,
    broken_at_id: brokenAt,
    reason,
    head_hash: last?.entry_hash ?? null,
    isFromBeginning,
    newest: last?.created_at,
  });

  try {
    const log = readExport(text);
    for (const readings of log.entries) {
      const rows = readings.map(toRow);
      const before = last?.entry_hash ?? rows[0]!.previous_hash;
      const row = rows.find((row) => findHashFault(row, before) === undefined) ?? rows[0]!;
      const fault = findHashFault(row, before);
      if (fault !== undefined) return report(fault, row.id);
      if (last === undefined) isFromBeginning = row.previous_hash === GENESIS_HASH;
      last = row;
      checked++;
    }
    if (log.exported !== undefined && log.exported !== checked) {
      return report(`The file has ${checked} entries; the export had ${log.exported}`);
    }
    if (log.to === null && last && log.headHash !== last.entry_hash) {
      const reason = `The end is missing: expected head ${log.headHash}, actual ${last.entry_hash}`;
      return report(reason, last.id);
    }
    return report(null);
  } catch (error) {
    if (!(error instanceof ExportError)) throw error;
    return report(error.message, last?.id ?? null);
  }
}

class ExportError extends Error {
  override readonly name = "ExportError";
}

function readExport(text: string): ExportedLog {
  const content = text.replace(/^\uFEFF/, "").trimStart();
  if (!content.startsWith("{")) return { entries: csvEntries(content) };
  const whole = parseJson(content);
  if (isObject(whole) && Array.isArray(whole.logs)) {
    const { head_hash: headHash, exported, to, logs } = whole;
    return { entries: logs.map((entry) => [entry]), headHash, exported, to };
  }
  if (content.startsWith('{"head_hash"')) throw new ExportError("The JSON file is incomplete");
  return { entries: jsonLines(content) };
}

function* jsonLines(content: string): Generator<unknown[]> {
  for (const [at, line] of content.split("\n").entries()) {
    if (line.trim() === "") continue;
    const entry = parseJson(line);
    if (entry === undefined) throw new ExportError(`Line ${at + 1} is incomplete JSON`);
    yield [entry];
  }
}

function* csvEntries(content: string): Generator<unknown[]> {
  let isHeading = true;
  for (const cells of parseCsv(content)) {
    if (cells === undefined) throw new ExportError("The last line of the CSV file is incomplete");
    if (isHeading) {
      if (cells.join() !== EXPORT_FIELDS.join()) {
        throw new ExportError("The file is neither an export nor a copy of the database");
      }
      isHeading = false;
      continue;
    }
    if (cells.length !== EXPORT_FIELDS.length) {
      throw new ExportError(`A line has ${cells.length} cells instead of ${EXPORT_FIELDS.length}`);
    }
    yield readingsOf(cells);
  }
}

/** An empty cell is `null` or an empty text; the export may have added a leading apostrophe. */
function readingsOf(cells: readonly string[]): Record<string, unknown>[] {
  let readings: Record<string, unknown>[] = [{}];
  EXPORT_FIELDS.forEach((field, at) => {
    const cell = cells[at]!;
    const variants: unknown[] = field === "metadata"
      ? [cell === "" ? null : parseJson(cellVariants(cell)[0]!)]
      : [...(cell === "" && NULLABLE.includes(field) ? [null] : []), ...cellVariants(cell)];
    readings = readings.flatMap((reading) =>
      variants.map((value) => ({ ...reading, [field]: value }))
    ).slice(0, READINGS_MAX);
  });
  return readings;
}

/** @throws {ExportError} Unless the entry has exactly the fields that its hash covers. */
function toRow(entry: unknown): ComplianceRow {
  if (!isObject(entry)) throw new ExportError("An entry is not a JSON object");
  for (const field of EXPORT_FIELDS) {
    const value = entry[field];
    const isValid = value === null
      ? NULLABLE.includes(field)
      : field === "metadata"
      ? isObject(value)
      : typeof value === "string";
    if (!isValid) throw new ExportError(`An entry has no valid ${field}`);
  }
  const unknown = Object.keys(entry).find((name) => !EXPORT_FIELDS.some((field) => field === name));
  if (unknown !== undefined) {
    throw new ExportError(`An entry has the unknown field ${unknown.slice(0, 100)}`);
  }
  const metadata = entry.metadata === null ? null : canonicalText(entry.metadata);
  return { ...entry, metadata, sequence: 0 } as unknown as ComplianceRow;
}

function canonicalText(metadata: unknown): string {
  try {
    return canonicalize(metadata)!;
  } catch {
    throw new ExportError("The metadata of an entry has no canonical form");
  }
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
