/** Restores volumes and directories. Every step can be repeated after an interruption. @module */

import { openTargetRepository } from "../../backup/targets/open.ts";
import { checkBefore } from "../../backup/trees/check.ts";
import { assertKept, keepParts } from "../../backup/trees/keep.ts";
import { keptTags } from "../../backup/trees/tags.ts";
import { writeParts, type WrittenParts } from "../../backup/trees/write.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import { containersUsing } from "../../backup/volumes/users.ts";
import type { Deps } from "../../deps.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { verify } from "../../updates/run/verify.ts";
import { type Held, release } from "../hold.ts";
import { operationOf } from "../job.ts";
import { withinRoom } from "../restore_room.ts";
import {
  beginChange,
  downtimeOf,
  keepReplaced,
  keepWritten,
  keptBy,
  planReplacement,
  putBack,
  type Replacement,
  replaceOrTakeBack,
  stopUsers,
} from "../replacement.ts";
import type { RestoreJob, RestoreResult } from "./job.ts";
import { createVolumes, removeVolumes } from "./new_volumes.ts";

/** Seconds that a container without a health check must stay up. */
const STABLE_S = 10;

export async function restoreParts(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  return await (job.input.to === "new" ? restoreAsNew : replace)(deps, job);
}

async function restoreAsNew(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  const { input: { files, parts, place, snapshot, targetId }, signal } = job;
  try {
    using opened = await openTargetRepository(deps, targetId, signal);
    const { repository } = opened;
    const written = await job.step("write", async () => {
      // Those of an attempt that was interrupted.
      await removeVolumes(deps, job);
      await createVolumes(deps, job);
      const pass = withinRoom(deps);
      const request = { snapshot, parts, files, emptiedWith: null, pass };
      return await writeParts(deps, repository, request, job);
    });
    const restored = parts.map(({ to }) => to.mount.source);
    return { ...written, restored, kept: null, target: place, downtimeMs: 0, verdict: null };
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    await removeVolumes(deps, job);
    throw failure;
  }
}

/** Replaces what is in volumes that containers use. */
async function replace(deps: Deps, job: RestoreJob): Promise<RestoreResult> {
  const parts = job.input.parts.map(({ to }) => to);
  const findUsers = () => containersUsing(deps, parts.map(({ mount }) => mount));
  const held = await job.step("plan", async () => planReplacement(job.input, await findUsers()));
  const operation = operationOf("backup.restore", job.target);
  const replacement: Replacement = { held, operation, parts, findUsers };
  return await replaceOrTakeBack(deps, job, replacement, {
    work: () => attempt(deps, job, replacement),
    async takeBack(hasWritten) {
      if (!hasWritten) return;
      if (job.hasBegun("release")) await keepWritten(deps, job, replacement);
      await job.step("put back", () => putBack(deps, job, replacement));
    },
  });
}

async function attempt(
  deps: Deps,
  job: RestoreJob,
  replacement: Replacement,
): Promise<RestoreResult> {
  const { held, operation, parts } = replacement;
  // The target is needed until then, only.
  if (job.resultOf("write") === undefined) await keepAndWrite(deps, job, replacement);
  const downtimeMs = await job.step("release", async () => {
    await release(deps, held, operation);
    return downtimeOf(deps, job, replacement);
  });
  const verdict = await job.step("verify", () => verifyHeld(deps, job, held));
  return {
    ...job.resultOf("write") as WrittenParts,
    restored: parts.map(({ mount }) => mount.source),
    kept: keptBy(job),
    target: job.input.place,
    downtimeMs,
    verdict,
  };
}

async function keepAndWrite(
  deps: Deps,
  job: RestoreJob,
  replacement: Replacement,
): Promise<void> {
  const { input: { affected, files, images, parts, snapshot, targetId }, signal, target } = job;
  using opened = await openTargetRepository(deps, targetId, signal);
  const { repository } = opened;
  await job.step("check", () => checkBefore(repository, { snapshot, parts, files }, job));
  const used = { parts: replacement.parts, images, containers: affected };
  const store = async () => {
    const stored = await keepParts(deps, repository, used, { tags: keptTags(target), job });
    assertKept(stored);
    return stored.snapshot;
  };
  await keepReplaced(deps, job, replacement, { repository, store });
  await job.step("write", async () => {
    await stopUsers(deps, replacement);
    const emptiedWith = files === null ? images : null;
    const request = {
      snapshot,
      parts,
      files,
      emptiedWith,
      pass: withinRoom(deps),
      begin: () => beginChange(deps, job, replacement),
    };
    const write = () => writeParts(deps, repository, request, job);
    return await withoutValuesOf(deps.engine, affected, write);
  });
}

/** @returns Why the containers count as well; `null` if none ran. */
async function verifyHeld(
  deps: Deps,
  { input: { stableSeconds }, signal, progress }: RestoreJob,
  { containers }: Held,
): Promise<string | null> {
  if (containers.length === 0) return null;
  const subjects = containers.map(({ id, name }) => ({ name, newId: id, ran: true, ports: [] }));
  return await verify(deps, subjects, {
    watched: [],
    stableSeconds: stableSeconds ?? undefined,
    defaultStableSeconds: STABLE_S,
    signal,
    onProgress: (message) => progress({ current: 0, total: null, message }),
  });
}
