/**
 * `longshore serve`: listens at once, loads and runs the service, and stops it in order: streams and
 * requests first, then the workers, the databases last.
 *
 * @module
 */

import { type Config, configWarnings, readConfig } from "../services/config/config.ts";
import { withDeadline } from "../services/deadline.ts";
import { yieldToEventLoop } from "../services/event_loop.ts";
import { createLog, errorFields, type Log } from "../services/log.ts";
import { createStartupHandler } from "./startup_handler.ts";
import { listen, type Listener } from "./listener/listener.ts";
import { requestOwn } from "./own_request.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

/** Time limit for running requests at the stop, in milliseconds. */
const DRAIN_MS = 10_000;

/** Time for the first request before the service is loaded, in milliseconds. */
const FIRST_ANSWER_MS = 10;

export async function serve(program: Program): Promise<number> {
  assertNoArguments("serve", program);
  const config = readConfig(program.env, program.surroundings);
  const now = () => new Date();
  const log = createLog({ level: config.logLevel, format: config.logFormat, now });

  // A port in use fails here, before anything is opened or created.
  const handler = createStartupHandler();
  const listener = listen(config, log, handler.answer);
  const failure = new AbortController();
  listener.accepting.catch((error) => {
    log.error("no connections can be accepted; the service stops", errorFields(error));
    failure.abort();
  });
  for (const warning of configWarnings(config)) log.warn(warning);
  const stopReporting = reportRejections(log);
  try {
    const { runService } = await loadService();
    await runService({
      program: { ...program, signal: AbortSignal.any([program.signal, failure.signal]) },
      config,
      log,
      now,
      address: listener.address,
      open: handler.open,
      findFault: () => findFault(listener, config),
      drain: () => drain(listener),
    });
  } catch (error) {
    handler.close();
    await drain(listener);
    throw error;
  } finally {
    stopReporting();
  }
  log.info("stopped");
  return failure.signal.aborted ? EXIT.failure : EXIT.ok;
}

/**
 * Loads the service in steps of some ten milliseconds. Between two steps `startup_handler.ts` answers
 * requests. The first step, which is the longest, begins when a client that waits for the port has
 * its answer.
 */
async function loadService() {
  await new Promise((resolve) => setTimeout(resolve, FIRST_ANSWER_MS));
  await import("../services/editions.ts");
  await yieldToEventLoop();
  await import("../routes/app.ts");
  await yieldToEventLoop();
  return await import("./service.ts");
}

/** @returns The reason why the listener does not answer. One that is full refuses, but it works. */
async function findFault(
  listener: Pick<Listener, "address" | "isFull">,
  config: Config,
): Promise<string | undefined> {
  const { port, protocol } = new URL(listener.address);
  const used = Number(port) || (protocol === "https:" ? 443 : 80);
  const status = await requestOwn({ ...config, port: used }, "/livez");
  return typeof status === "number" || listener.isFull ? undefined : status;
}

async function drain(listener: Listener): Promise<void> {
  await withDeadline(listener.shutdown(), DRAIN_MS);
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
