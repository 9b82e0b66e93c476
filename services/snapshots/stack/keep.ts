/** Keeps a stack as a snapshot before it is replaced. @module */

import type { Repository } from "../../backup/restic/repository.ts";
import type { Part } from "../../backup/trees/part.ts";
import { assertKept } from "../../backup/trees/keep.ts";
import { storeTree } from "../../backup/trees/store.ts";
import { tagsOf } from "../../backup/trees/tags.ts";
import { withoutValuesOf } from "../../backup/volumes/secret_values.ts";
import { isInside } from "../../text/paths.ts";
import type { Deps } from "../../deps.ts";
import { currentContainers } from "../../containers/reads.ts";
import { unique } from "../../unique.ts";
import { type Contents, contentsOfStack } from "../contents.ts";
import { describedFiles, describeStack } from "../description.ts";
import { replacedParts, type StackRestoreJob } from "./job.ts";

/**
 * Stores what is there: all that a snapshot of the stack has, and the parts that are replaced.
 *
 * @returns Id of the snapshot.
 * @throws {AppError} `conflict` if something that is not in the snapshot would be deleted.
 */
export async function keepStack(
  deps: Deps,
  job: StackRestoreJob,
  repository: Repository,
): Promise<string> {
  const { target, input } = job;
  const contents = await contentsNow(deps, target);
  const parts = outermost([...contents.parts, ...replacedParts(input).map(({ to }) => to)]);
  const description = await describeStack(deps, { ...contents, parts }, target);
  const described = {
    path: `/stacks/${target}`,
    entries: describedFiles(description, deps.now()),
  };
  const tags = tagsOf({ stack: target, reason: "undo", note: `before a restore of ${target}` });
  const { snapshot, skipped } = await withoutValuesOf(
    deps.engine,
    input.affected,
    () =>
      storeTree(deps, repository, { parts, dumps: [], described }, {
        tags,
        images: input.images.map(({ image }) => image),
        job,
      }),
  );
  assertKept({ skipped });
  return snapshot;
}

/** A stack that was stored, and not deployed, has nothing. */
async function contentsNow(deps: Deps, stack: string): Promise<Contents> {
  const hasContainers = (await currentContainers(deps)).some(({ composeProject }) =>
    composeProject === stack
  );
  if (hasContainers) return await contentsOfStack(deps, stack);
  return { stack, containers: [], parts: [], users: [], shared: [], leftOut: [] };
}

/** A directory in another one is kept with it. */
function outermost(parts: readonly Part[]): Part[] {
  const byPath = unique(parts, ({ path }) => path);
  return byPath.filter(({ path, mount: { type } }) =>
    type === "volume" ||
    !byPath.some((other) => other.path !== path && isInside(path, other.path))
  );
}
