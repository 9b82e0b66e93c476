/** The sides of passed-on requests, from the stored keys and hosts of this installation. @module */

import {
  selectFleetHost,
  selectFleetHostByName,
  type StoredHost,
} from "../../../db/fleet_hosts.ts";
import { selectFleetKey } from "../../../db/fleet_keys.ts";
import type { Membership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { linkKeys, noteKeys, toBytes, toText } from "../enrolment/keys.ts";
import { hubKeyFor } from "../hosts/hub_keys.ts";
import { stateOf } from "../hosts/state.ts";
import { checkWith, type Sign, signWith } from "../notes/note.ts";
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
  let signer: { publicKey: string; sign: Sign } | undefined;
  return {
    key: (hostId) => hubKeyFor(deps, hostId),
    async sign(bytes) {
      // Opening the key takes longer than signing.
      if (!signer || signer.publicKey !== selectFleetKey(db, "note")?.publicKey) {
        const { privateKey, publicKey } = await noteKeys(deps);
        signer = { publicKey, sign: signWith(privateKey) };
      }
      return await signer.sign(bytes);
    },
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

function memberSide(deps: SideDeps, { hubKey, hubName, hubNoteKey }: Membership): MemberSide {
  return {
    hubName,
    async parties() {
      const key = await crypto.subtle.importKey("raw", toBytes(hubNoteKey), "Ed25519", false, [
        "verify",
      ]);
      return { host: await ownKey(deps), hub: { key: hubKey, check: checkWith(key) } };
    },
  };
}

/** The public key of this installation's links. */
async function ownKey(deps: SideDeps): Promise<string> {
  return selectFleetKey(deps.db, "link")?.publicKey ?? toText((await linkKeys(deps)).publicKey);
}
