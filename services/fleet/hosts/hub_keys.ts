/**
 * The keys of a hub for its links. It makes a new one every 30 days and tells its hosts, which use it from
 * their next connection on (`enrolment/hub_keys.ts` is their side). A host that was away, or has got an
 * older invite, is admitted with the key that it knows. In notes and boxes, a hub has for each host the
 * key of the time of joining as its name, so that a new key changes nothing there.
 *
 * @module
 */

import {
  insertFormerHubKey,
  replaceHostHubKey,
  selectFormerHubKeys,
  selectHostHubKey,
} from "../../../db/fleet_hub_keys.ts";
import { selectFleetInvite } from "../../../db/fleet_invites.ts";
import { type FleetKey, replaceFleetKey, selectFleetKey } from "../../../db/fleet_keys.ts";
import { selectMembership } from "../../../db/fleet_membership.ts";
import type { Deps } from "../../deps.ts";
import { createFleetKey, type KeyDeps, linkKeys, openLinkKey, toText } from "../enrolment/keys.ts";
import { KEY_MAX_MS } from "../enrolment/rotation.ts";
import { admit, type Admitted, type InviteSecret } from "../link/channel.ts";
import type { Connection } from "../link/connection.ts";
import { HandshakeError, type KeyPair } from "../link/noise.ts";
import type { OpenHost } from "./fleet.ts";

/**
 * Replaces the key of this hub if it is 30 days old, and tells the hosts that are connected. A hub that is a
 * member changes nothing here: its own hub must know a key before it is used (`enrolment/rotation.ts`).
 */
export async function renewHubKey(deps: KeyDeps & Pick<Deps, "fleet" | "log">): Promise<void> {
  const { db, fleet, log, now } = deps;
  const key = selectFleetKey(db, "link");
  if (!key || selectMembership(db)) return;
  if (now().getTime() - Date.parse(key.createdAt) < KEY_MAX_MS) return;
  const next = await createFleetKey(deps, "link");
  db.transaction(() => {
    insertFormerHubKey(db, key);
    replaceFleetKey(db, next);
  });
  log.info("key of this hub replaced");
  tellHubKey(deps, fleet.hosts.values());
}

/** Tells hosts the newest key. */
export function tellHubKey(
  { db }: Pick<Deps, "db">,
  hosts: Iterable<Pick<OpenHost, "link">>,
): void {
  const linkKey = selectFleetKey(db, "link")!.publicKey;
  for (const { link } of hosts) link.tell({ type: "hub_key", linkKey });
}

/** The key under whose name a host knows this hub. */
export const hubKeyFor = async (deps: KeyDeps, hostId: string): Promise<string> =>
  selectHostHubKey(deps.db, hostId)?.hubKey ?? toText((await linkKeys(deps)).publicKey);

/**
 * The key under whose name a known host may join again: it may have joined with that one before. A key that this
 * hub does not have any more is replaced by its newest one.
 */
export async function renewHubKeyFor(deps: KeyDeps, hostId: string): Promise<string> {
  const { db } = deps;
  const known = await hubKeyFor(deps, hostId);
  const newest = toText((await linkKeys(deps)).publicKey);
  if (known === newest || selectFormerHubKeys(db).some((key) => key.publicKey === known)) {
    return known;
  }
  replaceHostHubKey(db, { hostId, hubKey: newest });
  return newest;
}

/** The keys of this hub, the newest first. */
const ownKeys = ({ db }: Pick<Deps, "db">): Omit<FleetKey, "purpose">[] => [
  selectFleetKey(db, "link")!,
  ...selectFormerHubKeys(db),
];

/** The key pair of one of the keys of this hub. */
export async function ownHubKeys(deps: KeyDeps, publicKey: string): Promise<KeyPair> {
  const key = ownKeys(deps).find((each) => each.publicKey === publicKey)!;
  return await openLinkKey(deps, { ...key, purpose: "link" });
}

/**
 * Answers a handshake with the key that the host knows.
 *
 * @param findInvite The secret of an invite that can still be used.
 * @returns `hubKey`, base64url.
 * @throws {HandshakeError} As `admit()`.
 */
export async function admitWithHubKey(
  deps: KeyDeps,
  connection: Connection,
  findInvite: (id: string) => InviteSecret["secret"] | undefined,
): Promise<Admitted & { hubKey: string }> {
  await linkKeys(deps);
  const { db } = deps;
  const keys = ownKeys(deps);
  const first = await connection.receive();
  for (const [at, key] of keys.entries()) {
    let isFirst = true;
    let isAnswered = false;
    const receive = () => {
      if (!isFirst) return connection.receive();
      isFirst = false;
      return Promise.resolve(first.slice());
    };
    const send: Connection["send"] = (message) => {
      isAnswered = true;
      return connection.send(message);
    };
    try {
      const admitted = await admit({ ...connection, receive, send }, {
        keys: await openLinkKey(deps, { ...key, purpose: "link" }),
        findInvite: (id) =>
          selectFleetInvite(db, id)?.hubKey === key.publicKey ? findInvite(id) : undefined,
      });
      return { ...admitted, hubKey: key.publicKey };
    } catch (error) {
      // Only the first message tells whether this is the key.
      if (!(error instanceof HandshakeError) || isAnswered || at === keys.length - 1) throw error;
    }
  }
  throw new HandshakeError("No key");
}
