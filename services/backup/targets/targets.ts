/**
 * Targets: where snapshots are stored. Each is a repository, which is created with its target or was
 * there before.
 *
 * @module
 */

import {
  clearDefaultBackupTarget,
  countBackupTargets,
  deleteBackupTarget,
  insertBackupTarget,
  selectBackupTarget,
  selectBackupTargets,
  selectDefaultBackupTarget,
  type StoredTarget,
  updateBackupTarget,
  updateBackupTargetFields,
} from "../../../db/backup_targets.ts";
import type { Change } from "../../change.ts";
import type { Caller } from "../../access/caller.ts";
import { withDeadline } from "../../deadline.ts";
import type { Deps } from "../../deps.ts";
import { AppError, requireFound, tooMany } from "../../errors.ts";
import { REDACTED } from "../../text/redact.ts";
import type { Storage } from "../restic/storage.ts";
import { type Credentials, openSecrets } from "./credentials.ts";
import { assertUnused, establish, type TargetDeps } from "./establish.ts";
import { type Location, parseLocation } from "./location.ts";
import { assertIdle } from "./needed.ts";
import { assertMayRedirect } from "./own_backups.ts";
import { targetStorage } from "./repository.ts";
import { assertNoneKept, mergeSettings, settingsOf, type TargetSettings } from "./settings.ts";

export type { TargetDeps };

const TARGETS_MAX = 20;

/** Wait for the room of a directory, in milliseconds. */
const ROOM_MS = 2_000;

/** A target as the API returns it; secrets are redacted. */
export interface Target extends Credentials {
  id: string;
  name: string;
  location: string;
  kind: Location["kind"];
  password: string;
  isDefault: boolean;
  /** Bytes that are left; `null` where the target does not say so. */
  room: number | null;
  lastTestAt: string | null;
  lastTestError: string | null;
  lastCheckAt: string | null;
  lastCheckError: string | null;
  createdAt: string;
  updatedAt: string;
}

/** A target, and the password that was made for its new repository. */
export type EstablishedTarget = Target & { newPassword: string | null };

type Given = TargetSettings & { isDefault: boolean | undefined };

/** State of a target whose repository was not used yet. */
const UNTESTED = {
  lastTestAt: null,
  lastTestError: null,
  lastCheckAt: null,
  lastCheckError: null,
};

/** All targets by name. */
export async function listTargets(deps: TargetDeps): Promise<Target[]> {
  return await Promise.all(selectBackupTargets(deps.db).map((target) => toView(deps, target)));
}

/** @throws {AppError} `not_found`. */
export async function getTarget(deps: TargetDeps, id: string): Promise<Target> {
  return await toView(deps, requireTarget(deps, id));
}

/**
 * Joins the repository at a location, or creates one. The first target becomes the default.
 *
 * @throws {AppError} `invalid` for settings that do not fit the location, and for a password that does
 * not open the repository; `conflict` for a name or location in use; `bad_gateway` if the target fails.
 */
export async function createTarget(
  deps: TargetDeps,
  { isDefault, ...settings }: Given,
): Promise<EstablishedTarget> {
  const { db, now, log } = deps;
  assertNoneKept(settings);
  return await deps.limiters.backupTargets(async () => {
    const count = countBackupTargets(db);
    if (count >= TARGETS_MAX) throw tooMany("backup targets", TARGETS_MAX);
    const id = crypto.randomUUID();
    const base = { ...NEW, ...UNTESTED, id, createdAt: now().toISOString() };
    const newPassword = await establish(deps, base, settings, {
      store: (target) => insertBackupTarget(db, target),
      undo: () => deleteBackupTarget(db, id),
    });
    setDefault(db, id, isDefault ?? count === 0);
    log.info("backup target created", { targetId: id });
    return { ...await getTarget(deps, id), newPassword };
  });
}

const NEW = {
  isDefault: false,
  sealedSecrets: "",
  accessKeyId: null,
  region: null,
  username: null,
  caCertificate: null,
};

/**
 * Changes the given fields. Secrets that are omitted or redacted are kept unless they would go to
 * another server. Another location is joined or created like that of a new target.
 *
 * @throws {AppError} As {@linkcode createTarget}; `not_found`; `forbidden` for all but admins who log in if
 * Longshore itself is backed up there, unless only the name changes.
 */
