/** The data that a stopped service has left, made once for all tests of a process. @module */

import { equal } from "node:assert/strict";
import { runCommand, temporaryDirectory } from "./command.ts";
import { startLongshore } from "./longshore.ts";

/** The API key of the service. */
export const LEFT_API_KEY = "the key of the service that was stopped";

/** The reason of the maintenance that the service has begun. */
export const LEFT_REASON = "before";

let original: Promise<string> | undefined;

/** The data that a service has left, and a place for more. */
export interface LeftData extends Disposable {
  path: string;
  /** Below `path`: a copy, which a test may change. */
  dataDir: string;
  /** Path of a backup of it, which all tests share. */
  backup: string;
}

/** Copies the data into a directory that is removed when the result is disposed. */
export async function leftData(): Promise<LeftData> {
  const from = await (original ??= makeOriginal());
  const directory = temporaryDirectory();
  const dataDir = `${directory.path}/data`;
  const { success } = await new Deno.Command("cp", {
    args: ["-a", `${from}/data`, dataDir],
  }).output();
  equal(success, true);
  return {
    path: directory.path,
    dataDir,
    backup: `${from}/backup.tar`,
    [Symbol.dispose]: () => directory[Symbol.dispose](),
  };
}

async function makeOriginal(): Promise<string> {
  const directory = temporaryDirectory();
  addEventListener("unload", () => directory[Symbol.dispose]());
  const dataDir = `${directory.path}/data`;
  await using longshore = await startLongshore({
    dataDir,
    env: { API_KEY: LEFT_API_KEY },
  });
  const maintenance = { enabled: true, reason: LEFT_REASON };
  equal((await longshore.call("POST", "/api/maintenance", maintenance)).status, 200);
  equal(await longshore.stop(), 0);
  const backup = await runCommand(["backup", `${directory.path}/backup.tar`], {
    env: { DATA_DIR: dataDir },
  });
  equal(backup.code, 0, backup.stderr);
  return directory.path;
}
