/**
 * Looks after status pages: components that follow a monitor say what it says, and old notices go.
 *
 * @module
 */

import { every, type Worker } from "../../lifecycle.ts";
import { followMonitors } from "../status_page_components.ts";
import { sweepNotices } from "../status_page_notices.ts";

const ROUND_MS = 30_000;

export const statusPageKeeper: Worker = {
  name: "status page keeper",
  edition: "pro",
  async run(deps, signal, round) {
    for await (const _ of every(ROUND_MS, signal)) {
      followMonitors(deps);
      sweepNotices(deps);
      round();
    }
  },
};
