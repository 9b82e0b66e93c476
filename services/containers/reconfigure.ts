/** Changes of a container without a restart, also of one that exits meanwhile. @module */

import type { Engine } from "../../engine/client.ts";
import { containerUpdate, type ContainerUpdateBody } from "../../engine/container_update.ts";
import { EngineError } from "../../engine/errors.ts";
import { sleep } from "../waiting.ts";

/** Docker takes milliseconds to notice the exit of a container, and seconds on a busy host. */
const ATTEMPTS_MAX = 100;
const ATTEMPT_PAUSE_MS = 100;

/**
 * Messages of runtimes about a container whose exit Docker has not noticed yet, as often happens to
 * one in a crash loop. Docker has undone the change then.
 */
const EXITED =
  /stopped container|deleted process|not running|task \S+ not found|no such (?:container|process)|ttrpc: closed/i;

/**
 * Changes limits and the restart policy of a container. If it exits meanwhile, the change is repeated
 * until the engine has noticed the exit.
 *
 * @returns Whether the engine has such an operation: Podman 4 does not.
 * @throws {EngineError} 404 if the container does not exist; otherwise as
 * {@linkcode containerUpdate}.
 */
export async function reconfigure(
  engine: Engine,
  id: string,
  body: ContainerUpdateBody,
): Promise<boolean> {
  for (let attempt = 1;; attempt++) {
    try {
      await containerUpdate(engine, id, { body });
      return true;
    } catch (error) {
      if (!(error instanceof EngineError)) throw error;
      if (error.status === 404 && !/no such container/i.test(error.message)) return false;
      const hasExited = error.status >= 500 && EXITED.test(error.message);
      if (!hasExited || attempt === ATTEMPTS_MAX) throw error;
    }
    await sleep(ATTEMPT_PAUSE_MS);
  }
}
