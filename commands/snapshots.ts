/**
 * `longshore backup-volumes` and `longshore snapshots`: snapshots of stacks and volumes, through the
 * running service.
 *
 * @module
 */

import type { SnapshotResult } from "../services/snapshots/job.ts";
import type { SnapshotList } from "../services/snapshots/list.ts";
import type { DrillResult } from "../services/snapshots/drills/job.ts";
import type { RestoreResult } from "../services/snapshots/restore/job.ts";
import type { StackRestoreResult } from "../services/snapshots/stack/job.ts";
import { readable } from "../services/containers/health_output.ts";
import { byteText } from "../services/text/bytes.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { CommandError, EXIT, type Program } from "./program.ts";
import { connectService } from "./service_client.ts";
import { followJob } from "./service_job.ts";
import { printTable } from "./table.ts";

/** Characters of an id in tables, as restic shows it. */
const SHORT_ID = 8;

export async function backupVolumes(program: Program): Promise<number> {
  const { values: [stack], options } = parseArguments("backup-volumes", program, ["[STACK]"], {
    volume: "values",
    target: "value",
    mode: "value",
    note: "value",
    "include-shared-users": "flag",
    "with-images": "flag",
    "keep-stopped": "flag",
    json: "flag",
  });
  const { volume: volumes, target, mode, note } = options;
  if ((stack === undefined) === (volumes === undefined)) {
    throw new CommandError("Name either a stack, or volumes with --volume");
  }
  const service = connectService(program);
  const job = JSON.parse(
    await service.post("/api/backup/snapshots", {
      stack,
      volumes,
      target,
      mode,
      note,
      includeSharedUsers: options["include-shared-users"] ?? false,
      withImages: options["with-images"] ?? false,
      keepStopped: options["keep-stopped"] ?? false,
    }, program.signal),
  );
  const result = await followJob(program, service, job) as SnapshotResult;
  if (options.json) program.print(JSON.stringify(result));
  else printSnapshot(program, result, options["keep-stopped"] ?? false);
  return EXIT.ok;
}

function printSnapshot(
  { print, note }: Program,
  {
    snapshot,
    target,
    hasNewTarget = false,
    mode,
    size,
    added,
    downtimeMs,
    skipped,
    skippedCount,
    leftOut,
    sqlite = [],
  }: SnapshotResult,
  staysStopped: boolean,
): void {
  if (hasNewTarget) {
    note(
      `Created target ${target} in DATA_DIR/snapshots, on the disk of this host: add one elsewhere`,
    );
    note("Keep the password of its repository somewhere else: longshore backup-key show");
  }
  const isOfOneMoment = mode === "stop" || mode === "pause";
  for (const path of isOfOneMoment ? [] : sqlite) {
    note(
      `${readable(path)} has SQLite databases, whose files may be of different moments: use ` +
        "--mode stop or pause, or the label longshore.backup.sqlite",
    );
  }
  for (const { path, reason } of skipped) note(`not stored: ${readable(path)}: ${reason}`);
  if (skippedCount > skipped.length) note(`not stored: ${skippedCount - skipped.length} more`);
  for (const directory of leftOut) note(`not stored: ${directory} is not below STACK_ROOTS`);
  const downtime = staysStopped
    ? "; its containers stay stopped"
    : downtimeMs === 0
    ? ""
    : `; containers were ${mode === "pause" ? "paused" : "stopped"} for ${seconds(downtimeMs)}`;
  print(
    `Snapshot ${snapshot.slice(0, SHORT_ID)} at ${target}: ${byteText(size)}; the target grew by ` +
      `${byteText(added)}${downtime}.`,
  );
}

const seconds = (ms: number) => `${(ms / 1_000).toFixed(1)} s`;

export function snapshots(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("snapshots", program, [
    "list",
    "restore",
    "drill",
  ]);
  if (name === "drill") return drill(rest);
  return name === "list" ? list(rest) : restore(rest);
}

