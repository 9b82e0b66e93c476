/**
 * Tells the supervisor (systemd) that the service is ready, alive, stopping.
 *
 * @module
 */

import type { Env } from "../services/config/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { notifySystemd, type SystemdState, watchdogPeriodMs } from "../services/systemd_notify.ts";

/** Says that the service is ready, and from then on that it lives, as often as it is asked to. */
export async function startNotifying(env: Env, log: Log): Promise<{ stopping(): Promise<void> }> {
  const tell = async (...states: SystemdState[]) => {
    try {
      await notifySystemd(env.NOTIFY_SOCKET, ...states);
    } catch (error) {
      log.warn("supervisor not notified", errorFields(error));
    }
  };
  await tell("READY=1");

  const periodMs = watchdogPeriodMs(env.WATCHDOG_USEC);
  const timer = periodMs && setInterval(() => void tell("WATCHDOG=1"), periodMs);
  return {
    async stopping() {
      clearInterval(timer);
      await tell("STOPPING=1");
    },
  };
}
