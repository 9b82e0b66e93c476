/** Sends the messages that were held back, once they may be sent. @module */

import { rounds, type Worker } from "../lifecycle.ts";
import { sendDigests } from "../messages/digest.ts";
import { reportFailingChannels } from "../messages/failing.ts";
import { reportRemovedContainers } from "../messages/removed.ts";
import { reportHeldEvents } from "../alerts/silences/held.ts";

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
