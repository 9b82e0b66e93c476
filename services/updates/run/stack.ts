/**
 * The steps of a stack's update: pull everything, then update one container after another by the
 * same steps as a single one, but remove the old containers only when the last one works.
 *
 * @module
 */

import { ifThere } from "../../../engine/errors.ts";
import { fullImageId } from "../../../engine/image_id.ts";
import { type ImageInspect, imageInspect } from "../../../engine/images.ts";
import type { Deps } from "../../deps.ts";
import { AppError, notFound } from "../../errors.ts";
import type { Identity } from "../../containers/reservations.ts";
import { dataOf, describeData } from "../data/steps.ts";
import { pullImage } from "../../images/pull.ts";
import type { PullPolicy } from "../../images/pull_policy.ts";
import { JobEnd } from "../../jobs/kind.ts";
import { NotReachedError } from "./allowed.ts";
import type { Evidence } from "./evidence.ts";
import { commit, putBack } from "./finish.ts";
import { nameAgain } from "./image_name.ts";
import { throwIfInterrupted } from "./interruption.ts";
import {
  type DataResult,
  type Failure,
  messageOf,
  type Planned,
  type Pulled,
  report,
  type StackUpdateJob,
  type StackUpdateResult,
  type UpdateInput,
  type UpdateJob,
  type UpdateResult,
} from "./job.ts";
import { isFromNoRegistry, isPulled, readLatest } from "./latest.ts";
import { markReplaced, prepare, replace, unchanged } from "./machine.ts";
import type { Member, Pair } from "./members.ts";
import { assertNoObstacle } from "./prepare.ts";
import { stoppedMeanwhile } from "./stopped_meanwhile.ts";
import { bringAllBack, type Returning } from "./stack_return.ts";
import { gatePlatform } from "./platform.ts";
import { digestsOf, type Survey, surveyUpdate } from "./survey.ts";
import { oldOnesOf } from "./swap.ts";

/** An image of the stack, before the pull. */
interface Named {
  reference: string;
  /** `null` if the host did not have it. */
  imageId: string | null;
}

/** Runs the job from where it is. */
export async function updateStack(deps: Deps, job: StackUpdateJob): Promise<StackUpdateResult> {
  const named = await job.step("plan", () => plan(deps, job));
  // A container that failed is put back before messages about it are sent again.
  using marks = new DisposableStack();
  // A rollback that has begun is completed.
  if (job.resultOf("failure") === undefined) {
    try {
      return await goForward(deps, job, named, marks);
    } catch (error) {
      await throwIfInterrupted(deps, error);
      await job.step("failure", () => Promise.resolve(messageOf(deps, error)));
    }
  }
  return await goBack(deps, job, named, marks);
}

/** @throws {AppError} The first failure. */
async function goForward(
  deps: Deps,
  job: StackUpdateJob,
  named: readonly Named[],
  marks: DisposableStack,
): Promise<StackUpdateResult> {
  await job.step("pull", () => pullAll(deps, job, named));
  const rehearsal = await rehearseIfChosen(deps, job, named);
  const rehearsed = rehearsal === null ? {} : { rehearsal };
  if (job.input.rehearsal === "only") {
    await restoreNames(deps, job, { named, updated: [] });
    return { results: [], ...rehearsed, warnings: [] };
  }
  const results: UpdateResult[] = [];
  const ran: Identity[] = [];
  const commits: (() => Promise<UpdateResult>)[] = [];
  for (const [index, { reference }] of named.entries()) {
    const member = memberJob(job, index, reference);
    const prepared = await prepare(deps, member);
    const [target] = prepared.pairs ?? prepared.planned.members;
    if (target!.ran) ran.push({ id: newest(target!), name: target!.name });
    if (!prepared.pairs) {
      results.push(unchanged(member, prepared));
      continue;
    }
    const replaced = { ...prepared, pairs: prepared.pairs };
    const mark = marks.use(markReplaced(deps, replaced.pairs));
    const end = await replace(deps, member, replaced);
    if ("failure" in end) throw new AppError("conflict", end.failure.reason);
    mark[Symbol.dispose]();
    const commitThis = () => commit(deps, member, { ...replaced, verdict: end });
    if (job.input.atomic) commits.push(commitThis);
    else results.push(await commitThis());
  }
  for (const commitThis of commits) results.push(await commitThis());
  return { results, ...rehearsed, warnings: await stoppedMeanwhile(deps.engine, ran) };
}

