/**
 * Notifies the supervisor (systemd) that the service is ready, alive or stopping.
 *
 * @module
 */

import type { Env } from "../services/config/config.ts";
import { errorFields, type Log } from "../services/log.ts";
import { notifySystemd, type SystemdState, watchdogPeriodMs } from "../services/systemd_notify.ts";

/** Reports that the service is ready, and then regularly that it is alive. */
export async function startNotifying(env: Env, log: Log): Promise<{ stopping(): Promise<void> }> {
  const notify = async (...states: SystemdState[]) => {
    try {
      await notifySystemd(env.NOTIFY_SOCKET, ...states);
    } catch (error) {
      log.warn("supervisor not notified", errorFields(error));
    }
  };
  await notify("READY=1");

  const periodMs = watchdogPeriodMs(env.WATCHDOG_USEC);
  const timer = periodMs && setInterval(() => void notify("WATCHDOG=1"), periodMs);
  return {
    async stopping() {
      clearInterval(timer);
      await notify("STOPPING=1");
    },
  };
}
