/**
 * Sends the messages that were held back, once they may be sent.
 *
 * @module
 */

import { rounds, type Worker } from "../lifecycle.ts";
import { sendDigests } from "./notifications/digest.ts";
import { reportFailingChannels } from "./notifications/failing.ts";
import { reportRemovedContainers } from "./notifications/removed.ts";
import { reportHeldEvents } from "./silences/held.ts";

const ROUND_MS = 5_000;

export const messageKeeper: Worker = {
  name: "message keeper",
  edition: "ce",
  run: rounds(ROUND_MS, (deps) => {
    reportHeldEvents(deps);
    reportRemovedContainers(deps);
    sendDigests(deps);
    reportFailingChannels(deps);
  }),
};
