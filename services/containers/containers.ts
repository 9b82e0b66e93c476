/** Lists containers and their processes. @module */

import type { ContainerFigures } from "../../db/container_samples.ts";
import { selectCrashLooping } from "../../db/crash_loops.ts";
import { containerTop } from "../../engine/containers.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";
import { stackOf } from "../access/scope.ts";
import { addressesOf, type ContainerAddress } from "./addresses.ts";
import { type Caption, captionOf } from "./captions.ts";
import type { Container, ContainerState } from "./inventory.ts";
import { currentContainers, type ReadDeps, resolveContainer } from "./reads.ts";
import { statusText } from "./status.ts";
import { shownLabels, shownName } from "./shown_labels.ts";

export { currentContainers } from "./reads.ts";

/** A container in lists and stream frames. */
export type ContainerListItem =
  & Omit<
    Container,
    "attachments" | "shares" | "links" | "volumes" | "finishedAt" | "originalName" | "details"
  >
  & {
    /** E.g. "Up 3 minutes (healthy)". */
    status: string;
    /** Names of networks. */
    networks: string[];
    /** Addresses at which people open it. */
    links: ContainerLink[];
    /** Cores; `null` means unlimited. */
    cpuLimit: number | null;
    /** Bytes; `null` means unlimited. */
    memoryLimit: number | null;
    /** Whether it exits again and again, also while it runs in between. */
    crashLooping: boolean;
  }
  & Caption
  /** `null` unless running and sampled within the last 45 s. */
  & { [Figure in keyof ContainerFigures]: ContainerFigures[Figure] | null };

export interface ContainerLink extends ContainerAddress {
  /** End of the certificate that was found there, if it is checked. ISO 8601, UTC. */
  certificateExpiresAt: string | null;
}

/** Filters of a list; a container must match all of them. */
interface ContainerFilter {
  state?: ContainerState | undefined;
  /** Name of a compose project or a swarm stack. */
  stack?: string | undefined;
  /** Part of the container's name. */
  name?: string | undefined;
}

type ItemDeps = Pick<Deps, "alerts" | "config" | "db" | "now" | "stats">;

/** List items of containers, all at the same time. */
export function listItems(
  { alerts, config, db, now, stats }: ItemDeps,
  containers: readonly Container[],
): ContainerListItem[] {
  const at = now();
  const looping = new Set(selectCrashLooping(db));
  const ends = new Map(
    alerts.certificates?.map(({ domain, port, expiresAt }) => [`${domain}:${port}`, expiresAt]),
  );
  const parts = { config, stats, looping, ends };
  return containers.map((container) => toListItem(container, at, parts));
}

export const listItem = (deps: ItemDeps, container: Container): ContainerListItem =>
  listItems(deps, [container])[0]!;

const NO_FIGURES: { [Figure in keyof ContainerFigures]: null } = {
  cpuPercent: null,
  memory: null,
  networkRxPerSecond: null,
  networkTxPerSecond: null,
  blockReadPerSecond: null,
  blockWritePerSecond: null,
};

function toListItem(
  container: Container,
  now: Date,
  { config, stats, looping, ends }: Pick<Deps, "config" | "stats"> & {
    looping: ReadonlySet<string>;
    /** Ends of certificates by host and port. */
    ends: ReadonlyMap<string, string>;
  },
): ContainerListItem {
  const figures = container.state === "running" ? stats.figures(container.id) : undefined;
  const {
    attachments,
    shares: _s,
    links: _l,
    volumes: _v,
    finishedAt: _f,
    originalName: _o,
    details,
    ...shown
  } = container;
  return {
    ...shown,
    labels: shownLabels(container.labels),
    status: statusText(container, now),
    networks: attachments.map(({ network }) => shownName(network)),
    ...captionOf(container),
    links: addressesOf(container, config).map((address) => ({
      ...address,
      certificateExpiresAt: endOfCertificate(address, ends),
    })),
    cpuLimit: details.limits.cpus,
    memoryLimit: details.limits.memoryBytes,
    crashLooping: looping.has(container.id),
    ...(figures ?? NO_FIGURES),
  };
}

function endOfCertificate(
  { url }: ContainerAddress,
  ends: ReadonlyMap<string, string>,
): string | null {
  if (ends.size === 0 || !url.startsWith("https:")) return null;
  const { hostname, port } = new URL(url);
  return ends.get(`${hostname}:${port || "443"}`) ?? null;
}

/** Containers in every state, newest first. */
export async function listContainers(
  deps: ReadDeps & ItemDeps,
  { state, stack, name }: ContainerFilter = {},
): Promise<ContainerListItem[]> {
  const containers = (await currentContainers(deps)).filter((container) =>
    (state === undefined || container.state === state) &&
    (stack === undefined || stackOf(container) === stack) &&
    (name === undefined || container.name.includes(name))
  );
  return listItems(deps, containers);
}

/**
 * Changes whenever the list changes, including each second because of texts such as "Up 3 seconds".
 * `undefined` while the snapshot is not live.
 */
export function listVersion({ inventory, now, stats }: Pick<Deps, "inventory" | "now" | "stats">) {
  if (!inventory.live) return undefined;
  return `${inventory.revision}.${stats.published}.${Math.floor(now().getTime() / 1000)}`;
}

/** Processes in a container, as `ps` shows them. */
export async function listProcesses(
  deps: ReadDeps,
  ref: string,
): Promise<{ titles: string[]; processes: string[][] }> {
  const container = await resolveContainer(deps, ref);
  assertRunning(container);
  const { Titles, Processes } = await containerTop(deps.engine, container.id);
  return { titles: Titles, processes: Processes ?? [] };
}

/** @throws {AppError} `conflict` */
export function assertRunning({ name, state }: Container): void {
  if (state !== "running") {
    throw new AppError("conflict", `Container ${name} is ${state}, not running`);
  }
}
