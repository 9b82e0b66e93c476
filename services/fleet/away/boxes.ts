/** The boxes of what this hub has left for a host: signed when they leave the hub. @module */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import {
  selectFleetPendingOfHost,
  type StoredPending,
  updateOpenFleetPending,
} from "../../../db/fleet_pending.ts";
import { includesRole, type UserRole } from "../../access/caller.ts";
import { scopeAtHost, seesHost } from "../../access/host_scope.ts";
import { callerOfAbsent, type HostPolicy } from "../../access/policy_rights.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { openOrConflict } from "../../secrets/secrets.ts";
import { hubKeyFor } from "../hosts/hub_keys.ts";
import { createSigner } from "../hosts/note_keys.ts";
import { sealBox } from "./box.ts";
import { endPending, sealPurpose } from "./pending.ts";

export type BoxDeps = Pick<Deps, "accounts" | "changes" | "db" | "fleet" | "now" | "secrets"> & {
  accessPolicy(): HostPolicy | undefined | Promise<HostPolicy>;
};

/** The box of a request; one whose user is gone ends as refused. */
export async function takeBox(deps: BoxDeps, pending: StoredPending): Promise<string | undefined> {
  try {
    return await boxOf(deps, pending);
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    endPending(deps, pending.id, { state: "refused", error: error.message });
    return undefined;
  }
}

/**
 * Seals a request for its host with the keys and the rights of now: a user whose role was lowered
 * meanwhile has the lower one.
 *
 * @throws {AppError} `forbidden` if the user is gone; `conflict` if the body cannot be decrypted.
 */
async function boxOf(deps: BoxDeps, pending: StoredPending): Promise<string> {
  const { db, secrets } = deps;
  const { id, userId, apiToken, method, path, base, createdAt, expiresAt } = pending;
  const policy = await deps.accessPolicy();
  const caller = callerOfAbsent(deps, policy, { userId, tokenId: apiToken?.id ?? null });
  const host = selectFleetHost(db, pending.hostId)!;
  if (!caller || !seesHost(caller, host)) {
    throw new AppError(
      "forbidden",
      "The user or API token that left it was deleted, has expired, or sees the host no more",
    );
  }
  const role = includesRole(caller.role, pending.role) ? pending.role : caller.role as UserRole;
  const body = openOrConflict(() => secrets.open(pending.body!, sealPurpose(id)), "leave it again");
  const sign = createSigner(deps);
  return await sealBox((bytes) => sign(bytes, host.id), {
    ...{ id, role, method, path, base, body, createdAt, expiresAt },
    hub: await hubKeyFor(deps, host.id),
    host: host.linkKey,
    user: userId,
    name: pending.userName,
    scope: scopeAtHost(caller) ?? null,
  });
}

/** The boxes of all that waits for a host, to be carried there. One that reaches it twice runs once. */
export async function exportBoxes(deps: BoxDeps, hostId: string): Promise<string[]> {
  const { db, now } = deps;
  const boxes: string[] = [];
  for (const pending of selectFleetPendingOfHost(db, hostId)) {
    if (pending.expiresAt <= now().toISOString()) continue;
    const box = await takeBox(deps, pending);
    if (box === undefined) continue;
    boxes.push(box);
    updateOpenFleetPending(db, pending.id, { exportedAt: now().toISOString() });
  }
  return boxes;
}
