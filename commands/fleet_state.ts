/** The fleet as commands use it, beside a running service or without one. @module */

import type { StateDatabase } from "../db/database.ts";
import { nodeHttp, nodeHttps } from "../services/builtins.ts";
import type { Config } from "../services/config/config.ts";
import { AppError, KeyFileError } from "../services/errors.ts";
import { createFleet } from "../services/fleet/hosts/fleet.ts";
import { LINK_PATH } from "../services/fleet/link/dial.ts";
import { type Log, silentLog } from "../services/log.ts";
import { loadSecrets, type Secrets } from "../services/secrets/secrets.ts";
import { createChanges } from "../services/stream/changes.ts";
import { assertIsMeant, findInstallation } from "./installation.ts";
import { CommandError, type Program } from "./program.ts";
import { findRunningService, type RunningService } from "./running_service.ts";
import { withStateBeside } from "./state_database.ts";

const NOTIFY_MS = 5_000;

/** Parts that commands of the fleet use. */
export interface FleetDeps {
  config: Config;
  db: StateDatabase;
  changes: ReturnType<typeof createChanges>;
  fleet: ReturnType<typeof createFleet>;
  secrets: Secrets;
  log: Log;
  now: () => Date;
  /** Whether the service runs. */
  isRunning: boolean;
}

/**
 * Runs `work` on the installation, and lets a running service notice what it has changed.
 *
 * @throws {CommandError}
 */
export async function withFleet<T>(
  program: Program,
  work: (deps: FleetDeps) => T | Promise<T>,
): Promise<T> {
  const { config, running } = findInstallation(program);
  assertIsMeant(config, program);
  try {
    return await withStateBeside(config.dataDir, async (db) =>
      await work({
        config,
        db,
        changes: createChanges(),
        fleet: createFleet(db),
        secrets: loadSecrets(config, silentLog),
        log: silentLog,
        now: () => new Date(),
        isRunning: running !== undefined,
      }));
  } catch (error) {
    const isForUser = error instanceof AppError || error instanceof KeyFileError;
    throw isForUser ? new CommandError(withoutField(error.message), { cause: error }) : error;
  } finally {
    // It may have started meanwhile, and work that fails can have changed something.
    const service = findRunningService(config.dataDir);
    if (service) await notify(service);
  }
}

/** A request to the endpoint of links lets the service read its fleet again. */
function notify({ address }: RunningService): Promise<void> {
  const url = new URL(LINK_PATH, address);
  const { request } = url.protocol === "https:" ? nodeHttps() : nodeHttp();
  return new Promise((resolve) => {
    const sent = request(url, { rejectUnauthorized: false, timeout: NOTIFY_MS }, (response) => {
      response.resume();
      resolve();
    });
    sent.on("timeout", () => sent.destroy());
    sent.on("error", () => resolve());
    sent.end();
  });
}

/** Options have the names of fields: `body.address: …` is `--address: …`. */
const withoutField = (message: string) => message.replace(/^body\./, "--");
