/** The details of a container. @module */

import { selectPreviousImages } from "../../db/updates/previous.ts";
import { type Caller, includesRole } from "../access/caller.ts";
import type { Deps } from "../deps.ts";
import type { Container, ContainerDetails } from "./inventory.ts";
import { REDACTED } from "../text/redact.ts";
import type { ContainerStats } from "./stats_cache.ts";
import { asContainer, inspectContainer, type ReadDeps, resolveContainer } from "./reads.ts";
import { type ContainerListItem, listItem } from "./containers.ts";
import { ifReadable } from "./unreadable.ts";
import { assertMayInspect } from "./own_container.ts";

interface ContainerDetail extends ContainerListItem, ContainerDetails {
  finishedAt: string | null;
  /** The last sample; `null` unless running and sampled within the last 45 s. */
  stats: ContainerStats | null;
  /** The image before the last update, as long as it is kept; a rollback goes back to it. */
  previousImage: { reference: string; replacedAt: string; hasData: boolean } | null;
}

/**
 * A container with its details and last stats, from the snapshot while it is live.
 *
 * @throws {AppError} `not_found`; `forbidden` for the service's own container unless the caller is
 * an admin; `invalid` for a prefix of several ids.
 */
export async function getContainer(
  deps: ReadDeps & Pick<Deps, "alerts" | "config" | "db" | "now" | "stats">,
  ref: string,
  caller: Pick<Caller, "role">,
): Promise<ContainerDetail> {
  const known = await resolveContainer(deps, ref);
  assertMayInspect(known, caller);
  const container = await readAgain(deps, known);
  const stats = container.state === "running" ? deps.stats.get(container.id) : undefined;

  const [previous] = selectPreviousImages(deps.db, container.name);
  const { details, finishedAt } = container;
  return {
    ...listItem(deps, container),
    labels: container.labels,
    cpuPercent: stats?.cpuPercent ?? null,
    memory: stats?.memoryUsage ?? null,
    ...details,
    restartPolicy: { ...details.restartPolicy, name: details.restartPolicy.name || "no" },
    env: includesRole(caller.role, "admin") ? details.env : details.env.map(redacted),
    finishedAt,
    stats: stats ?? null,
    previousImage: previous
      ? {
        reference: previous.reference,
        replacedAt: previous.createdAt,
        hasData: previous.data !== null,
      }
      : null,
  };
}

/**
 * The log of a health check changes without an event, and long texts are cut in the snapshot: both are
 * read from the engine.
 */
async function readAgain(deps: ReadDeps, known: Container): Promise<Container> {
  if (known.health === null && known.warning === null) return known;
  const read = inspectContainer(deps, known.id);
  const inspect = known.warning === null ? await read : await ifReadable(deps.engine, read);
  return inspect ? asContainer(deps, inspect) : known;
}

const redacted = ({ name }: { name: string }) => ({ name, value: REDACTED });