export async function changeTarget(
  deps: TargetDeps,
  caller: Caller,
  id: string,
  { isDefault, ...change }: Change<Given>,
): Promise<EstablishedTarget> {
  const { db, log, now } = deps;
  return await deps.limiters.backupTargets(async () => {
    const stored = requireTarget(deps, id);
    const before = settingsOf(deps, stored);
    const settings = mergeSettings(deps, before, change);
    let newPassword: string | null = null;
    if (isSameRepository(before, settings)) {
      assertUnused(db, { ...stored, name: settings.name });
      updateBackupTargetFields(db, id, { name: settings.name, updatedAt: now().toISOString() });
    } else {
      assertMayRedirect(deps, caller, id);
      assertIdle(deps, id);
      newPassword = await establish(deps, { ...stored, ...UNTESTED }, settings, {
        store: (target) => updateBackupTarget(db, target),
        undo: () => updateBackupTarget(db, stored),
      });
    }
    if (isDefault !== undefined) setDefault(db, id, isDefault);
    log.info("backup target changed", { targetId: id });
    return { ...await getTarget(deps, id), newPassword };
  });
}

/** Settings are complete and flat, and in the order of their type. */
const isSameRepository = (before: TargetSettings, after: TargetSettings): boolean =>
  Object.entries(before).every(([field, value]) =>
    field === "name" || after[field as keyof TargetSettings] === value
  );

/**
 * Forgets a target. Its repository stays as it is.
 *
 * @throws {AppError} `not_found`; `conflict` while a job uses it.
 */
export function removeTarget(deps: Pick<Deps, "db" | "log">, id: string): void {
  requireTarget(deps, id);
  assertIdle(deps, id);
  deleteBackupTarget(deps.db, id);
  deps.log.info("backup target deleted", { targetId: id });
}

function setDefault(db: Deps["db"], id: string, isDefault: boolean): void {
  db.transaction(() => {
    if (isDefault) clearDefaultBackupTarget(db);
    updateBackupTargetFields(db, id, { isDefault });
  });
}

/** A target whose repository can be opened. */
export interface OpenTarget {
  target: StoredTarget;
  storage: Storage;
  /** Of the repository. */
  password: string;
}

/**
 * @param id Default: the default target.
 * @throws {AppError} `not_found`; `conflict` without a default target, if its secrets cannot be decrypted,
 * and for a directory that cannot be used any more.
 */
export async function openTarget(deps: TargetDeps, id?: string): Promise<OpenTarget> {
  const target = id === undefined ? selectDefaultBackupTarget(deps.db) : requireTarget(deps, id);
  if (!target) throw new AppError("conflict", "No backup target is the default; choose one");
  const secrets = openSecrets(deps.secrets, target);
  const storage = await targetStorage(deps, target, secrets);
  return { target, storage, password: secrets.password };
}

/** @throws {AppError} `not_found`. */
export const requireTarget = ({ db }: Pick<Deps, "db">, id: string): StoredTarget =>
  requireFound(selectBackupTarget(db, id), "Backup target", id);

/** @param ref Id or name. @throws {AppError} `not_found`. */
export function findTarget({ db }: Pick<Deps, "db">, ref: string): StoredTarget {
  const targets = selectBackupTargets(db);
  const found = targets.find(({ id }) => id === ref) ?? targets.find(({ name }) => name === ref);
  return requireFound(found, "Backup target", ref);
}

async function toView(deps: TargetDeps, target: StoredTarget): Promise<Target> {
  const { sealedSecrets: _, ...shown } = target;
  const { kind } = parseLocation(target.location) as Location;
  return {
    ...shown,
    kind,
    password: REDACTED,
    secretAccessKey: target.accessKeyId === null ? null : REDACTED,
    userPassword: target.username === null ? null : REDACTED,
    room: kind === "directory" ? await readRoom(deps, target) : null,
  };
}

/**
 * Bytes that are left at a target; `null` where it does not say so. A directory that cannot be used, or
 * hangs, has no room; a test says why.
 */
export async function readRoom(
  deps: TargetDeps,
  { id }: Pick<StoredTarget, "id">,
): Promise<number | null> {
  const reading = openTarget(deps, id)
    .then(({ storage }) => storage.room?.(new AbortController().signal))
    .catch(() => undefined);
  return await withDeadline(reading, ROOM_MS) ?? null;
}
