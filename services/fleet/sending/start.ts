/** Starts to send a snapshot to a host of this hub. @module */

import { assertMayDo } from "../../access/caller.ts";
import { findTarget } from "../../backup/targets/targets.ts";
import type { Deps } from "../../deps.ts";
import { AppError, InputError } from "../../errors.ts";
import { startJob } from "../../jobs/runner.ts";
import { JOB_PERMISSIONS, type JobView } from "../../jobs/view.ts";
import { getSnapshot, type SnapshotView } from "../../snapshots/list.ts";
import { findHost } from "../passing/pass.ts";
import type { PassingHost } from "../passing/sides.ts";
import { askHost, type JobUser } from "./host_requests.ts";
import { sendKind } from "./kinds.ts";

export interface SendRequest {
  /** Id or name of the host. */
  host: string;
  /** Id or name of the host that has the snapshot; default: this server. */
  from?: string | undefined;
  /** Target with the snapshot, and target at the host; default: the default ones. */
  target?: string | undefined;
  hostTarget?: string | undefined;
  /** Whether the host restores it as well. */
  restore: boolean;
  as?: string | undefined;
}

/** Longest wait for the snapshot's description, in milliseconds. */
const LOOK_MS = 60_000;

/** Longest name of a target, in characters. */
const TARGET_MAX = 100;

/** Facts about the snapshot that decide what is sent. */
type Sent = Pick<SnapshotView, "hasStack" | "id" | "size" | "target"> & { hasVolumes: boolean };

/**
 * Starts a job that sends a snapshot. A host cannot ask its hub for anything, so that the hub reads what
 * it passes on from one host to the other.
 *
 * @throws {AppError} `not_found` for an unknown host, snapshot or target; `invalid`; `conflict` if
 * there is nothing to restore, or the host takes no snapshots; `forbidden`; `unavailable` while a host
 * is away.
 */
export async function startSend(
  deps: Deps,
  user: JobUser,
  id: string,
  request: SendRequest,
): Promise<JobView> {
  const { caller } = user;
  // All files of the snapshot leave the host.
  assertMayDo(caller, "admin", "files:read");
  const host = findHost(deps, caller, request.host);
  const from = request.from === undefined ? null : findHost(deps, caller, request.from);
  if (host.id === from?.id) {
    throw new InputError([{ path: "body.host", message: "has the snapshot already (from)" }]);
  }
  if (!deps.passing.hub()?.link(host.id)) {
    throw new AppError("unavailable", `Host ${host.name} ${host.state}`);
  }
  const allows = deps.fleet.copies.get(host.id)?.host?.allows ?? "admin";
  if (allows !== "admin") {
    const message =
      `Host ${host.name} takes no snapshots (FLEET_ALLOW=${allows}); set FLEET_ALLOW=admin there`;
    throw new AppError("conflict", message);
  }
  const sent = await findSent(deps, user, from, id, request);
  const restored = sent.hasStack ? "stack" : sent.hasVolumes ? "volume" : null;
  if (request.restore && restored === null) {
    const message = "The snapshot has neither a stack nor volumes; send it with restore: false";
    throw new AppError("conflict", message);
  }
  if (request.restore) {
    // The host's job is followed with the same rights.
    assertMayDo(caller, "viewer", JOB_PERMISSIONS[restored === "stack" ? "stack" : "host"]);
  }
  return startJob(deps, sendKind, {
    target: `snapshot ${sent.id.slice(0, 8)} to ${host.name}`,
    input: {
      host: { id: host.id, name: host.name },
      from: from && { id: from.id, name: from.name },
      snapshot: sent.id,
      place: sent.target,
      targetId: from ? null : findTarget(deps, sent.target).id,
      size: sent.size,
      hostTarget: request.hostTarget ?? null,
      restored: request.restore ? restored : null,
      as: request.as ?? null,
    },
    attachment: user,
    caller,
  }).job;
}

async function findSent(
  deps: Deps,
  user: JobUser,
  from: PassingHost | null,
  id: string,
  { target }: Pick<SendRequest, "target">,
): Promise<Sent> {
  if (from === null) {
    const view = await getSnapshot(deps, id, { target });
    return { ...view, hasVolumes: view.volumes.length > 0 };
  }
  const query = target === undefined ? "" : `?target=${encodeURIComponent(target)}`;
  const view = await askHost(deps, from, user, {
    method: "GET",
    target: `/api/backup/snapshots/${id}${query}`,
    signal: AbortSignal.timeout(LOOK_MS),
  });
  const isView = typeof view.id === "string" && view.id.startsWith(id) &&
    /^[0-9a-f]{64}$/.test(view.id) && typeof view.target === "string" &&
    view.target.length <= TARGET_MAX &&
    (view.size === null || Number.isSafeInteger(view.size) && (view.size as number) >= 0) &&
    Array.isArray(view.volumes);
  if (!isView) {
    throw new AppError("bad_gateway", `Host ${from.name} described the snapshot wrongly`);
  }
  return {
    id: view.id as string,
    target: view.target as string,
    size: view.size as number | null,
    hasStack: view.hasStack === true,
    hasVolumes: (view.volumes as unknown[]).length > 0,
  };
}
