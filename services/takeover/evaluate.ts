/**
 * Decides which of the files that were found are those of a stack: the ones whose plan changes nothing.
 *
 * @module
 */

import type { Container } from "../containers/inventory.ts";
import { generateStack } from "../compose/generate/generate.ts";
import type { SourceOrigin } from "../compose/origin.ts";
import type { StoredSources } from "../compose/validate.ts";
import type { Origin } from "./origins.ts";
import { completeFromContainers, type PlanDeps, planTakeover, weightOf } from "./plan.ts";
import type { TakeoverPlan } from "./report.ts";
import { type FoundFiles, reasonOf } from "./reading.ts";

/** A stack of another program, with its containers and where its files may be. */
export interface ForeignStack {
  name: string;
  /** Newest first. */
  containers: readonly Container[];
  origins: readonly Origin[];
}

/** Sources that were found, with their plan. */
export interface Evaluated {
  source: SourceOrigin;
  /** Base of relative paths; `null` if the sources have none. */
  base: string | null;
  /** In Unix milliseconds; 0 if unknown. */
  modifiedAt: number;
  /** Missing after an error. */
  sources?: StoredSources;
  plan?: TakeoverPlan;
  /** Names of variables from the containers. */
  recovered: string[];
  error?: string;
}

/** The rights of this service itself: reports are for administrators. */
const ADMIN = { role: "admin" } as const;

/** Best first. */
export async function evaluate(
  deps: PlanDeps,
  stack: ForeignStack,
  found: readonly FoundFiles[],
): Promise<Evaluated[]> {
  const evaluated: Evaluated[] = [];
  for (const each of found) evaluated.push(await evaluateFiles(deps, stack, each));
  if (!evaluated.some(isSame)) {
    const generated = await evaluateGenerated(deps, stack);
    if (generated.plan || evaluated.length === 0) evaluated.push(generated);
  }
  return evaluated.toSorted(byFit);
}

/** Whether the sources are those of the containers. */
export const isSame = ({ plan }: Evaluated): boolean =>
  plan !== undefined && plan.changesNothing && plan.unknown.length === 0;

/** Files before generated ones: these are an offer for a user who has no better files. */
function byFit(a: Evaluated, b: Evaluated): number {
  const isGenerated = ({ source }: Evaluated) => Number(source.kind === "generated");
  const hasPlan = ({ plan }: Evaluated) => Number(plan === undefined);
  return hasPlan(a) - hasPlan(b) || isGenerated(a) - isGenerated(b) ||
    weightOf(a.plan) - weightOf(b.plan) || b.modifiedAt - a.modifiedAt;
}

async function evaluateFiles(
  deps: PlanDeps,
  stack: ForeignStack,
  { candidate, variants, error, modifiedAt }: FoundFiles,
): Promise<Evaluated> {
  const facts = { source: candidate.source, base: candidate.origin.directory, modifiedAt };
  if (error !== undefined) return { ...facts, recovered: [], error };
  let best: Evaluated | undefined;
  for (const variant of variants) {
    const next = await evaluateSources(deps, stack, variant, facts);
    if (!best || weightOf(next.plan) < weightOf(best.plan)) best = next;
    if (isSame(best)) break;
  }
  return best!;
}

async function evaluateSources(
  deps: PlanDeps,
  { name, containers }: ForeignStack,
  given: StoredSources,
  facts: Pick<Evaluated, "source" | "base" | "modifiedAt">,
): Promise<Evaluated> {
  try {
    const completed = await completeFromContainers(deps, name, given, containers);
    const { sources, recovered } = completed;
    return { ...facts, sources, recovered, plan: await planTakeover(deps, name, completed) };
  } catch (error) {
    return { ...facts, recovered: [], error: reasonOf(deps, name, error) };
  }
}

/** Describes the containers themselves as a Compose file. */
export async function evaluateGenerated(
  deps: PlanDeps,
  stack: ForeignStack,
): Promise<Evaluated> {
  const { containers, origins: [origin] } = stack;
  const source: SourceOrigin = { kind: "generated", path: null };
  const facts = { source, base: null, modifiedAt: 0 };
  try {
    const { compose } = await generateStack(deps, ADMIN, containers.map(({ id }) => id));
    // New containers keep the labels by which their program finds them.
    const base = origin && {
      directory: origin.directory,
      configFiles: origin.configFiles.slice(0, 1),
    };
    const sources: StoredSources = { compose, ...(base && { base }), origin: source };
    return await evaluateSources(deps, stack, sources, facts);
  } catch (error) {
    return { ...facts, recovered: [], error: reasonOf(deps, stack.name, error) };
  }
}
