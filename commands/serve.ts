/**
 * `longshore serve`: reads the configuration, listens, opens the service, runs its workers, and
 * stops in order: streams and requests first, then the workers, the databases last.
 *
 * @module
 */

import { type Config, configWarnings, readConfig } from "../services/config/config.ts";
import { withDeadline } from "../services/deadline.ts";
import { aborted, sleep } from "../services/waiting.ts";
import { createLog, errorFields, type Log } from "../services/log.ts";
import { listen, type Listener } from "./listener/listener.ts";
import { requestOwn } from "./own_request.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";
import { createStartupHandler } from "./startup_handler.ts";
import { startNotifying } from "./supervisor.ts";

/** Time limit for running requests at the stop, in milliseconds. */
const DRAIN_MS = 10_000;

/**
 * Time for a client that waits for the port, in milliseconds. Loading the service blocks the event
 * loop for a quarter of a second.
 */
const FIRST_PROBE_MS = 10;

export async function serve(program: Program): Promise<number> {
  assertNoArguments("serve", program);
  const config = readConfig(program.env, program.surroundings);
  const now = () => new Date();
  const log = createLog({ level: config.logLevel, format: config.logFormat, now });

  // A port in use fails here, before anything is opened or created.
  const startup = createStartupHandler();
  const listener = listen(config, log, startup.answer);
  const failure = new AbortController();
  const signal = AbortSignal.any([program.signal, failure.signal]);
  listener.accepting.catch((error) => {
    log.error("no connections can be accepted; the service stops", errorFields(error));
    failure.abort();
  });
  for (const warning of configWarnings(config)) log.warn(warning);
  const stopReporting = reportRejections(log);

  try {
    await sleep(FIRST_PROBE_MS, signal);
    const { openService, serveFleet } = await import("./service.ts");
    using service = await openService({ program, config, log, now, address: listener.address });
    // Hosts of a fleet dial WebSockets.
    service.deps.fleet.onDialled(listener.relay);
    startup.open(service.app);
    const fleet = serveFleet(service.deps, service.app);

    const working = service.runWorkers(signal);
    try {
      await service.greet();
      const notifying = await startNotifying(program.env, log, () => findFault(listener, config));
      await aborted(signal);

      log.info("stopping");
      await notifying.stopping();
      service.deps.stream.close();
      await service.deps.terminals.close();
      await drain(listener, fleet);
    } finally {
      await working;
    }
  } catch (error) {
    startup.close();
    await drain(listener);
    throw error;
  } finally {
    stopReporting();
  }
  log.info("stopped");
  return failure.signal.aborted ? EXIT.failure : EXIT.ok;
}

/** @returns The reason why the listener does not answer. One that is full refuses, but it works. */
async function findFault(
  listener: Pick<Listener, "address" | "isFull">,
  config: Config,
): Promise<string | undefined> {
  const { port, protocol } = new URL(listener.address);
  const used = Number(port) || (protocol === "https:" ? 443 : 80);
  const status = await requestOwn(
    { ...config, port: used, isTls: config.tlsCertFile !== null },
    "/livez",
  );
  return typeof status === "number" || listener.isFull ? undefined : status;
}

async function drain(...parts: Pick<Listener, "shutdown">[]): Promise<void> {
  await withDeadline(Promise.all(parts.map((each) => each.shutdown())), DRAIN_MS);
}

/** An unhandled rejection is a bug. It is logged, and the service keeps running. */
function reportRejections(log: Log): () => void {
  const report = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    log.error("unhandled rejection", errorFields(event.reason));
  };
  globalThis.addEventListener("unhandledrejection", report);
  return () => globalThis.removeEventListener("unhandledrejection", report);
}
