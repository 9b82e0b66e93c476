/** Checks twice a day whether certificates are about to expire. @module */

import type { Worker } from "../lifecycle.ts";
import { aborted, every, sleep } from "../waiting.ts";
import { emitExpiryNotices } from "./certificate_notices.ts";
import { checkCertificates } from "./tls.ts";

const ROUND_MS = 12 * 60 * 60 * 1000;

/** Delay of the first round, because other services of the host may still be starting. */
const START_DELAY_MS = 60 * 1000;

export const certificateWatcher: Worker = {
  name: "certificate watcher",
  edition: "ce",
  async run(deps, signal, round) {
    const { alerts, config, maintenance, now } = deps;
    if (config.sslDomains.length === 0) return await aborted(signal);
    await sleep(START_DELAY_MS, signal);
    for await (const _ of every(ROUND_MS, signal)) {
      const checks = await checkCertificates(config.sslDomains, { now, signal });
      if (signal.aborted) return;
      alerts.certificates = checks.flatMap(({ domain, port, expiresAt }) =>
        expiresAt === null ? [] : [{ domain, port, expiresAt }]
      );
      // Notices that are suppressed during maintenance are sent in the next round after it.
      if (!maintenance.active) emitExpiryNotices(deps, checks);
      round();
    }
  },
};
