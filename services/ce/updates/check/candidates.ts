/**
 * The newer version that a container may be updated to.
 *
 * @module
 */

import {
  type NewerVersion,
  VERSION_LEVELS,
  type VersionLevel,
} from "../../../../db/ce/updates/images.ts";
import { AppError } from "../../../errors.ts";
import { hasVersionPolicy, type LabelPolicy } from "../labels.ts";
import { compileTagFilter, type TagFilter } from "../tag_filter.ts";

/** Finds the tags that a policy accepts; compiles each pattern once. */
export interface TagFilters {
  /** Nothing is accepted while a pattern is invalid. */
  of(labels: LabelPolicy): Promise<TagFilter>;
}

export function createTagFilters(): TagFilters {
  const filters = new Map<string, Promise<TagFilter>>();
  return {
    of({ tags }) {
      const key = JSON.stringify(tags ?? null);
      const filter = filters.get(key) ?? compileTagFilter(tags).catch((error) => {
        if (error instanceof AppError) return () => false;
        throw error;
      });
      filters.set(key, filter);
      return filter;
    },
  };
}

/**
 * The newest version that the labels of a container accept. With the level `same` that is a version
 * to report, which is not applied automatically.
 *
 * @param versions Newest first.
 */
export async function newestAccepted(
  labels: LabelPolicy,
  versions: readonly NewerVersion[],
  filters: TagFilters,
): Promise<NewerVersion | undefined> {
  if (!hasVersionPolicy(labels)) return undefined;
  const accepts = await filters.of(labels);
  const most = labels.level === "same" ? "major" : labels.level;
  return versions.find(({ tag, level }) => isWithin(level, most) && accepts(tag));
}

const isWithin = (level: VersionLevel, most: VersionLevel) =>
  VERSION_LEVELS.indexOf(level) <= VERSION_LEVELS.indexOf(most);
