/** The service, from its data directory to its workers. @module */

import { connectEngine } from "../engine/client.ts";
import { findEngineSocket } from "../engine/socket.ts";
import { type App, createApp } from "../routes/app.ts";
import { recordOwnUpdate } from "../services/updates/own_update.ts";
import { parseExecAllowlist } from "../services/containers/exec/allowlist.ts";
import type { Config } from "../services/config/config.ts";
import type { Deps } from "../services/deps.ts";
import { workers } from "../services/editions.ts";
import { collectGarbage } from "../services/garbage.ts";
import { loadLicense } from "../services/access/license/source.ts";
import { aborted, runWorkers } from "../services/lifecycle.ts";
import type { Log } from "../services/log.ts";
import { loadSecrets } from "../services/secrets/secrets.ts";
import { findSelf } from "../services/containers/self_container.ts";
import { assemble } from "./assemble.ts";
import { ensureCredentials } from "./credentials.ts";
import { openDataDirectory } from "./data_directory.ts";
import { greet } from "./greeting.ts";
import { commandError, executableOf, type Program } from "./program.ts";
import { startNotifying } from "./supervisor.ts";

/**
 * When the garbage of the start is collected, in milliseconds: after the first rounds of the workers. It
 * is a good part of the heap, and an idle service creates so little that the runtime would keep it for
 * hours. Takes some 20 ms, once.
 */
const COLLECT_AFTER_MS = 5_000;

interface ServiceStart {
  program: Program;
  config: Config;
  log: Log;
  now: () => Date;
  /** The address that it already listens on. */
  address: string;
  /** Accepts requests from now on. */
  open: (app: App) => void;
  /** Requests something of the listener. @returns The reason why it does not answer. */
  findFault: () => Promise<string | undefined>;
  /** Accepts no more requests, and waits for the running ones. */
  drain: () => Promise<void>;
}

/** Runs the whole service until the program's signal aborts and everything is closed. */
export async function runService(start: ServiceStart): Promise<void> {
  const { program, config, log, now } = start;
  assertUsableAllowlist(config);
  assertUsableProcPath(program, config);
  // Keys and databases are private.
  Deno.umask(0o077);
  using data = openDataDirectory(config.dataDir, log);
  const socketPath = await findEngineSocket({
    dockerHost: config.dockerHost,
    xdgRuntimeDir: program.env.XDG_RUNTIME_DIR,
    home: program.env.HOME,
    uid: Deno.uid(),
  });
  using engine = connectEngine(socketPath);
  const deps = assemble({
    config,
    db: data.db,
    metrics: data.metrics,
    engine,
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
  data.describe(config, start.address);
  await run(deps, start, () => greet(deps, program, start.address, credentialsFile));
}

async function run(
  deps: Deps,
  { program: { env, signal }, open, findFault, drain }: ServiceStart,
  onStarted: () => Promise<void>,
): Promise<void> {
  const { log, stream, terminals } = deps;
  open(createApp(deps));
  const running = runWorkers(workers, deps, signal);
  const collecting = setTimeout(() => collectGarbage("last-resort"), COLLECT_AFTER_MS);
  try {
    await onStarted();
    const notifying = await startNotifying(env, log, findFault);
    await aborted(signal);

    log.info("stopping");
    await notifying.stopping();
    stream.close();
    await terminals.close();
    await drain();
  } finally {
    clearTimeout(collecting);
    await running;
  }
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
