/** The sides of passed-on requests, from the stored keys and hosts of this installation. @module */

import {
  selectFleetHost,
  selectFleetHostByName,
  type StoredHost,
} from "../../../db/fleet_hosts.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import type { Membership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { linkKeys, toText } from "../enrolment/keys.ts";
import { hubCheck } from "../enrolment/note_keys.ts";
import { hubKeyFor } from "../hosts/hub_keys.ts";
import { createSigner } from "../hosts/note_keys.ts";
import { stateOf } from "../hosts/state.ts";
import { createNonces } from "../notes/nonces.ts";
import { createPassages } from "./passages.ts";
import type { HubSide, MemberSide, Passing } from "./sides.ts";

type SideDeps = Pick<Deps, "accounts" | "db" | "fleet" | "now" | "secrets">;

export function createPassing(deps: SideDeps): Passing {
  const { fleet } = deps;
  const hub = hubSide(deps);
  return {
    hub: () => fleet.isHub ? hub : undefined,
    member: () => fleet.membership && memberSide(deps, fleet.membership),
    nonces: createNonces(),
    passages: createPassages(deps),
  };
}

function hubSide(deps: SideDeps): HubSide {
  const { db, fleet } = deps;
  return {
    key: (hostId) => hubKeyFor(deps, hostId),
    sign: createSigner(deps),
    link: (id) => fleet.link(id),
    findHost(ref) {
      const host = selectFleetHost(db, ref) ?? selectFleetHostByName(db, ref);
      return host &&
        { id: host.id, name: host.name, labels: host.labels, state: describeState(deps, host) };
    },
  };
}

function describeState({ fleet }: Pick<Deps, "fleet">, host: StoredHost): string {
  const { state, since } = stateOf(host, fleet.hosts.get(host.id)?.link.silentMs);
  if (state === "never") return "has not connected yet";
  if (state === "pending") return "has not been accepted yet";
  if (state === "left") return "has left the fleet";
  return since === null ? `is ${state}` : `is ${state} since ${since}`;
}

function memberSide(deps: SideDeps, membership: Membership): MemberSide {
  const { hubKey, hubName } = membership;
  return {
    hubName,
    async parties() {
      return { host: await ownKey(deps), hub: { key: hubKey, check: hubCheck(deps, membership) } };
    },
  };
}

/** The public key of this installation's links. */
async function ownKey(deps: SideDeps): Promise<string> {
  return selectFleetKey(deps.db, "link")?.publicKey ?? toText((await linkKeys(deps)).publicKey);
}
