/**
 * `longshore compliance verify [FILE]`: is the compliance log what was written? Beside a running
 * service, without one, or on a copy of its database. Nothing is written, and nothing beside a copy.
 *
 * @module
 */

import { join } from "node:path";
import {
  DatabaseFileError,
  openToRead,
  openUntouched,
  type StateDatabase,
} from "../../db/database.ts";
import { hasSeen, pendingMigrations } from "../../db/migrate.ts";
import { stateMigrations } from "../../db/migrations/mod.ts";
import {
  inReadTransaction,
  selectEntryAt,
  selectHead,
} from "../../db/enterprise/compliance_logs.ts";
import { type ChainReport, walkChain } from "../../services/enterprise/compliance_chain.ts";
import { parseArguments, subcommand } from "../arguments.ts";
import { STATE_FILE } from "../data_directory.ts";
import { actAsOwner } from "../data_owner.ts";
import { assertIsMeant, findInstallation } from "../installation.ts";
import { CommandError, EXIT, type Program } from "../program.ts";
import { assertThere } from "../state_database.ts";

export async function compliance(program: Program): Promise<number> {
  const { program: rest } = subcommand("compliance", program, ["verify"]);
  const names = rest.args.length > 0 ? ["FILE"] as const : [] as const;
  const { values: [given] } = parseArguments("compliance verify", rest, names, {});
  const found = given === undefined
    ? await verifyInstalled(program)
    : await verify(given, openUntouched, program.signal);
  for (const [name, value] of rowsOf(found)) {
    // Somebody may have put anything there, also what a terminal would obey.
    program.print(`${name.padEnd(16)}  ${value.replaceAll(/\p{C}/gu, "?")}`);
  }
  return found.report.verified ? EXIT.ok : EXIT.failure;
}

async function verifyInstalled(program: Program): Promise<Found> {
  const { config } = findInstallation(program);
  assertIsMeant(config, program);
  using _owner = actAsOwner(config.dataDir);
  const path = join(config.dataDir, STATE_FILE);
  assertThere(path, config.dataDir);
  return await verify(path, openToRead, program.signal);
}

interface Found {
  /** How many entries there ever were. */
  entries: number;
  /** When the last of them was written, ISO 8601; `undefined` where it is not there. */
  newest: string | undefined;
  report: ChainReport;
}

/** @throws {CommandError} When the file cannot be used. */
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
    // One moment of the file, whatever the service writes meanwhile.
    return await inReadTransaction(opened, async () => {
      const entries = selectHead(opened)?.sequence ?? 0;
      return {
        entries,
        newest: selectEntryAt(opened, entries)?.created_at,
        report: await walkChain(opened, {}, () => {
          if (signal.aborted) throw new CommandError("Interrupted; nothing was found out");
          return Promise.resolve();
        }),
      };
    });
  } catch (error) {
    if (error instanceof DatabaseFileError) throw new CommandError(error.message, { cause: error });
    // node:sqlite gives its failures a code, such as for a damaged page.
    if ((error as { code?: string }).code !== "ERR_SQLITE_ERROR") throw error;
    throw new CommandError(`${path}: ${(error as Error).message}`, { cause: error });
  } finally {
    db?.close();
  }
}

function assertHasLog(db: StateDatabase, path: string): void {
  if (!hasSeen(db, stateMigrations)) {
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
    ["Entries ever", String(entries)],
    ["Newest entry", newest ?? "none"],
    ["Head hash", head_hash ?? "none"],
    ...(verified ? [] : [
      ["Broken at", broken_at_id ?? "no entry that is there"],
      ["Reason", reason ?? ""],
    ] as [string, string][]),
  ];
}