async function rehearseIfChosen(
  deps: Deps,
  job: StackUpdateJob,
  named: readonly Named[],
): Promise<string | null> {
  if (!job.input.rehearsal) return null;
  const { rehearseStack } = await import("../rehearsal/update.ts");
  const parts = named.map(({ reference }, index) => memberJob(job, index, reference));
  try {
    return await job.step("rehearse", () => rehearseStack(deps, parts));
  } catch (error) {
    const failure = await throwIfInterrupted(deps, error);
    for (const part of parts) reportFailure(deps, part, error);
    throw failure;
  }
}

const newest = (member: Member | Pair): string => "newId" in member ? member.newId : member.oldId;

/** @throws {AppError} `conflict` with what stands in the way of any container. */
async function plan(deps: Deps, job: StackUpdateJob): Promise<Named[]> {
  const named: Named[] = [];
  for (const [index, name] of job.input.containers.entries()) {
    try {
      named.push(await planMember(deps, job, name));
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      if (error instanceof NotReachedError) throw error;
      const image = deps.inventory.list().find((each) => each.name === name)?.image ?? "";
      reportFailure(deps, memberJob(job, index, image), error);
      throw failure;
    }
  }
  return named;
}

async function planMember(
  deps: Deps,
  { input: { force, pull, previous, isAutomatic } }: StackUpdateJob,
  name: string,
): Promise<Named> {
  const earlier = previous?.find(({ container }) => container === name);
  const survey = await surveyUpdate(deps, name, { image: earlier?.reference });
  // A name may also be the beginning of another container's id.
  if (survey.container.name !== name) throw notFound("Container", name);
  const { reference, local } = survey;
  assertNoObstacle(survey.obstacles, force);
  if (!force && !earlier) {
    const latest = await readLatest(deps, survey, { pull: pullOf(pull, local) });
    assertNoObstacle(latest.obstacles, false);
    if (isAutomatic) await assertReached(deps, survey, latest.digest);
  }
  return { reference, imageId: local ? fullImageId(local.Id) : null };
}

/** Before anything is pulled; each container is asked for again before it is replaced. */
async function assertReached(
  { updateGate }: Deps,
  { oldImage, reference }: Survey,
  digest: string | null,
): Promise<void> {
  if (digest === null || !oldImage || digestsOf(oldImage, reference).includes(digest)) return;
  const image = { digest, platform: gatePlatform(oldImage), image: reference };
  const refusal = await updateGate.refusalOf(image);
  if (refusal !== undefined) throw new NotReachedError(refusal);
}

const pullOf = (pull: PullPolicy, local: ImageInspect | undefined): PullPolicy =>
  isFromNoRegistry(local) ? "never" : pull;

const reportFailure = (deps: Deps, member: UpdateJob, error: unknown) =>
  report(deps, member, "update.failed", { reason: messageOf(deps, error) });

async function pullAll(
  deps: Deps,
  job: StackUpdateJob,
  named: readonly Named[],
): Promise<void> {
  const { input: { pull }, progress, signal } = job;
  for (const [index, { reference }] of named.entries()) {
    if (named.findIndex((each) => each.reference === reference) < index) continue;
    try {
      const local = await ifThere(imageInspect(deps.engine, reference));
      if (isPulled(pullOf(pull, local), local !== undefined)) {
        await pullImage(deps, { input: { image: reference, platform: null }, progress, signal });
      }
    } catch (error) {
      const failure = await throwIfInterrupted(deps, error);
      reportFailure(deps, memberJob(job, index, reference), error);
      throw failure;
    }
  }
}