async function list(program: Program): Promise<number> {
  const { options } = parseArguments("snapshots list", program, [], {
    stack: "value",
    target: "value",
    json: "flag",
  });
  const query = new URLSearchParams();
  for (const name of ["stack", "target"] as const) {
    if (options[name] !== undefined) query.set(name, options[name]);
  }
  if (options.target === undefined) query.set("allTargets", "true");
  const service = connectService(program);
  const text = await service.text(`/api/backup/snapshots?${query}`, program.signal);
  const { snapshots, total, targets } = JSON.parse(text) as SnapshotList;
  for (const { name, error } of targets) {
    if (error !== null) {
      program.note(`The snapshots at ${readable(name)} cannot be listed: ${error}`);
    }
  }
  if (options.json) {
    program.print(JSON.stringify(snapshots));
    return EXIT.ok;
  }
  if (total === 0) program.print("There are no snapshots.");
  else {
    printTable(program, [
      ["ID", "TIME", "TARGET", "HOST", "STACK", "CONTENT", "REASON", "NOTE"],
      ...snapshots.map((each) => [
        each.id.slice(0, SHORT_ID),
        each.time.replace(/\.\d+/, ""),
        readable(each.target),
        readable(each.hostname),
        readable(each.stack ?? ""),
        readable([...each.volumes, ...each.directories].join(", ")),
        each.reason ?? "",
        readable(each.note ?? ""),
      ]),
    ]);
  }
  if (total > snapshots.length) {
    program.note(`${total - snapshots.length} older ones are not shown`);
  }
  return EXIT.ok;
}

async function restore(program: Program): Promise<number> {
  const { values: [id], options } = parseArguments("snapshots restore", program, ["ID"], {
    volume: "values",
    file: "values",
    stack: "flag",
    target: "value",
    replace: "flag",
    as: "value",
    json: "flag",
  });
  const { stack, file: files, volume: volumes } = options;
  if ([stack, files, volumes].filter((each) => each !== undefined).length > 1) {
    throw new CommandError(
      "Restore either the stack (--stack), or volumes with --volume, or files with --file",
    );
  }
  const service = connectService(program);
  const job = JSON.parse(
    await service.post(`/api/backup/snapshots/${encodeURIComponent(id)}/restore`, {
      what: stack ? "stack" : files ? "file" : "volume",
      paths: files ?? volumes?.map((name) => `/volumes/${name}`),
      target: options.target,
      to: options.replace ? "replace" : "new",
      as: options.as,
    }, program.signal),
  );
  const result = await followJob(program, service, job) as RestoreResult | StackRestoreResult;
  if (options.json) program.print(JSON.stringify(result));
  else {
    const { restored, kept, bytes } = result;
    for (const warning of "warnings" in result ? result.warnings : []) {
      program.note(readable(warning));
    }
    if (stack) program.print(`Restored and started ${readable(job.target)}.`);
    if (restored.length > 0) program.print(`Restored ${restored.join(", ")}: ${byteText(bytes)}.`);
    if (kept) program.print(`What was there is in snapshot ${kept.slice(0, SHORT_ID)}.`);
  }
  return EXIT.ok;
}

async function drill(program: Program): Promise<number> {
  const { values: [stack], options } = parseArguments("snapshots drill", program, ["STACK"], {
    snapshot: "value",
    target: "value",
    json: "flag",
  });
  const service = connectService(program);
  const { snapshot, target } = options;
  const job = JSON.parse(
    await service.post("/api/backup/drills", { stack, snapshot, target }, program.signal),
  );
  const result = await followJob(program, service, job) as DrillResult;
  if (options.json) program.print(JSON.stringify(result));
  else {
    for (const path of result.leftOut) program.note(`not in the snapshot: ${readable(path)}`);
    const { snapshot, durationMs, reason } = result;
    program.print(
      `Snapshot ${snapshot.slice(0, SHORT_ID)} was restored and works ` +
        `(${seconds(durationMs)}): ${readable(reason)}.`,
    );
  }
  return EXIT.ok;
}
