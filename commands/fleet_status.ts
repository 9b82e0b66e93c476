/** `longshore fleet status`: the membership of this server in the fleet of another one. @module */

import { selectHubLinkState } from "../db/fleet_hub_link.ts";
import {
  type MembershipView,
  viewMembershipState,
} from "../services/fleet/enrolment/membership.ts";
import { parseArguments } from "./arguments.ts";
import { withFleet } from "./fleet_state.ts";
import type { Program } from "./program.ts";

export async function status(program: Program): Promise<void> {
  const { options } = parseArguments("fleet status", program, [], { json: "flag" });
  const { membership, waitsUntil, ended, isRunning } = await withFleet(program, async (deps) => {
    const { db, isRunning } = deps;
    // The link is open in the running service only, which stores that it is.
    const silentMs = isRunning && selectHubLinkState(db).isOpen ? 0 : undefined;
    return { ...await viewMembershipState(deps, silentMs), isRunning };
  });
  if (options.json) {
    // They are settings of the service.
    const unknown = membership && !isRunning && { allows: null, runsPrograms: null };
    const shown = membership && { ...membership, ...unknown };
    return program.print(JSON.stringify({ membership: shown, waitsUntil, ended }));
  }
  if (membership) return printMembership(program, membership, isRunning);
  program.print(
    waitsUntil === null
      ? "This server is not a member of a fleet."
      : `This server waits for a hub until ${waitsUntil}.`,
  );
  if (!ended) return;
  const { hub, name, endedAt, reason } = ended;
  program.print(`${hub} ended the membership of ${name} at ${endedAt}: ${reason}.`);
  program.print("To join again, use a new invite.");
}

const rightsOf = ({ allows, runsPrograms }: MembershipView): string =>
  runsPrograms ? `${allows}, with commands and terminals` : allows;

function stateOf({ unknownSince, isPending }: MembershipView): string | undefined {
  if (unknownSince !== null) {
    return `unknown to the hub since ${unknownSince}: it was removed there, or the hub was restored ` +
      "from an older backup; run `longshore fleet leave`, and join again with a new invite";
  }
  return isPending ? "pending: an admin of the hub has to accept this host" : undefined;
}

function printMembership(
  { print }: Pick<Program, "print">,
  view: MembershipView,
  isRunning: boolean,
): void {
  const { hub, address, name, state, since, reason } = view;
  const labels = Object.entries(view.labels).map(([key, value]) => `${key}=${value}`);
  const lines = {
    "Hub": address === null ? hub : `${hub} (${address})`,
    "This host there": [name, ...labels].join(" "),
    "State": stateOf(view),
    "Link": since === null ? state : `${state} since ${since}`,
    "Reason": isRunning ? reason ?? undefined : "the service does not run",
    // They are settings of the service.
    "Rights of the hub": isRunning ? rightsOf(view) : undefined,
    "Fingerprint of the hub": view.hubFingerprint,
    "Fingerprint of this host": view.fingerprint,
  };
  for (const [title, value] of Object.entries(lines)) {
    if (value !== undefined) print(`${title}:`.padEnd(27) + value);
  }
}
