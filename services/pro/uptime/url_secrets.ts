/** Encrypts the secrets in monitor URLs that an earlier version stored in clear. @module */

import { selectMonitors, updateMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { keepsSecrets, redactedUrl } from "../../outbound/url_secrets.ts";
import { openRequest, sealRequest } from "./request.ts";

/** Must be called before requests and workers start. */
export function sealMonitorUrls({ db, secrets, log }: Pick<Deps, "db" | "secrets" | "log">): void {
  for (const monitor of selectMonitors(db)) {
    const { id, url } = monitor;
    const redacted = redactedUrl(url);
    if (redacted === url || keepsSecrets(url)) continue;
    // Without the other secrets the monitor cannot be repaired; it must be created again.
    const request = openIfPossible(() => openRequest(secrets, monitor));
    if (!request) continue;
    updateMonitor(db, {
      ...monitor,
      url: redacted,
      sealed: sealRequest(secrets, id, { ...request, url }),
    });
    log.info("monitor URL encrypted", { monitorId: id });
  }
}
