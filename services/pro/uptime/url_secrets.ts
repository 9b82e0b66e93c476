/**
 * Addresses of monitors that an earlier version stored with their secrets in clear.
 *
 * @module
 */

import { selectMonitors, updateMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { SealError } from "../../secrets.ts";
import { keepsSecrets, redactedUrl } from "../../outbound/url_secrets.ts";
import { openRequest, sealRequest } from "./request.ts";

/** Encrypts them; to be called before requests and workers. */
export function sealMonitorUrls(
  { db, secrets, log }: Pick<Deps, "db" | "secrets" | "log">,
): void {
  for (const monitor of selectMonitors(db)) {
    const { id, url } = monitor;
    const shown = redactedUrl(url);
    if (shown === url || keepsSecrets(url)) continue;
    try {
      const sealed = sealRequest(secrets, id, { ...openRequest(secrets, monitor), url });
      updateMonitor(db, { ...monitor, url: shown, sealed });
      log.info("monitor URL encrypted", { monitorId: id });
    } catch (error) {
      // Its other secrets are lost: it has to be created again.
      if (!(error instanceof SealError)) throw error;
    }
  }
}
