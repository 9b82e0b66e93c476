/**
 * Restores a whole stack: images, volumes and directories, sources, and at last the deploy, which judges
 * the containers. If it fails, what it has created is removed; a stack that is replaced is kept as a
 * snapshot before and comes back. Every step can be repeated after an interruption.
 *
 * @module
 */

import { openTargetRepository } from "../../backup/targets/open.ts";
import { checkBefore } from "../../backup/trees/check.ts";
import { writeParts, type WrittenParts } from "../../backup/trees/write.ts";
import { findHostPath, hasContent } from "../../backup/volumes/host_path.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import {
  type DeployJob,
  type DeployResult,
  type NamedImage,
  withoutSecrets,
} from "../../compose/deploy/job.ts";
import { deployStack } from "../../compose/deploy/machine.ts";
import { restoreNames } from "../../compose/deploy/back.ts";
import { nameImages } from "../../compose/deploy/planned.ts";
import { secretValues } from "../../compose/plan/stored.ts";
import { storeRestored } from "../../compose/restored_sources.ts";
import { recordCurrent } from "../../compose/sources.ts";
import { selectCurrentVersion } from "../../../db/stack_versions.ts";
import type { Container } from "../../containers/inventory.ts";
import type { Deps } from "../../deps.ts";
import { AppError, messageFor } from "../../errors.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { nameAgain } from "../../updates/run/image_name.ts";
import { throwIfInterrupted } from "../../updates/run/interruption.ts";
import { type Held, release, restorePolicies } from "../hold.ts";
import { operationOf } from "../job.ts";
import { withinRoom } from "../restore_room.ts";
import {
  beginChange,
  downtimeOf,
  keepReplaced,
  keptBy,
  planReplacement,
  type Replacement,
  replaceOrTakeBack,
  stopUsers,
} from "../replacement.ts";
import { bringImages, type FoundImages, imagesOf, removeKeptNames } from "./images.ts";
import {
  deployStep,
  partsOf,
  replacedParts,
  type StackRestoreJob,
  type StackRestoreResult,
} from "./job.ts";
import { keepStack } from "./keep.ts";
import { assertParts, createParts, removeParts } from "./parts.ts";
import { openRestored, type RestoredStack } from "./plan.ts";
import { takeBack } from "./take_back.ts";
import { usersOfStack } from "./users.ts";

/** The state before the restore: value of the step `plan`. */
interface Before {
  held: Held;
  /** Of the sources; `null` without stored ones. */
  version: number | null;
}

export async function restoreStack(
  deps: Deps,
  job: StackRestoreJob,
): Promise<StackRestoreResult> {
  const { target, input } = job;
  const findUsers = () => usersOfStack(deps, target, input);
  const { held, version } = await job.step(
    "plan",
    async () => observeBefore(deps, job, await findUsers()),
  );
  const operation = operationOf("backup.restore_stack", target);
  const parts = replacedParts(input).map(({ to }) => to);
  const replacement: Replacement = { held, operation, parts, findUsers };
  return await replaceOrTakeBack(deps, job, replacement, {
    work: () => attempt(deps, job, replacement),
    // The new containers run on what was restored then, and the old ones may be gone.
    isFinal: () => job.hasBegun(deployStep("commit")),
    takeBack: (hasWritten) => takeBack(deps, job, { replacement, version, hasWritten }),
  });
}

async function observeBefore(
  deps: Deps,
  { target, input }: StackRestoreJob,
  users: readonly Container[],
): Promise<Before> {
  const held = planReplacement(input, users);
  const isStored = selectCurrentVersion(deps.db, target) !== undefined;
  if (isStored && input.to === "new") {
    throw new AppError("conflict", `Stack ${target} was created meanwhile`);
  }
  return { held, version: isStored ? (await recordCurrent(deps, target)).stored.version : null };
}

async function attempt(
  deps: Deps,
  job: StackRestoreJob,
  replacement: Replacement,
): Promise<StackRestoreResult> {
  const { input } = job;
  // The target is needed until then, only.
  if (job.resultOf("sources") === undefined) await bring(deps, job, replacement);
  const { images, warnings } = job.resultOf("images") as FoundImages;
  const deployed = await deploy(deps, job, replacement, images);
  const downtimeMs = downtimeOf(deps, job, replacement);
  return {
    ...job.resultOf("write") as WrittenParts,
    restored: partsOf(input).map(({ to }) => to.mount.source),
    kept: keptBy(job),
    target: input.place,
    downtimeMs,
    version: deployed.version,
    // The plan and the deploy have the same ones about the sources.
    warnings: [
      ...new Set([...input.warnings, ...warnings, ...deployed.warnings]),
      ...await settle(deps, job, replacement),
    ],
  };
}

