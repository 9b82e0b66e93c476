/**
 * `longshore serve`: listens at once, puts the service together, runs it, and ends it in order:
 * streams and requests first, then the workers, the databases last.
 *
 * @module
 */

import { configWarnings, readConfig } from "../services/config/config.ts";
import { withDeadline } from "../services/deadline.ts";
import { createLog, errorFields, type Log } from "../services/log.ts";
import { createStartupHandler } from "./startup_handler.ts";
import { listen, type Listener } from "./listener.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

/** How long answers under way may take after the signal to end, in milliseconds. */
const DRAIN_MS = 10_000;

export async function serve(program: Program): Promise<number> {
  assertNoArguments("serve", program);
  const config = readConfig(program.env, program.surroundings);
  const now = () => new Date();
  const log = createLog({ level: config.logLevel, format: config.logFormat, now });

  // A taken port fails here, before anything is opened or made.
  const door = createStartupHandler();
  const listener = listen(config, log, door.answer);
  for (const warning of configWarnings(config)) log.warn(warning);
  const stopReporting = reportRejections(log);
  try {
    const { runService } = await loadService();
    await runService({
      program,
      config,
      log,
      now,
      address: listener.address,
      open: door.open,
      drain: () => drain(listener),
    });
  } catch (error) {
    door.close();
    await drain(listener);
    throw error;
  } finally {
    stopReporting();
  }
  log.info("stopped");
  return EXIT.ok;
}

/**
 * Loads what the service is made of, in steps: each takes some ten milliseconds, and a request
 * that comes between two of them is answered (see `front_door.ts`).
 */
async function loadService() {
  await turn();
  await import("../routes/shapes.ts");
  await turn();
  await import("../services/editions.ts");
  await turn();
  await import("../routes/app.ts");
  await turn();
  return await import("./service.ts");
}

/** Lets everything else that is ready have its turn. */
const turn = () => new Promise<void>((resolve) => setTimeout(resolve, 0));

async function drain(listener: Listener): Promise<void> {
  await withDeadline(listener.shutdown(), DRAIN_MS);
}

/** A rejection that nobody handles is a bug; it is told, and is no reason to end. */
function reportRejections(log: Log): () => void {
  const report = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    log.error("unhandled rejection", errorFields(event.reason));
  };
  globalThis.addEventListener("unhandledrejection", report);
  return () => globalThis.removeEventListener("unhandledrejection", report);
}
