/** Hands what was left at this hub over to hosts that are back, and reads what became of it. @module */

import { selectFleetHost } from "../../../db/fleet_hosts.ts";
import {
  deleteFleetPendingBefore,
  expireFleetPending,
  selectFleetPending,
  selectOpenFleetPending,
  type StoredPending,
  updateOpenFleetPending,
} from "../../../db/fleet_pending.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import { hubAsCaller } from "../copies/follow.ts";
import { askHost } from "../passing/ask.ts";
import { describeMissing } from "../passing/missing.ts";
import { parseAnswer, parseRefusal } from "./answer.ts";
import { type BoxDeps, takeBox } from "./boxes.ts";
import { endPending, PENDING_RESOURCE } from "./pending.ts";

/** Path of boxes at a host. */
const BOXES_PATH = "/api/boxes";

/**
 * Time for which ended requests stay in the list, and for which a host is asked about one that it has
 * after its expiry, in milliseconds.
 */
const KEPT_MS = 7 * 24 * 60 * 60_000;

/** Longest wait for an answer, in milliseconds. */
const ANSWER_MS = 20_000;

export type HandOverDeps = BoxDeps & Pick<Deps, "changes" | "log" | "passing" | "server">;

/** Handles what is due; a host that does not answer delays no other one. */
export function createHandOver(deps: HandOverDeps) {
  const busy = new Set<string>();

  return async function handOver(signal: AbortSignal): Promise<void> {
    const { changes, db, now, passing } = deps;
    const at = now();
    const before = new Date(at.getTime() - KEPT_MS).toISOString();
    deleteFleetPendingBefore(db, before);
    if (expireFleetPending(db, at.toISOString(), before) > 0) changes.record(PENDING_RESOURCE);
    const open = Map.groupBy(selectOpenFleetPending(db), ({ hostId }) => hostId);
    await Promise.all(
      [...open].filter(([id]) => !busy.has(id) && passing.hub()?.link(id)).map(
        async ([id, all]) => {
          busy.add(id);
          try {
            for (const { id } of all) await handOverOne(deps, id, signal);
          } catch (error) {
            // The link has ended, or the host is not ready: the next round tries again.
            deps.log.info("request not handed over", {
              host: id,
              reason: asAppError(error)?.message,
            });
          } finally {
            busy.delete(id);
          }
        },
      ),
    );
  };
}

async function handOverOne(
  deps: HandOverDeps,
  id: string,
  signal: AbortSignal,
): Promise<void> {
  const pending = findOpen(deps, id);
  if (!pending) return;
  if (pending.state === "running") {
    return applyAnswer(deps, pending, await ask(deps, pending, signal));
  }
  const box = await takeBox(deps, pending);
  if (box === undefined || !findOpen(deps, id)) return;
  applyAnswer(deps, pending, await ask(deps, pending, signal, box));
}

/** The request as it is now: it may have been deleted or have expired while others were handed over. */
function findOpen({ db, now }: HandOverDeps, id: string): StoredPending | undefined {
  const pending = selectFleetPending(db, id);
  if (pending?.state === "running") return pending;
  const isDue = pending?.state === "pending" && pending.expiresAt > now().toISOString();
  return isDue ? pending : undefined;
}

/** Sends a box, or asks what became of one. */
function ask(deps: HandOverDeps, { id, hostId }: StoredPending, signal: AbortSignal, box?: string) {
  const host = { ...selectFleetHost(deps.db, hostId)!, state: "away" };
  // The box has the rights of its user; with FLEET_ALLOW=read, none could be used.
  const asker = {
    caller: hubAsCaller(deps, "operator"),
    permissions: [],
    isAllowed: () => true,
  };
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  return askHost(deps, host, asker, {
    ...box === undefined
      ? { method: "GET", target: `${BOXES_PATH}/${id}` }
      : { method: "POST", target: BOXES_PATH, body: { box } },
    signal: limit,
  });
}

function applyAnswer(
  deps: HandOverDeps,
  pending: StoredPending,
  { status, body }: Awaited<ReturnType<typeof ask>>,
) {
  // The host is not ready, e.g. because it has just started.
  if (status >= 500 || status === 429) throw new AppError("unavailable", `It answered ${status}`);
  if (status >= 400) {
    const lacks = status === 404 && pending.state === "pending";
    const error = lacks
      ? describeMissing(selectFleetHost(deps.db, pending.hostId)!, `POST ${BOXES_PATH}`)
      : parseRefusal(body) ?? `The host answered ${status}`;
    return endPending(deps, pending.id, { state: "refused", error });
  }
  const answer = parseAnswer(body);
  if (!answer) throw new AppError("bad_gateway", "The host sent an invalid answer");
  const { state, jobId, error } = answer;
  if (state !== "running") return endPending(deps, pending.id, { state, jobId, error });
  if (pending.state === "running" && pending.jobId === jobId) return;
  updateOpenFleetPending(deps.db, pending.id, { state, jobId, error });
  deps.changes.record(PENDING_RESOURCE);
}
