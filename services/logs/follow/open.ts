/** Opens log streams for callers of the API. @module */

import { type Caller, includesRole } from "../../access/caller.ts";
import { includesContainer } from "../../access/scope.ts";
import { visibleTo } from "../../containers/visible.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import type { Container } from "../../containers/inventory.ts";
import type { StreamChunk } from "../../stream/chunks.ts";
import { assertMayInspect } from "../../containers/own_container.ts";
import { currentContainers, type ReadDeps, resolveContainer } from "../../containers/reads.ts";
import { groupStacks } from "../../stacks/groups.ts";
import { findStack } from "../../stacks/stacks.ts";
import { callerValidity } from "../../stream/validity.ts";
import { asReadFailure } from "../logs.ts";
import { parseStart } from "../start_time.ts";
import { createLineFilter } from "./filter.ts";

/** Selects the lines of a stream. */
export interface LogStreamQuery {
  /** Number of last lines of each container, before filters; default 200, or all with `since`. */
  tail?: number | undefined;
  /** ISO 8601, Unix seconds, or a duration until now such as `15m`. */
  since?: string | undefined;
  stdout: boolean;
  stderr: boolean;
  levels?: readonly string[] | undefined;
  /** Text, case-insensitive. */
  search?: string | undefined;
  /** RE2 pattern. */
  regex?: string | undefined;
  /** Id of the last frame that the client received. */
  lastEventId?: string | undefined;
}

type OpenDeps = ReadDeps & Pick<Deps, "accounts" | "logStreams" | "now">;

const TAIL_DEFAULT = 200;

/**
 * Streams the log of one container, until it is removed.
 *
 * @throws {AppError} `invalid` for a refused pattern or time; `not_found`; `forbidden` for the
 * service's own container unless the caller is an admin; `conflict` if the log cannot be read;
 * `unavailable` if there are too many streams.
 */
export async function streamContainerLogs(
  deps: OpenDeps,
  caller: Caller,
  ref: string,
  query: LogStreamQuery,
): Promise<ReadableStream<StreamChunk>> {
  const container = await resolveContainer(deps, ref);
  assertMayInspect(container, caller);
  return await open(deps, caller, query, [container]);
}

/**
 * Streams the logs of several containers. One that is created with a given name joins.
 *
 * @param refs Ids, names or unambiguous prefixes of ids.
 * @throws {AppError} As {@linkcode streamContainerLogs}, except for logs that cannot be read.
 */
export async function streamManyLogs(
  deps: OpenDeps,
  caller: Caller,
  refs: readonly string[],
  query: LogStreamQuery,
): Promise<ReadableStream<StreamChunk>> {
  const containers = new Map<string, Container>();
  const names = new Set<string>();
  for (const ref of refs) {
    const container = await resolveContainer(visibleTo(deps, caller), ref);
    assertMayInspect(container, caller);
    containers.set(container.id, container);
    if (container.name === ref) names.add(ref);
  }
  return await open(
    deps,
    caller,
    query,
    [...containers.values()],
    (current) =>
      current.filter((container) =>
        (containers.has(container.id) || names.has(container.name)) &&
        mayRead(deps, caller, container)
      ),
  );
}

/**
 * Streams the logs of all containers of a stack; new ones join. The service's own container is left
 * out unless the caller is an admin.
 *
 * @throws {AppError} As {@linkcode streamContainerLogs}, except for logs that cannot be read.
 */
export async function streamStackLogs(
  deps: OpenDeps & Pick<Deps, "db" | "swarm">,
  caller: Caller,
  name: string,
  query: LogStreamQuery,
): Promise<ReadableStream<StreamChunk>> {
  const { kind } = await findStack(deps, name);
  const select = (current: readonly Container[]) =>
    groupStacks(current, undefined)
      .filter((stack) => stack.name === name && stack.kind === kind)
      .flatMap(({ services }) => services.flatMap(({ containers }) => containers))
      .filter((container) => mayRead(deps, caller, container));
  return await open(deps, caller, query, select(await currentContainers(deps)), select);
}

/** By the caller's role and the container's name now, which may have changed. */
function mayRead({ accounts }: OpenDeps, caller: Caller, container: Container): boolean {
  return includesContainer(caller.scope, container) &&
    (!container.self || includesRole(accounts.roleOf(caller) ?? "public", "admin"));
}

async function open(
  deps: OpenDeps,
  caller: Caller,
  { tail, since, stdout, stderr, levels, search, regex, lastEventId }: LogStreamQuery,
  containers: readonly Container[],
  select?: (containers: readonly Container[]) => Container[],
): Promise<ReadableStream<StreamChunk>> {
  if (!stdout && !stderr) {
    throw new AppError("invalid", "query.stdout: At least one of stdout and stderr must be true");
  }
  const isAuthorized = callerValidity(deps, caller);
  const filter = await createLineFilter({
    streams: [...(stdout ? ["stdout" as const] : []), ...(stderr ? ["stderr" as const] : [])],
    levels,
    search,
    regex,
  });
  try {
    return await deps.logStreams.open({
      holder: caller,
      containers,
      select,
      tail: tail ?? (since === undefined ? TAIL_DEFAULT : undefined),
      since: since === undefined ? undefined : parseStart(since, deps.now()),
      lastEventId,
      filter,
      isValid: () =>
        isAuthorized() &&
        containers.every((each) => mayRead(deps, caller, deps.inventory.get(each.id) ?? each)),
    });
  } catch (error) {
    throw asReadFailure(error);
  }
}
