/** Notifies the supervisor (systemd) that the service is ready, alive or stopping. @module */

import type { Env } from "../services/config/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { notifySystemd, type SystemdState, watchdogPeriodMs } from "./systemd_notify.ts";

/** Longest pause after the service was found not to answer, in milliseconds. */
const RETRY_MAX_MS = 1_000;

/**
 * Reports that the service is ready, and then regularly that it is alive, as long as it is. The
 * supervisor restarts a service that is not reported.
 *
 * @param findFault Requests something of the service. @returns The reason why it does not answer.
 */
export async function startNotifying(
  env: Env,
  log: Log,
  findFault: () => Promise<string | undefined>,
): Promise<{ stopping(): Promise<void> }> {
  const notify = async (...states: SystemdState[]) => {
    try {
      await notifySystemd(env.NOTIFY_SOCKET, ...states);
    } catch (error) {
      log.warn("supervisor not notified", errorFields(error));
    }
  };
  await notify("READY=1");

  const periodMs = watchdogPeriodMs(env.WATCHDOG_USEC);
  let timer: ReturnType<typeof setTimeout> | undefined;
  let isStopping = false;
  const feed = async () => {
    const fault = await findFault();
    if (isStopping) return;
    if (fault === undefined) await notify("WATCHDOG=1");
    else log.error("service does not answer its own request", { reason: fault });
    schedule(fault === undefined ? periodMs! : Math.min(periodMs!, RETRY_MAX_MS));
  };
  const schedule = (ms: number) => {
    if (!isStopping) timer = setTimeout(() => void feed(), ms);
  };
  if (periodMs) schedule(periodMs);
  return {
    async stopping() {
      isStopping = true;
      clearTimeout(timer);
      await notify("STOPPING=1");
    },
  };
}
