/**
 * Silences: for some time, the events that match cause no messages to people. Streams and webhooks
 * have them as usual.
 *
 * @module
 */

import {
  countOpenSilences,
  deleteEndedSilencesBeyond,
  deleteSilence,
  deleteSilencesBefore,
  insertSilence,
  selectSilence,
  selectSilences,
  type SilenceMatchers,
  type StoredSilence,
  updateSilence,
} from "../../../db/silences.ts";
import { applyChange, type Change } from "../../change.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound, requireFound, tooMany } from "../../errors.ts";

const DAY_MS = 86_400_000;

/** Longest time until the end of a silence, so that none is forgotten for good. */
const LENGTH_MAX_DAYS = 366;

/** Limit of silences that have not ended, because every event is compared with each of them. */
const OPEN_MAX = 500;

/** Limits of the list of ended silences, by number and by age. */
const ENDED_MAX = 500;
const ENDED_KEPT_MS = 7 * DAY_MS;

export const SILENCE_STATES = ["pending", "active", "ended"] as const;

/** A silence as the API returns it. */
export interface Silence extends StoredSilence {
  state: (typeof SILENCE_STATES)[number];
}

export interface NewSilence {
  /** At least one. */
  matchers: SilenceMatchers;
  /** Default: now. */
  startsAt?: string | undefined;
  endsAt: string;
  comment: string;
}

/** All silences, also those that ended within 7 days; the one that ends last comes first. */
export function listSilences({ db, now }: Pick<Deps, "db" | "now">): Silence[] {
  return selectSilences(db).map((silence) => toView(silence, now()));
}

/**
 * Stores a new silence.
 *
 * @throws {AppError} `invalid` for an end that is past, before the start or too far away; `conflict`
 * when there are too many silences.
 */
export function createSilence(
  { db, log, now }: Pick<Deps, "db" | "log" | "now">,
  { matchers, startsAt, endsAt, comment }: NewSilence,
  { userId }: { userId: string },
): Silence {
  const at = now();
  const times = normalizeTimes({ startsAt: startsAt ?? at.toISOString(), endsAt }, at);
  if (countOpenSilences(db, at.toISOString()) >= OPEN_MAX) throw tooMany("silences", OPEN_MAX);
  const silence: StoredSilence = {
    id: crypto.randomUUID(),
    matchers,
    ...times,
    comment,
    createdBy: userId,
    createdAt: at.toISOString(),
  };
  db.transaction(() => {
    insertSilence(db, silence);
    deleteEndedSilencesBeyond(db, at.toISOString(), ENDED_MAX);
  });
  log.info("silence created", { silenceId: silence.id, endsAt: silence.endsAt });
  return toView(silence, at);
}

/**
 * Changes the given fields of a silence that has not ended; `matchers` replaces all of them. What an
 * active silence no longer holds back is reported if it lasts.
 *
 * @throws {AppError} `not_found`; `conflict` for a silence that has ended; `invalid` for times as for
 * a new one.
 */
export function changeSilence(
  { db, log, now }: Pick<Deps, "db" | "log" | "now">,
  id: string,
  change: Change<NewSilence>,
): Silence {
  const at = now();
  const stored = requireFound(selectSilence(db, id), "Silence", id);
  if (new Date(stored.endsAt) <= at) {
    throw new AppError("conflict", "The silence has ended; create a new one");
  }
  const changed = applyChange(stored, change);
  const silence = { ...changed, ...normalizeTimes(changed, at) };
  updateSilence(db, silence);
  log.info("silence changed", { silenceId: id, endsAt: silence.endsAt });
  return toView(silence, at);
}

/**
 * Deletes a silence. If it is active, the problems that it held back and that last are reported.
 *
 * @throws {AppError} `not_found`.
 */
export function removeSilence({ db, log }: Pick<Deps, "db" | "log">, id: string): void {
  if (!deleteSilence(db, id)) throw notFound("Silence", id);
  log.info("silence deleted", { silenceId: id });
}

export function sweepSilences({ db, now }: Pick<Deps, "db" | "now">): void {
  deleteSilencesBefore(db, new Date(now().getTime() - ENDED_KEPT_MS).toISOString());
}

/** @throws {AppError} `invalid` for an end that is past, before the start or too far away. */
function normalizeTimes(
  { startsAt, endsAt }: Pick<StoredSilence, "startsAt" | "endsAt">,
  at: Date,
): Pick<StoredSilence, "startsAt" | "endsAt"> {
  const start = new Date(startsAt);
  const end = new Date(endsAt);
  if (end <= at) throw new AppError("invalid", `body.endsAt: ${endsAt} is in the past`);
  if (end <= start) throw new AppError("invalid", "body.endsAt: must be after startsAt");
  if (end.getTime() - at.getTime() > LENGTH_MAX_DAYS * DAY_MS) {
    throw new AppError("invalid", `body.endsAt: must be within ${LENGTH_MAX_DAYS} days`);
  }
  return { startsAt: start.toISOString(), endsAt: end.toISOString() };
}

function toView(silence: StoredSilence, at: Date): Silence {
  const state = new Date(silence.endsAt) <= at
    ? "ended"
    : new Date(silence.startsAt) > at
    ? "pending"
    : "active";
  return { ...silence, state };
}