/** Gets everything that the deploy needs. */
async function bring(
  deps: Deps,
  given: StackRestoreJob,
  replacement: Replacement,
): Promise<void> {
  const { input, target, signal } = given;
  using opened = await openTargetRepository(deps, input.targetId, signal);
  const source = { ...opened, ...input };
  const restored = await openRestored(deps, source, target, signal);
  const { description, after, loaded } = restored;
  const job = withoutSecrets(given, secretValues(after, loaded.values));
  await job.step("names", () => nameImages(deps, loaded));
  await job.step("images", () => bringImages(deps, source, imagesOf(description, after), job));
  const { repository } = opened;
  await job.step("check", async () => {
    await assertUntouched(deps, job);
    if (input.to === "new") return;
    const checked = { snapshot: input.snapshot, parts: partsOf(input), files: null };
    await checkBefore(repository, checked, job);
  });
  if (input.to === "replace") {
    const store = () => keepStack(deps, job, repository);
    await keepReplaced(deps, job, replacement, { repository, store });
  }
  await job.step("write", () => write(deps, job, { replacement, restored, opened }));
  await job.step(
    "sources",
    () => storeRestored(deps, { name: target, userId: input.userId, sources: restored.sources }),
  );
}

/**
 * Fails if others have created something where the job creates, because that is deleted if it fails.
 *
 * @throws {AppError} `conflict` for a path that others have created meanwhile.
 */
async function assertUntouched(
  deps: Deps,
  { input: { created }, signal }: StackRestoreJob,
): Promise<void> {
  for (const path of created) {
    const found = await findHostPath(deps, path, signal);
    if (!await hasContent(deps, found, signal)) continue;
    throw new AppError("conflict", `${path} was created meanwhile; move it away`);
  }
}

type Opened = Awaited<ReturnType<typeof openTargetRepository>>;

async function write(
  deps: Deps,
  job: StackRestoreJob,
  { replacement, restored, opened }: {
    replacement: Replacement;
    restored: RestoredStack;
    opened: Opened;
  },
): Promise<WrittenParts> {
  const { snapshot, images, affected, ...parts } = job.input;
  await stopUsers(deps, replacement);
  const replaced = new Set(replacedParts(parts).map(({ from }) => from));
  const request = {
    snapshot,
    parts: partsOf(parts).map((part) => ({ ...part, isNew: !replaced.has(part.from) })),
    files: null,
    emptiedWith: images,
    pass: withinRoom(deps),
    async begin() {
      await beginChange(deps, job, replacement);
      // Those of an attempt that was interrupted.
      await removeParts(deps, job);
      await createParts(deps, job, restored.description, restored.after);
    },
  };
  const write = () => writeParts(deps, opened.repository, request, job);
  return await withoutValuesOf(deps.engine, affected, write);
}

/** The containers are created from the images of the snapshot, and judged. */
async function deploy(
  deps: Deps,
  job: StackRestoreJob,
  replacement: Replacement,
  images: FoundImages["images"],
): Promise<DeployResult> {
  const { input } = job;
  if (!job.hasBegun(deployStep("read"))) {
    await stopUsers(deps, replacement);
    await assertParts(deps, job);
    // A container that the deploy does not replace keeps its policy.
    await restorePolicies(deps, replacement.held);
  }
  // The deploy's own steps fail for one that was removed.
  for (const { reference, imageId } of images) await nameAgain(deps, reference, imageId);
  const part: DeployJob = {
    ...job,
    input: {
      version: job.resultOf("sources") as number,
      pull: "missing",
      recreate: "changed",
      removeOrphans: input.to === "replace",
      services: null,
      onFailure: "rollback",
      stableSeconds: input.stableSeconds,
      healthTimeoutSeconds: null,
      images,
      anonymousVolumes: input.anonymousVolumes,
      affected: input.affected,
    },
    step: (name, work) => job.step(deployStep(name), work),
    resultOf: (name) => job.resultOf(deployStep(name)),
    hasBegun: (name) => job.hasBegun(deployStep(name)),
  };
  try {
    return await deployStack(deps, part);
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    if (!part.hasBegun("commit")) throw failure;
    // The old containers may be gone.
    const message = messageFor(deps.log, failure, "old containers not removed", { job: job.id });
    const problems = [message, ...await settle(deps, job, replacement)].join("; ");
    throw new JobEnd("needs_attention", `${job.target} is restored, but ${problems}`, {
      kept: keptBy(job),
      target: input.place,
    });
  }
}

/**
 * Gives images their names back, and starts containers of other stacks that used what was replaced. The
 * restored ones work, so that a failure takes nothing back.
 *
 * @returns What failed.
 */
async function settle(
  deps: Deps,
  job: StackRestoreJob,
  { held, operation }: Replacement,
): Promise<string[]> {
  const containers = held.containers.filter(({ stack }) => stack !== job.target);
  const works = [
    () => removeKeptNames(deps, job),
    () => restoreNames(deps, job.resultOf("names") as NamedImage[]),
    () => release(deps, { ...held, containers }, operation),
  ];
  const problems: string[] = [];
  for (const work of works) {
    try {
      await work();
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      problems.push(messageFor(deps.log, failure, "restore not settled", { job: job.id }));
    }
  }
  return problems;
}
