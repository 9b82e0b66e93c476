/**
 * `longshore compliance verify [FILE]`: verifies the compliance log of the installation, of a copy of
 * its database, or of an export. Nothing is written.
 *
 * @module
 */

import { join } from "node:path";
import {
  DatabaseFileError,
  openCopy,
  openForReading,
  type StateDatabase,
} from "../../db/database.ts";
import { isMigrated, pendingMigrations } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/state/mod.ts";
import {
  inReadTransaction,
  selectEntryAt,
  selectHead,
} from "../../db/enterprise/compliance_logs.ts";
import { type Verification, walkChain } from "../../services/enterprise/compliance/chain.ts";
import { checkExport } from "../../services/enterprise/compliance/export_check.ts";
import { parseArguments, subcommand } from "../arguments.ts";
import { STATE_FILE } from "../data_directory.ts";
import { actAsOwner } from "../data_owner.ts";
import { assertIsMeant, findInstallation } from "../installation.ts";
import { CommandError, commandError, EXIT, type Program } from "../program.ts";
import { assertThere } from "../state_database.ts";

export async function compliance(program: Program): Promise<number> {
  const { program: rest } = subcommand("compliance", program, ["verify"]);
  const { values: [given], options: { head } } = parseArguments(
    "compliance verify",
    rest,
    ["[FILE]"],
    { head: "value" },
  );
  const isExport = given !== undefined && !isDatabase(given);
  const found = isExport
    ? verifyExport(given)
    : given === undefined
    ? await verifyInstalled(program)
    : await verify(given, openCopy, program.signal);
  const report = head === undefined ? found.report : withHead(found.report, head);
  for (const [name, value] of rowsOf({ ...found, report })) {
    // A tampered log can contain anything, terminal sequences included.
    program.print(`${name.padEnd(16)}  ${value.replaceAll(/\p{C}/gu, "?")}`);
  }
  if (isExport && report.verified) program.note(exportNote(found, head));
  return report.verified ? EXIT.ok : EXIT.failure;
}

/** The first bytes of every SQLite database. */
const DATABASE_MAGIC = "SQLite format 3\0";

/** Maximum size of an export, in bytes: it has at most 10 000 entries. */
const EXPORT_BYTES_MAX = 512 * 1024 * 1024;

/** An unreadable file counts as a database: opening it fails with a reason. */
function isDatabase(path: string): boolean {
  try {
    using file = Deno.openSync(path);
    const beginning = new Uint8Array(DATABASE_MAGIC.length);
    const read = file.readSync(beginning) ?? 0;
    const text = new TextDecoder().decode(beginning.subarray(0, read));
    return text === DATABASE_MAGIC || !/^\uFEFF?\s*[{"i]/.test(text);
  } catch {
    return true;
  }
}

function verifyExport(path: string): Found {
  try {
    const { size } = Deno.statSync(path);
    if (size > EXPORT_BYTES_MAX) throw new CommandError(`${path} is too large for an export`);
    const report = checkExport(Deno.readTextFileSync(path));
    const { newest, isFromBeginning } = report;
    return { entries: undefined, newest, report, isFromBeginning };
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw commandError(path, error);
  }
}

/** Checks that the log ends with a hash that was stored elsewhere. */
function withHead(report: Verification, head: string): Verification {
  if (!report.verified || report.head_hash === head) return report;
  const reason = `The log does not end with the given head: expected ${head}, ` +
    `actual ${report.head_hash ?? "no entry"}`;
  return { ...report, verified: false, reason };
}

function exportNote({ isFromBeginning }: Found, head: string | undefined): string {
  const begins = isFromBeginning ? "" : "Entries before the first one are not in the file. ";
  return head === undefined
    ? `${begins}To detect a missing end, give the hash of the last entry with --head.`
    : begins.trim() || "The file contains the whole log up to that entry.";
}

async function verifyInstalled(program: Program): Promise<Found> {
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  using _owner = actAsOwner(config.dataDir);
  const path = join(config.dataDir, STATE_FILE);
  assertThere(path, config.dataDir);
  return await verify(path, openForReading, program.signal);
}

interface Found {
  /** Number of entries ever written; `undefined` for an export. */
  entries: number | undefined;
  /** Time of the last entry, ISO 8601; `undefined` if it is missing. */
  newest: string | undefined;
  report: Verification;
  /** For an export: whether it starts with the first entry of the log. */
  isFromBeginning?: boolean;
}

/** @throws {CommandError} If the file cannot be used. */
async function verify(
  path: string,
  open: (path: string) => StateDatabase,
  signal: AbortSignal,
): Promise<Found> {
  let db: StateDatabase | undefined;
  try {
    db = open(path);
    const opened = db;
    assertHasLog(opened, path);
    // A consistent snapshot, while the service may be writing.
    return await inReadTransaction(opened, async () => {
      const entries = selectHead(opened)?.sequence ?? 0;
      return {
        entries,
        newest: selectEntryAt(opened, entries)?.created_at,
        report: await walkChain(opened, {}, () => {
          if (signal.aborted) throw new CommandError("Interrupted before verification finished");
          return Promise.resolve();
        }),
      };
    });
  } catch (error) {
    if (error instanceof DatabaseFileError) throw new CommandError(error.message, { cause: error });
    // Errors of node:sqlite have a code, such as for a damaged page.
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
    throw commandError(path, error);
  } finally {
    db?.close();
  }
}

function assertHasLog(db: StateDatabase, path: string): void {
  if (!isMigrated(db, stateMigrations)) {
    throw new CommandError(`${path} is not Longshore's state database (state.sqlite)`);
  }
  const pending = pendingMigrations(db, stateMigrations);
  if (pending.some(({ name }) => name.includes("compliance"))) {
    throw new CommandError(`${path} is of an older version, which had no compliance log`);
  }
}

function rowsOf({ entries, newest, report }: Found): [name: string, value: string][] {
  const { verified, entries_checked, head_hash, broken_at_id, reason } = report;
  return [
    ["Verified", verified ? "yes" : "NO"],
    ["Entries checked", String(entries_checked)],
    ...(entries === undefined ? [] : [["Entries ever", String(entries)]] as [string, string][]),
    ["Newest entry", newest ?? "none"],
    ["Head hash", head_hash ?? "none"],
    ...(verified ? [] : [
      ["Broken at", broken_at_id ?? "no entry"],
      ["Reason", reason ?? ""],
    ] as [string, string][]),
  ];
}
