/** The job that stores the snapshot of another host. @module */

import { failInterrupted, type NamedJobKind } from "../../jobs/kind.ts";
import { type Arriving, RECEIVE, type ReceivedSnapshot, type ReceiveInput } from "./job.ts";

export const receiveKind: NamedJobKind<ReceiveInput, ReceivedSnapshot, Arriving> = {
  id: RECEIVE,
  group: "Backups",
  title: "Receive",
  running: "Receiving {target}",
  steps: { store: "Receive and store" },
  unit: "bytes",
  isListed: true,
  targetType: "host",
  role: "admin",
  permission: "backup:write",
  async run(deps, job) {
    return await (await import("./store.ts")).storeArchive(deps, job);
  },
  recover: failInterrupted,
};
