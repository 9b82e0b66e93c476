/**
 * The workers of a hub and of a member. Without a fleet they wait without a timer, and load nothing.
 *
 * @module
 */

import { countOutgoingEvents } from "../../db/fleet_outgoing_events.ts";
import type { Deps } from "../deps.ts";
import type { Worker } from "../lifecycle.ts";

/** Keeps the links of this hub. */
export const fleetKeeper = fleetWorker("fleet keeper", ({ isHub }) => isHub, async (...args) => {
  const { keepLinks } = await import("./hosts/keeper.ts");
  await keepLinks(...args);
});

/** Keeps the hub's copies of what its hosts have. */
export const fleetCopies = fleetWorker("fleet copies", ({ isHub }) => isHub, async (...args) => {
  const { followHosts } = await import("./copies/follow.ts");
  await followHosts(...args);
});

/** Dials the hosts that wait for this hub. */
export const fleetDialler = fleetWorker(
  "fleet dialler",
  ({ dialled }) => dialled.length > 0,
  async (...args) => {
    const { dialHosts } = await import("./hosts/dialler.ts");
    await dialHosts(...args);
  },
);

/** Keeps the link to the hub of this member, whichever side dials. */
export const fleetMember = fleetWorker(
  "fleet member",
  ({ membership, isListening }) => membership !== undefined || isListening,
  async (deps, ...args) => {
    if (deps.fleet.isListening) {
      const { keepListening } = await import("./enrolment/listen.ts");
      await keepListening(deps, ...args);
    } else {
      const { keepDialing } = await import("./enrolment/member.ts");
      await keepDialing(deps, ...args);
    }
  },
);

/** Runs what the hub has left for this member. */
export const fleetBoxes = fleetWorker(
  "fleet boxes",
  ({ membership }) => membership !== undefined,
  async (...args) => {
    const { runBoxes } = await import("./away/runner.ts");
    await runBoxes(...args);
  },
);

const eventsOfMember = fleetWorker(
  "fleet events",
  ({ membership }) => membership !== undefined,
  async (...args) => {
    const { watchHub } = await import("./events/send.ts");
    await watchHub(...args);
  },
);

/**
 * Lets the own channels of this member tell people while its hub is away. At the start, events may be left of a
 * membership that ended while the service did not run.
 */
export const fleetEvents: Worker = {
  ...eventsOfMember,
  async run(deps, signal, round) {
    if (countOutgoingEvents(deps.db) > 0) (await import("./events/send.ts")).forgetOthers(deps);
    await eventsOfMember.run(deps, signal, round);
  },
};

function fleetWorker(
  name: string,
  isNeeded: (fleet: Deps["fleet"]) => boolean,
  work: Worker["run"],
): Worker {
  return {
    name,
    edition: "ce",
    async run(deps, signal, round) {
      while (!signal.aborted) {
        if (isNeeded(deps.fleet)) await work(deps, signal, round);
        else await deps.fleet.changed(signal);
      }
    },
  };
}
