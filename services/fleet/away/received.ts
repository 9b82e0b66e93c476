/** Requests that the hub of this host has left for it, from the link or from a file. @module */

import {
  countWaitingFleetBoxes,
  deleteFleetBoxesBefore,
  insertFleetBox,
  selectFleetBox,
  selectFleetBoxes,
  type StoredBox,
} from "../../../db/fleet_boxes.ts";
import { selectMembership } from "../../../db/fleet_membership.ts";
import { type Job, selectJob } from "../../../db/jobs.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound } from "../../errors.ts";
import { linkKeys } from "../enrolment/keys.ts";
import { hubCheck } from "../enrolment/note_keys.ts";
import type { BoxAnswer } from "./answer.ts";
import { type BoxedRequest, openBox } from "./box.ts";

/** Time for which a box that has expired is remembered, in milliseconds: the clock may be set back. */
const KEPT_MS = 90 * 24 * 60 * 60_000;

/** Longest validity of a box, in milliseconds: a hub keeps a request for 30 days. */
const VALID_MAX_MS = 31 * 24 * 60 * 60_000;

/** Limit of boxes that were not begun. */
const WAITING_MAX = 200;

export type ReceiveDeps = Pick<Deps, "db" | "fleet" | "now" | "secrets">;

/** A request as the API returns it. Times are ISO 8601, UTC. */
export interface BoxView extends BoxAnswer {
  id: string;
  /** Name of the user at the hub. */
  user: string;
  /** Method and path. */
  request: string;
  receivedAt: string;
  expiresAt: string;
}

/**
 * Checks a box and stores its request, which runs afterwards. A box that was received before is what it
 * was.
 *
 * @throws {AppError} `invalid` for a box that is not for this host or has expired; `conflict` if this
 * host is in no fleet.
 */
export async function receiveBox(deps: ReceiveDeps, text: string): Promise<BoxView> {
  const { db, fleet, now, secrets } = deps;
  const request = await open(deps, text);
  const { id } = request;
  const at = now();
  if (!selectFleetBox(db, id)) assertAcceptable(deps, request);
  deleteFleetBoxesBefore(db, new Date(at.getTime() - KEPT_MS).toISOString());
  insertFleetBox(db, {
    id,
    hub: request.hub,
    userName: request.name,
    method: request.method,
    path: request.path,
    request: secrets.seal(JSON.stringify(request), sealPurpose(id)),
    state: "waiting",
    jobId: null,
    error: null,
    receivedAt: at.toISOString(),
    expiresAt: request.expiresAt,
    begunAt: null,
  });
  fleet.refresh();
  return getBox(deps, id);
}

/** All requests, the oldest first. */
export const listBoxes = ({ db }: Pick<Deps, "db">): BoxView[] =>
  selectFleetBoxes(db).map((box) => toView(db, box));

/** @throws {AppError} `not_found`. */
export const getBox = ({ db }: Pick<Deps, "db">, id: string): BoxView =>
  toView(db, requireFound(selectFleetBox(db, id), "Box", id));

export const sealPurpose = (id: string) => `fleet box ${id}`;

function assertAcceptable({ db, now }: ReceiveDeps, { expiresAt }: BoxedRequest): void {
  const leftMs = Date.parse(expiresAt) - now().getTime();
  if (leftMs <= 0) throw new AppError("invalid", `The box has expired at ${expiresAt}`);
  if (leftMs > VALID_MAX_MS) {
    throw new AppError("invalid", `The box expires at ${expiresAt}, in more than 31 days`);
  }
  if (countWaitingFleetBoxes(db) >= WAITING_MAX) {
    throw new AppError("unavailable", `Limit of ${WAITING_MAX} boxes that wait here reached`);
  }
}

async function open(deps: ReceiveDeps, text: string): Promise<BoxedRequest> {
  const membership = selectMembership(deps.db);
  if (!membership) throw new AppError("conflict", "This host is not in a fleet");
  const hub = { key: membership.hubKey, check: hubCheck(deps, membership) };
  return await openBox({ own: await linkKeys(deps), hub }, text);
}

function toView(db: Deps["db"], box: StoredBox): BoxView {
  const { id, userName, method, path, receivedAt, expiresAt } = box;
  const rest = { id, user: userName, request: `${method} ${path}`, receivedAt, expiresAt };
  return { ...rest, ...answerOf(db, box) };
}

function answerOf(db: Deps["db"], { state, jobId, error }: StoredBox): BoxAnswer {
  if (state === "refused") return { state, jobId, error };
  if (state === "done") {
    return { state: error === null ? "succeeded" : "failed", jobId, error };
  }
  const job = jobId === null ? undefined : selectJob(db, jobId);
  return job ? answerOfJob(job) : { state: "running", jobId, error };
}

function answerOfJob({ id, status, error }: Job): BoxAnswer {
  if (status === "queued" || status === "running") {
    return { state: "running", jobId: id, error: null };
  }
  if (status === "succeeded") return { state: "succeeded", jobId: id, error: null };
  const reason = error ?? `The job ended as ${status}`;
  return { state: "failed", jobId: id, error: reason };
}
