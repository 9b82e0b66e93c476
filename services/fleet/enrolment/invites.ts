/** Invites with which hosts join the fleet of this hub. @module */

import {
  countFleetInvites,
  deleteFleetInvite,
  deleteFleetInvitesBefore,
  insertFleetInvite,
  selectFleetInvite,
  selectFleetInvites,
  type StoredInvite,
} from "../../../db/fleet_invites.ts";
import { randomText } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, tooMany } from "../../errors.ts";
import { openIfPossible } from "../../secrets/secrets.ts";
import { VERSION } from "../../version.ts";
import type { Bytes } from "../link/noise.ts";
import { assertNameFree } from "../hosts/room.ts";
import { fingerprintOf, linkKeys, toBytes, toText } from "./keys.ts";
import { encodeToken, INVITE_ID_BYTES, isHubAddress, SECRET_BYTES } from "./token.ts";

/** Limits: of invites, of hosts that one invite is for, and of its life in minutes. */
const INVITES_MAX = 200;
export const USES_MAX = 200;
export const MINUTES = { default: 30, max: 7 * 24 * 60 } as const;

/** Time for which an expired invite stays in the list, in milliseconds. */
const EXPIRED_KEPT_MS = 24 * 60 * 60_000;

export interface NewInvite {
  name?: string | undefined;
  pattern?: string | undefined;
  labels: Record<string, string>;
  count: number;
  expiresMinutes: number;
  acceptsAtOnce: boolean;
  /** Of this hub; default: `SERVICE_BASE_URL`. */
  address?: string | undefined;
}

/** An invite without its secret and the key. */
export type InviteView = Omit<StoredInvite, "secret" | "hubKey">;

/** A new invite with what is shown only once. */
export interface CreatedInvite extends InviteView {
  token: string;
  /** The line for the shell of the host. */
  command: string;
  /** The line for a host without Longshore, which installs it first. */
  installCommand: string;
}

type InviteDeps = Pick<Deps, "config" | "db" | "secrets" | "now" | "fleet">;

/** All invites, the newest first. */
export function listInvites({ db }: Pick<Deps, "db">): InviteView[] {
  return selectFleetInvites(db).map(toView);
}

/**
 * Creates an invite.
 *
 * @throws {AppError} `invalid` for an address that hosts cannot dial; `conflict` for a name in use.
 */
export async function createInvite(
  deps: InviteDeps,
  given: NewInvite,
  { userId }: { userId: string },
): Promise<CreatedInvite> {
  const { db, secrets, now, fleet } = deps;
  const address = hubAddress(deps, given.address);
  assertName(deps, given);
  const at = now();
  deleteFleetInvitesBefore(db, new Date(at.getTime() - EXPIRED_KEPT_MS).toISOString());
  if (countFleetInvites(db) >= INVITES_MAX) throw tooMany("invites", INVITES_MAX);

  const { publicKey } = await linkKeys(deps);
  const id = randomText(INVITE_ID_BYTES);
  const secret = randomText(SECRET_BYTES);
  const invite: StoredInvite = {
    id,
    secret: secrets.seal(secret, sealPurpose(id)),
    name: given.name ?? null,
    pattern: given.pattern ?? null,
    labels: given.labels,
    address,
    usesMax: given.count,
    uses: 0,
    acceptsAtOnce: given.acceptsAtOnce,
    createdBy: userId,
    createdAt: at.toISOString(),
    expiresAt: new Date(at.getTime() + given.expiresMinutes * 60_000).toISOString(),
    hubKey: toText(publicKey),
  };
  insertFleetInvite(db, invite);
  fleet.refresh();
  const token = encodeToken({
    inviteId: id,
    fingerprint: await fingerprintOf(publicKey),
    secret: toBytes(secret),
    address,
  });
  return {
    ...toView(invite),
    token,
    command: `longshore join ${token}`,
    installCommand: installLine(deps, token, address),
  };
}

/** The version of this server is installed. Without `RELEASE_URL`, the line has the word `RELEASE`. */
function installLine(
  { config: { releaseUrl } }: Pick<Deps, "config">,
  token: string,
  address: string,
): string {
  const release = releaseUrl?.replace("VERSION", VERSION) ?? "RELEASE";
  const settings = address.startsWith("http:") ? "--set FLEET_INSECURE=on " : "";
  return `curl -fsSL ${release}/install.sh | sudo sh -s -- ${settings}--join ${token}`;
}

/** @throws {AppError} `not_found`. */
export function removeInvite({ db, fleet }: Pick<Deps, "db" | "fleet">, id: string): void {
  if (!deleteFleetInvite(db, id)) throw notFound("Invite", id);
  fleet.refresh();
}

/** The secret of an invite that can be used now. */
export function findInviteSecret(
  { db, secrets, now }: Pick<Deps, "db" | "secrets" | "now">,
  id: string,
): Bytes | undefined {
  const invite = selectFleetInvite(db, id);
  if (!invite || invite.expiresAt <= now().toISOString()) return undefined;
  const secret = openIfPossible(() => secrets.open(invite.secret, sealPurpose(id)));
  return secret === undefined ? undefined : toBytes(secret);
}

/**
 * The address of this hub, as hosts dial it.
 *
 * @throws {AppError} `invalid`
 */
export function hubAddress({ config }: Pick<Deps, "config">, address: string | undefined): string {
  const found = address ?? config.serviceBaseUrl;
  if (found === null) {
    throw new AppError(
      "invalid",
      "body.address: is required, because SERVICE_BASE_URL is not set: the address of this server " +
        "as the other side can reach it",
    );
  }
  if (!isHubAddress(found)) {
    throw new AppError(
      "invalid",
      "body.address: must be an address such as https://hub.example.com",
    );
  }
  if (found.startsWith("http:") && config.fleetInsecure !== "on") {
    throw new AppError(
      "invalid",
      "body.address: must begin with https://; a self-signed certificate is enough. On a private " +
        "network, FLEET_INSECURE=on allows http://",
    );
  }
  return found;
}

function assertName(deps: InviteDeps, { name, count }: NewInvite): void {
  if (name === undefined) return;
  if (count > 1) {
    throw new AppError("invalid", "body.name: is for one host; use pattern with count");
  }
  assertNameFree(deps, name);
}

const sealPurpose = (id: string) => `fleet invite ${id}`;

function toView({ secret: _secret, hubKey: _hubKey, ...invite }: StoredInvite): InviteView {
  return invite;
}
