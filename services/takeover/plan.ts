/** Plan of a takeover: whether the sources that were found are those of the containers. @module */

import type { Deps } from "../deps.ts";
import { hideValues, withoutValues } from "../containers/secret_values.ts";
import type { ReadDeps } from "../containers/reads.ts";
import type { Container } from "../containers/inventory.ts";
import type { LoadedTexts } from "../compose/load/texts.ts";
import type { PlannedChange } from "../compose/plan/change.ts";
import { planSources, secretValues } from "../compose/plan/stored.ts";
import {
  givenSources,
  type LoaderDeps,
  loadGiven,
  type StackPlace,
  type StoredSources,
} from "../compose/validate.ts";
import { recoverVariables } from "./recovery.ts";
import type { TakeoverPlan } from "./report.ts";

export type PlanDeps =
  & ReadDeps
  & LoaderDeps
  & Pick<Deps, "config" | "db" | "log" | "secrets">;

/** Limit of the reasons of a plan. */
const REASONS_MAX = 20;

/** Sources with what the containers add to them. */
export interface CompletedSources {
  sources: StoredSources;
  /** Names of variables. */
  recovered: string[];
  /** Values of variables that no message repeats. */
  values: string[];
}

/**
 * Adds the profiles whose services have containers, and the variables that no file has.
 *
 * @param containers Those of the stack.
 */
export async function completeFromContainers(
  deps: LoaderDeps & Pick<Deps, "config">,
  name: string,
  given: StoredSources,
  containers: readonly Container[],
): Promise<CompletedSources> {
  const place: StackPlace = { name, bindAllow: deps.config.bindAllow };
  const load = (sources: StoredSources) =>
    loadGiven(deps.composeLoader.load, givenSources(sources, place));
  const everything = await load({ ...given, profiles: ["*"] });
  const recovered = recoverVariables(everything.unset, containers);
  const names = Object.keys(recovered);
  const sources = names.length > 0 ? { ...given, recovered } : given;
  const all = names.length > 0 ? await load({ ...sources, profiles: ["*"] }) : everything;
  const usual = await load(sources);
  const profiles = activeProfiles(all, usual, containers);
  const { project, values } = usual;
  return {
    sources: profiles ? { ...sources, profiles } : sources,
    recovered: names,
    values: [
      ...Object.values(recovered),
      ...(project ? secretValues(project, values) : values),
    ],
  };
}

/** The profiles, if those of the files are not those of the containers. */
function activeProfiles(
  all: LoadedTexts,
  usual: LoadedTexts,
  containers: readonly Container[],
): string[] | undefined {
  const existing = new Set(containers.map(({ composeService }) => composeService));
  const services = Object.entries(all.project?.services ?? {});
  const isUsual = (name: string) => Object.hasOwn(usual.project?.services ?? {}, name);
  if (!services.some(([name]) => existing.has(name) && !isUsual(name))) return undefined;
  const chosen = new Set<string>();
  for (const [name, { profiles = [] }] of services) {
    if (!existing.has(name) && !isUsual(name)) continue;
    if (profiles.length === 0 || profiles.some((each) => chosen.has(each))) continue;
    // Of several, one whose other services have containers, too.
    const fits = (profile: string) =>
      services.every(([other, each]) => !each.profiles?.includes(profile) || existing.has(other));
    chosen.add(profiles.find(fits) ?? profiles[0]!);
  }
  return [...chosen].sort();
}

/**
 * Plans the deploy of sources, and changes nothing.
 *
 * @throws {AppError} For sources that cannot be deployed, with one sentence without secret values.
 */
export async function planTakeover(
  deps: PlanDeps,
  name: string,
  { sources, values }: Pick<CompletedSources, "sources" | "values">,
): Promise<TakeoverPlan> {
  try {
    const { changes } = await planSources(deps, { role: "admin" }, name, sources);
    return summarize(changes, values);
  } catch (error) {
    throw withoutValues(error, values);
  }
}

const UNKNOWN = "is not in the Compose file";

function summarize(changes: readonly PlannedChange[], values: readonly string[]): TakeoverPlan {
  const namesOf = (...actions: PlannedChange["action"][]) =>
    changes.filter(({ kind, action }) => kind === "service" && actions.includes(action))
      .map(({ name }) => name);
  const unknown = changes.filter(({ kind, action, reasons }) =>
    kind === "service" && action === "none" && reasons[0]?.text === UNKNOWN
  ).map(({ name }) => name);
  const reasons = changes.filter(({ action, name }) =>
    (action !== "none" && action !== "start") || unknown.includes(name)
  ).flatMap(({ kind, name, reasons }) =>
    reasons.map(({ text }) => `${kind === "service" ? "" : `${kind} `}${name}: ${text}`)
  );
  return {
    changesNothing: changes.every(({ action }) => action === "none" || action === "start"),
    recreates: namesOf("recreate"),
    creates: namesOf("create", "remove"),
    unknown,
    reasons: reasons.slice(0, REASONS_MAX).map((text) => hideValues(text, values)),
  };
}

/** Order of plans: that with the least changes first. */
export const weightOf = (plan: TakeoverPlan | undefined): number =>
  plan
    ? plan.recreates.length * 1000 + plan.creates.length * 10 + plan.unknown.length * 10 +
      (plan.changesNothing ? 0 : 1)
    : Infinity;
