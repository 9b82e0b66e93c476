/**
 * Looks twice a day whether a certificate is about to expire.
 *
 * @module
 */

import { aborted, every, sleep, type Worker } from "../../lifecycle.ts";
import { noticeExpiringCertificates } from "./certificate_notices.ts";
import { checkCertificates } from "./tls.ts";

const ROUND_MS = 12 * 60 * 60 * 1000;

/** The first round waits until the start is over, on this side and often on the other. */
const FIRST_ROUND_MS = 60 * 1000;

export const certificateWatcher: Worker = {
  name: "certificate watcher",
  edition: "ce",
  async run(deps, signal, round) {
    const { config, maintenance, now } = deps;
    if (config.sslDomains.length === 0) return await aborted(signal);
    await sleep(FIRST_ROUND_MS, signal);
    for await (const _ of every(ROUND_MS, signal)) {
      const checks = await checkCertificates(config.sslDomains, { now, signal });
      if (signal.aborted) return;
      // Notices pause during maintenance; one that is left out is made up for in the next round.
      if (!maintenance.active) noticeExpiringCertificates(deps, checks);
      round();
    }
  },
};
