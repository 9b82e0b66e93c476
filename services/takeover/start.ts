/** Shows what can be taken over, and starts a takeover. @module */

import { dirname } from "node:path";
import { selectCurrentVersion, selectStoredStacks } from "../../db/stack_versions.ts";
import { selectUnfinishedJobOf } from "../../db/jobs.ts";
import type { Holder } from "../access/shares.ts";
import type { Deps } from "../deps.ts";
import { AppError, InputError } from "../errors.ts";
import { currentContainers, resolveContainer } from "../containers/reads.ts";
import type { SourceOrigin } from "../compose/origin.ts";
import { openVersion } from "../compose/versions.ts";
import { type StartedJob, startJob } from "../jobs/runner.ts";
import { type JobView, toView } from "../jobs/view.ts";
import type { ChosenSource } from "./candidates.ts";
import { SCAN_TARGET, scanKind, type ScanResult, TAKEOVER_TARGET, takeoverKind } from "./kinds.ts";
import type { TakeoverReport, TakeoverStack } from "./report.ts";
import type { ChosenStack } from "./request.ts";
import { assertAccepted, chooseSources, findForeign } from "./take.ts";

/** A stack of another program that is managed here. */
export interface ManagedStack {
  name: string;
  source: SourceOrigin;
  version: number;
}

export type TakeoverView = TakeoverReport & { managed: ManagedStack[] };

/**
 * The last report, if it is about the current containers; otherwise the job that makes one.
 *
 * @param options.refresh Scans again in any case.
 */
export async function readTakeover(
  deps: Deps,
  caller: Holder,
  { refresh }: { refresh: boolean },
): Promise<{ job: JobView } | { report: TakeoverView }> {
  const running = selectUnfinishedJobOf(deps.db, { targetType: "host", target: SCAN_TARGET });
  if (running) return { job: toView(running) };
  const report = refresh ? undefined : await findReport(deps);
  return report ? { report } : { job: startScan(deps, caller).job };
}

const startScan = (deps: Deps, caller: Holder): StartedJob<ScanResult> =>
  startJob(deps, scanKind, { target: SCAN_TARGET, input: {}, caller });

/** The report without what was taken over since. */
async function findReport(deps: Deps): Promise<TakeoverView | undefined> {
  const report = deps.takeover.find(await currentContainers(deps));
  if (!report) return undefined;
  const stored = new Set(selectStoredStacks(deps.db).map(({ stack }) => stack));
  const managed = managedStacks(deps, stored);
  const places = new Set(managed.map(({ source }) => source.path && dirname(source.path)));
  return {
    ...report,
    stacks: report.stacks.filter(({ name }) => !stored.has(name)),
    directories: report.directories.filter(({ name, path }) =>
      !stored.has(name) && !places.has(path)
    ),
    managed,
  };
}

const managedStacks = (deps: Deps, stored: ReadonlySet<string>): ManagedStack[] =>
  [...stored].flatMap((name) => {
    const current = selectCurrentVersion(deps.db, name);
    const origin = current && openVersion(deps, current).sources.origin;
    return origin ? [{ name, source: origin, version: current.version }] : [];
  });

export interface TakeoverRequest {
  /** Default: all whose plan changes nothing. */
  stacks?: string[] | undefined;
  /** Containers whose sources are generated. */
  generate?: string[] | undefined;
  /** Chosen sources by stack. */
  sources?: Record<string, ChosenSource> | undefined;
  acceptRecreate: boolean;
}

/**
 * Starts a job that stores the sources of stacks.
 *
 * @throws {AppError} `not_found` for an unknown stack or container; `conflict` for one that a deploy
 * would recreate unless that is accepted, that has sources, or that cannot be taken over.
 */
export async function startTakeover(
  deps: Deps,
  caller: Holder,
  request: TakeoverRequest,
): Promise<{ job: JobView; names: string[] }> {
  const { acceptRecreate, sources = {} } = request;
  const report = await findReport(deps) ?? await scanNow(deps, caller);
  const generated = await generatedStacks(deps, request);
  const named = [...new Set([...request.stacks ?? [], ...Object.keys(sources)])]
    .filter((name) => !generated.some((each) => each.name === name));
  const chosen: ChosenStack[] = [
    ...named.map((name) => ({ name, chosen: sources[name] ?? null })),
    ...generated,
  ];
  for (const each of chosen) await assertTakeable(deps, report, each, acceptRecreate);
  const isNamed = (name: string) => chosen.some((each) => each.name === name);
  const usual = request.stacks ? [] : report.stacks.filter(isUnchanged)
    .filter(({ name }) => !isNamed(name)).map(({ name }) => ({ name, chosen: null }));
  const stacks = [...chosen, ...usual].map((each) => withProposal(report, each));
  if (stacks.length === 0) {
    throw new AppError("conflict", "A deploy would change every stack; name those to take over");
  }
  const { job } = startJob(deps, takeoverKind, {
    target: TAKEOVER_TARGET,
    input: { userId: caller.userId, stacks, acceptRecreate },
    caller,
  });
  return { job, names: stacks.map(({ name }) => name) };
}

/** The source that was shown is the one that is stored. */
function withProposal({ stacks }: TakeoverReport, stack: ChosenStack): ChosenStack {
  const { kind, path, through } = stacks.find(({ name }) => name === stack.name)?.source ?? {};
  if (stack.chosen || kind === undefined || kind === "none") return stack;
  return { ...stack, chosen: { kind, path: path ?? null, through } };
}

const isUnchanged = ({ plan }: TakeoverStack) => plan?.changesNothing ?? false;

async function scanNow(deps: Deps, caller: Holder): Promise<TakeoverReport> {
  await startScan(deps, caller).completion;
  const report = await findReport(deps);
  if (report) return report;
  throw new AppError("conflict", "The containers changed during the scan; try again");
}

async function generatedStacks(
  deps: Deps,
  { generate = [], acceptRecreate }: TakeoverRequest,
): Promise<ChosenStack[]> {
  const source = { kind: "generated", path: null } as const;
  const stacks = new Map<string, ChosenStack>();
  for (const ref of generate) {
    const { id, name, composeProject } = await resolveContainer(deps, ref);
    if (composeProject) {
      stacks.set(composeProject, { name: composeProject, chosen: source });
      continue;
    }
    if (!acceptRecreate) {
      throw new AppError(
        "conflict",
        `Container ${name} is not in a stack, so that a deploy would create another one; accept it`,
      );
    }
    const stack = name.toLowerCase().replace(/[^a-z0-9_-]/g, "-").replace(/^[_-]+/, "");
    if (stack === "" || stacks.has(stack)) {
      const message = `container ${name} does not have a name that can be that of a stack`;
      throw new InputError([{ path: "body.generate", message }]);
    }
    stacks.set(stack, { name: stack, chosen: source, container: id });
  }
  return [...stacks.values()];
}

/** A chosen source is read now, so that its refusal is the answer and not the end of a job. */
async function assertTakeable(
  deps: Deps,
  report: TakeoverReport,
  stack: ChosenStack,
  acceptRecreate: boolean,
): Promise<void> {
  if (stack.chosen) return void await chooseSources(deps, stack, acceptRecreate);
  await findForeign(deps, stack.name);
  const plan = report.stacks.find(({ name }) => name === stack.name)?.plan;
  if (plan) return assertAccepted(plan, acceptRecreate);
  throw new AppError("conflict", `The files of ${stack.name} were not found; choose a source`);
}
