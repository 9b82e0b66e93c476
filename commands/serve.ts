/**
 * `longshore serve`: runs the service and ends it in order: streams and requests first, then the
 * workers, the databases last.
 *
 * @module
 */

import { connectEngine } from "../engine/client.ts";
import { findEngineSocket } from "../engine/socket.ts";
import { createApp } from "../routes/app.ts";
import { parseExecAllowlist } from "../services/ce/exec_allowlist.ts";
import { type Config, configWarnings, readConfig } from "../services/config.ts";
import type { Deps } from "../services/deps.ts";
import { workers } from "../services/editions.ts";
import { loadLicense } from "../services/license_source.ts";
import { aborted, runWorkers } from "../services/lifecycle.ts";
import { createLog, errorFields } from "../services/log.ts";
import { loadSecrets } from "../services/secrets.ts";
import { findSelf } from "../services/self_container.ts";
import { assemble } from "./assemble.ts";
import { openDataDirectory } from "./data_directory.ts";
import { ensureCredentials, greet } from "./greeting.ts";
import { assertNoArguments, CommandError, EXIT, type Program } from "./program.ts";
import { startNotifying } from "./supervisor.ts";

/** How long answers under way may take after the signal to end, in milliseconds. */
const DRAIN_MS = 10_000;

export async function serve(program: Program): Promise<number> {
  assertNoArguments("serve", program);
  const { env, surroundings, signal } = program;
  const config = readConfig(env, surroundings);
  assertUsableAllowlist(config);
  const now = () => new Date();
  const log = createLog({ level: config.logLevel, format: config.logFormat, now });

  for (const warning of configWarnings(config)) log.warn(warning);
  // Keys and databases are nobody else's business.
  Deno.umask(0o077);
  using data = openDataDirectory(config.dataDir, log);
  using engine = connectEngine(await engineSocket(program, config));
  const deps = assemble({
    config,
    db: data.db,
    metrics: data.metrics,
    engine,
    secrets: await loadSecrets(config, log),
    self: findSelf({
      hostname: surroundings.hostname,
      procPath: config.procPath,
      readTextFile: surroundings.readTextFile,
    }),
    log,
    now,
  });
  await loadLicense(deps.license, config, log);
  const credentials = await ensureCredentials(deps);

  await run(deps, program, (address) => greet(deps, program, address, credentials));
  log.info("stopped", { signal: signal.aborted });
  return EXIT.ok;
}

function assertUsableAllowlist({ execAllowlist }: Config): void {
  try {
    parseExecAllowlist(execAllowlist);
  } catch (error) {
    throw new CommandError(`EXEC_ALLOWLIST: ${(error as Error).message}`, { cause: error });
  }
}

async function run(
  deps: Deps,
  { env, signal }: Program,
  onStarted: (address: string) => Promise<void>,
): Promise<void> {
  const { log, stream } = deps;
  const report = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    log.error("unhandled rejection", errorFields(event.reason));
  };
  globalThis.addEventListener("unhandledrejection", report);
  // A taken port fails here, before any worker runs.
  const server = listen(deps);
  const running = runWorkers(workers, deps, signal);
  try {
    await onStarted(addressOf(server, deps.config));
    const notifying = await startNotifying(env, log);
    await aborted(signal);

    log.info("stopping");
    await notifying.stopping();
    stream.close();
    await Promise.race([server.shutdown(), timeout(DRAIN_MS)]);
  } finally {
    await running;
    globalThis.removeEventListener("unhandledrejection", report);
  }
}

function listen(deps: Deps): Deno.HttpServer<Deno.NetAddr> {
  const { config, log } = deps;
  const answer = createApp(deps);
  try {
    return Deno.serve({
      hostname: config.host,
      port: config.port,
      ...tlsFiles(config),
      onListen: () => {},
      onError(error) {
        log.error("request failed outside of the application", errorFields(error));
        return new Response('{"error":"Internal error"}', { status: 500 });
      },
    }, (request, { remoteAddr }) => answer(request, remoteAddr.hostname));
  } catch (error) {
    throw new CommandError(
      `Cannot listen on ${config.host}:${config.port}: ${(error as Error).message}`,
      { cause: error },
    );
  }
}

function tlsFiles({ tlsCertFile, tlsKeyFile }: Config): { cert: string; key: string } | undefined {
  if (tlsCertFile === null || tlsKeyFile === null) return undefined;
  const read = (name: string, path: string) => {
    try {
      return Deno.readTextFileSync(path);
    } catch (error) {
      throw new CommandError(`${name}=${path} cannot be read: ${(error as Error).message}`);
    }
  };
  return { cert: read("TLS_CERT_FILE", tlsCertFile), key: read("TLS_KEY_FILE", tlsKeyFile) };
}

async function engineSocket({ env }: Program, { dockerHost }: Config): Promise<string> {
  const { socketPath } = await findEngineSocket({
    dockerHost: dockerHost ?? undefined,
    xdgRuntimeDir: env.XDG_RUNTIME_DIR,
    home: env.HOME,
    uid: Deno.uid(),
  });
  return socketPath;
}

/** As one would type it: the wildcard address is reached by the loopback one. */
function addressOf({ addr }: Deno.HttpServer<Deno.NetAddr>, config: Config): string {
  const scheme = config.tlsCertFile === null ? "http" : "https";
  const host = addr.hostname === "0.0.0.0" || addr.hostname === "::" ? "localhost" : addr.hostname;
  return `${scheme}://${host.includes(":") ? `[${host}]` : host}:${addr.port}`;
}

function timeout(ms: number): Promise<void> {
  return new Promise((resolve) => Deno.unrefTimer(setTimeout(resolve, ms) as unknown as number));
}