/** One container's part of the job, with steps of its own. */
function memberJob(job: StackUpdateJob, index: number, reference: string): UpdateJob {
  const { stableSeconds, verifyTimeoutSeconds, force, affected, containers } = job.input;
  const { targetId, place, undone, isAutomatic } = job.input;
  const name = containers[index]!;
  const ownName = (step: string) => `${step} ${index + 1}`;
  const replaced = containers.slice(0, index)
    .flatMap((_, at) => (job.resultOf(`create ${at + 1}`) ?? []) as Pair[]).flatMap(oldOnesOf);
  const { imageId = null, data } =
    job.input.previous?.find(({ container }) => container === name) ?? {};
  const input: UpdateInput = {
    // By name, because the update of another one may have replaced it, too.
    containerId: name,
    name,
    reference,
    affected,
    previousImageId: imageId,
    pull: "never",
    stableSeconds,
    verifyTimeoutSeconds,
    logPattern: null,
    monitors: [],
    force,
    expectedDigest: null,
    isRebuild: false,
    isAutomatic,
    ...(undone?.includes(name) && { targetId, place, replaced }),
    ...(data && { targetId: data.targetId, place: data.place, restored: data, replaced }),
  };
  return {
    ...job,
    input,
    step: (step, work) => job.step(ownName(step), work),
    resultOf: (step) => job.resultOf(ownName(step)),
    hasBegun: (step) => job.hasBegun(ownName(step)),
  };
}

/**
 * Puts back what is not committed.
 *
 * @throws {JobEnd} `failed` if containers stay updated.
 */
async function goBack(
  deps: Deps,
  job: StackUpdateJob,
  named: readonly Named[],
  marks: DisposableStack,
): Promise<never> {
  const reason = job.resultOf("failure") as string;
  const problems: string[] = [];
  const evidence: Evidence[] = [];
  const updated: string[] = [];
  const data: (DataResult & { container: string })[] = [];
  const returning: Returning[] = [];
  for (const [index, { reference }] of named.entries()) {
    const member = memberJob(job, index, reference);
    const pairs = member.resultOf("create") as Pair[] | undefined;
    if (member.hasBegun("commit")) {
      updated.push(member.input.name);
      const kept = dataOf(member);
      if (kept) data.push({ container: member.input.name, ...kept });
    } else if (pairs) {
      marks.use(markReplaced(deps, pairs));
      returning.push({ member, planned: member.resultOf("plan") as Planned, pairs });
    }
  }
  const { ordered, stateOf, isStackBack } = await bringAllBack(deps, returning);
  for (const { member, planned, pairs } of ordered) {
    const own = member.resultOf("evidence") as Failure | undefined;
    evidence.push(...own?.evidence ?? []);
    const end = await putBack(deps, member, {
      planned,
      pulled: member.resultOf("pull") as Pulled,
      pairs,
      failure: own ?? {
        reason: `Put back with its stack: ${reason}`,
        container: null,
        isCancelled: true,
        evidence,
      },
      state: stateOf(member),
      isStackBack,
    });
    if (end.problem !== null) problems.push(end.problem);
    if (end.data) data.push({ container: member.input.name, ...end.data });
  }
  await restoreNames(deps, job, { named, updated });
  if (problems.length > 0) {
    throw new JobEnd("needs_attention", [reason, ...problems].join("; "), { evidence, data });
  }
  const texts = data.map((each) => describeData(each, each.container));
  const all = `${reason}${texts.join("")}`;
  if (updated.length === 0) throw new JobEnd("rolled_back", all, { evidence, data });
  const message = `${all}; updated before: ${updated.join(", ")}`;
  throw new JobEnd("failed", message, { evidence, data });
}

/** Lets the references of containers that were not updated name their images again. */
async function restoreNames(
  deps: Deps,
  { input: { containers } }: StackUpdateJob,
  { named, updated }: { named: readonly Named[]; updated: readonly string[] },
): Promise<void> {
  const kept = new Set(
    named.filter((_, index) => updated.includes(containers[index]!)).map((each) => each.reference),
  );
  for (const { reference, imageId } of named) {
    if (imageId !== null && !kept.has(reference)) await nameAgain(deps, reference, imageId);
  }
}
