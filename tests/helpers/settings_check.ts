/**
 * Deploys every setting of Compose files on an engine, and finds each again in the engine's
 * description, or a warning or an error that names it.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { type Network, networkInspect } from "../../engine/networks.ts";
import { findVolume } from "../../engine/volumes.ts";
import {
  contains,
  namesOf,
  NETWORK_WITHOUT_IPV4,
  NETWORKS,
  servicesOf,
  type SettingCase,
  VOLUMES,
} from "./compose_settings.ts";
import type { LiveApp } from "./live_app.ts";
import { actionsOf, type TestStack as WatchedStack } from "./test_stack.ts";

type TestStack = Omit<WatchedStack, "watch">;

type Plan = { warnings: string[]; changes: { kind: string; name: string; action: string }[] };

/** Services that some engines cannot create or start; they are deployed apart from the others. */
const UNCERTAIN = new Set([
  "blkio",
  "cdi",
  "nvidia",
  "gpus",
  "image",
  "init",
  "isolated",
  "killed",
  "local",
  "parent",
  "privileged",
  "realtime",
  "recursive-readonly",
  "recursive-writable",
  "reserved",
  "reserved-id",
  "runtime",
  "storage",
  "subpath",
  "users",
]);

/** Services of the cases that were refused. */
interface Refusals {
  byPlan: string[];
  /** At their creation or start. */
  byEngine: string[];
}

/**
 * Deploys the cases in two projects.
 *
 * @param newStack A stack that has no containers.
 */
export async function checkSettings(
  app: LiveApp,
  newStack: () => TestStack,
  cases: readonly SettingCase[],
): Promise<Refusals> {
  const refused: Refusals = { byPlan: [], byEngine: [] };
  for (const isUncertain of [false, true]) {
    await using stack = newStack();
    const chosen = cases.filter(({ service }) => UNCERTAIN.has(service) === isUncertain);
    const { byPlan, byEngine } = await checkProject(app, stack, chosen);
    refused.byPlan.push(...byPlan);
    refused.byEngine.push(...byEngine);
  }
  return refused;
}

async function checkProject(
  app: LiveApp,
  stack: TestStack,
  cases: readonly SettingCase[],
): Promise<Refusals> {
  const services = servicesOf(cases);
  const texts: string[] = [];
  const refusals: Refusals = { byPlan: [], byEngine: [] };
  const store = () => stack.store({ services, networks: networksOf(services), volumes: VOLUMES });
  for (;;) {
    await store();
    const { warnings } = await stack.plan() as unknown as Plan;
    // Services that were started stay, and need not be started again without the one that fails.
    const job = await stack.deploy({ onFailure: "stop" });
    texts.push(...warnings, ...job.result?.warnings ?? [], job.error ?? "");
    if (job.status === "succeeded") break;
    const named = Object.keys(services).filter((service) => isAbout(job.error!, service));
    ok(named.length > 0, `${job.error}`);
    for (const service of named) delete services[service];
    const isPlanned = !job.steps.some(({ name }) => /^(?:create|start) /.test(name));
    (isPlanned ? refusals.byPlan : refusals.byEngine).push(...named);
  }
  const refused = [...refusals.byPlan, ...refusals.byEngine];

  const containers = await stack.containers();
  const lost = cases.filter(({ service, is, value }) => {
    const inspect = containers[`${service}-1`] ??
      Object.values(containers).find(({ Config }) =>
        Config.Labels?.["com.docker.compose.service"] === service
      );
    const isFound = inspect !== undefined && Object.hasOwn(services, service) &&
      (typeof is === "function" ? is(inspect, stack.name) : contains(inspect, is));
    // The engine's own refusals have their own words.
    const isNamed = refused.includes(service) ||
      texts.some((text) => isAbout(text, service) && namesOne(text, value));
    return !isFound && !isNamed;
  });
  const names = lost.map(({ service, value }) => `${service}: ${JSON.stringify(value)}`);
  const again = await stack.plan() as unknown as Plan & { changes: { reasons: object[] }[] };
  const changes = again.changes.filter(({ action }) => action !== "none");
  deepEqual([names, changes], [[], []], [...new Set(texts)].join("\n"));
  await checkParts(app, stack, services, texts);
  const second = await stack.deploy();
  equal(second.status, "succeeded", second.error ?? "");
  ok(actionsOf(second.result).every((text) => text.endsWith(" none")));
  return refusals;
}

/** The networks of the project that services use. */
function networksOf(services: Record<string, { networks?: object }>): Record<string, object> {
  const used = new Set(
    Object.values(services).flatMap(({ networks }) => Object.keys(networks ?? {})),
  );
  return Object.fromEntries(
    Object.entries(NETWORKS).filter(([key]) => used.has(key)).map((
      [key, { value }],
    ) => [key, value]),
  );
}

/** Keys of Compose files by fields of a network, where the names differ. */
const KEYS: Readonly<Record<string, string>> = { Options: "driver_opts" };

async function checkParts(
  { deps: { engine } }: LiveApp,
  { name }: TestStack,
  services: Record<string, { networks?: object; volumes?: unknown[] }>,
  texts: readonly string[],
): Promise<void> {
  for (const key of Object.keys(networksOf(services))) {
    const found: Network = await networkInspect(engine, `${name}_${key}`);
    const { is } = NETWORKS[key]!;
    const lost = Object.entries(is).filter(([field, value]) =>
      !contains(found, { [field]: value }) &&
      !texts.some((text) =>
        text.includes(`${name}_${key}`) && normal(text).includes(normal(KEYS[field] ?? field))
      )
    );
    deepEqual(lost, [], JSON.stringify(found));
  }
  if (!JSON.stringify(services).includes('"source":"data"')) return;
  const { Driver, Options, Labels } = (await findVolume(engine, `${name}_data`))!;
  const { driver, driver_opts, labels } = VOLUMES.data;
  ok(
    contains({ Driver, Options, Labels }, { Driver: driver, Options: driver_opts, Labels: labels }),
  );
}

/** A network without IPv4 is created without it, or refused by its name. */
export async function checkNetworkWithoutIpv4(app: LiveApp, stack: TestStack): Promise<void> {
  const [service] = Object.values(servicesOf([{ service: "a", value: {}, is: {} }]));
  await stack.store({
    services: { a: { ...service, networks: ["six"] } },
    networks: { six: NETWORK_WITHOUT_IPV4 },
  });
  const job = await stack.deploy();
  if (job.status === "succeeded") {
    const found = await networkInspect(app.deps.engine, `${stack.name}_six`);
    equal(found.EnableIPv4, false);
    deepEqual(actionsOf(await stack.plan()).filter((text) => !text.endsWith(" none")), []);
  } else ok(/enable_ipv4/.test(job.error!), job.error!);
}

/** E.g. in `services.web.init`, `init of web` and `/shop-web-1`. */
const isAbout = (text: string, service: string) =>
  new RegExp(`(?<![\\w-])(?:[a-z0-9]+-)?${service}(?:-1)?(?![\\w-])`).test(text);

const normal = (text: string) => text.toLowerCase().replace(/[-_. ]/g, "");

const namesOne = (text: string, value: Record<string, unknown>) =>
  namesOf({ value }).some((name) => normal(text).includes(normal(name)));
