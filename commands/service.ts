/** The opened service: its data, its parts and its application. @module */

import { connectEngine } from "../engine/client.ts";
import { type App, createApp } from "../routes/app.ts";
import { recordOwnUpdate } from "../services/updates/own_update.ts";
import { parseExecAllowlist } from "../services/containers/exec/allowlist.ts";
import type { Config } from "../services/config/config.ts";
import type { Deps } from "../services/deps.ts";
import { workers } from "../services/editions.ts";
import { loadLicense } from "../services/access/license/source.ts";
import { runWorkers } from "../services/lifecycle.ts";
import type { Log } from "../services/log.ts";
import { loadSecrets } from "../services/secrets/secrets.ts";
import { findSelf } from "../services/containers/self_container.ts";
import { assemble } from "./assemble.ts";
import { ensureCredentials } from "./credentials.ts";
import { openDataDirectory } from "./data_directory.ts";
import { findEngineEndpoint } from "./engine_endpoint.ts";
import { greet } from "./greeting.ts";
export { serveFleet } from "./fleet_socket.ts";
import { commandError, executableOf, type Program } from "./program.ts";

/** A service whose databases are open, with the application that answers its requests. */
export interface Service extends Disposable {
  deps: Deps;
  app: App;
  /** Runs the workers until the signal aborts. */
  runWorkers(signal: AbortSignal): Promise<void>;
  /** Prints where it listens and what to try next. */
  greet(): Promise<void>;
}

/**
 * Opens the data directory and builds the service. Disposing of it closes the databases.
 *
 * @param options.address The address that it listens on.
 * @throws {CommandError | ConfigError | KeyFileError} What the operator has to correct.
 */
export async function openService(
  { program, config, log, now, address }: {
    program: Program;
    config: Config;
    log: Log;
    now: () => Date;
    address: string;
  },
): Promise<Service> {
  assertUsableAllowlist(config);
  assertUsableProcPath(program, config);
  const endpoint = await findEngineEndpoint(program, config);
  using opened = new DisposableStack();
  const data = opened.use(openDataDirectory(config.dataDir, log));
  const deps = assemble({
    config,
    db: data.db,
    metrics: data.metrics,
    engine: opened.use(connectEngine(endpoint)),
    secrets: loadSecrets(config, log),
    self: findSelf({
      hostname: program.surroundings.hostname,
      procPath: config.procPath,
      readTextFile: program.surroundings.readTextFile,
    }),
    log,
    now,
  });
  await loadLicense(deps.license, config, log);
  const credentialsFile = await ensureCredentials(deps, program);
  recordOwnUpdate(deps, { hasReturned: hasReturned(program) });
  data.describe(config, address);
  const resources = opened.move();
  return {
    deps,
    app: createApp(deps),
    runWorkers: (signal) => runWorkers(workers, deps, signal),
    greet: () => greet(deps, program, address, credentialsFile),
    [Symbol.dispose]: () => resources.dispose(),
  };
}

/** Whether `deploy/update_trial.sh` has put this executable back; its mark stays until the service is ready. */
function hasReturned(program: Program): boolean {
  const executable = executableOf(program);
  if (executable === undefined) return false;
  try {
    return Deno.statSync(`${executable}.returned`).isFile;
  } catch {
    return false;
  }
}

function assertUsableAllowlist({ execAllowlist }: Config): void {
  try {
    parseExecAllowlist(execAllowlist);
  } catch (error) {
    throw commandError("EXEC_ALLOWLIST", error);
  }
}

/** Detects a missing mount at the start instead of with the first metric that lacks it. */
function assertUsableProcPath({ surroundings }: Program, { procPath }: Config): void {
  if (procPath === null) return;
  try {
    surroundings.readTextFile(`${procPath}/stat`);
  } catch (error) {
    const what = `PROC_PATH=${procPath} must be a mount of the host's /proc, such as /host/proc`;
    throw commandError(what, error);
  }
}
