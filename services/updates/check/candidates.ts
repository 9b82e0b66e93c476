/** The newer version that a container may be updated to. @module */

import {
  type NewerVersion,
  VERSION_LEVELS,
  type VersionLevel,
} from "../../../db/updates/images.ts";
import { AppError } from "../../errors.ts";
import { hasVersionPolicy, type LabelPolicy } from "../labels.ts";
import { compileTagFilter, type TagFilter } from "../tag_filter.ts";

/** Returns what tags a policy accepts: none while a pattern is invalid. */
export type TagFilters = (labels: LabelPolicy) => Promise<TagFilter>;

/** Compiles each pattern once. */
export function createTagFilters(): TagFilters {
  const filters = new Map<string, Promise<TagFilter>>();
  return ({ tags }) => {
    const key = JSON.stringify(tags ?? null);
    const filter = filters.get(key) ?? compileTagFilter(tags).catch((error) => {
      if (error instanceof AppError) return () => false;
      throw error;
    });
    filters.set(key, filter);
    return filter;
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
  const accepts = await filters(labels);
  const most = labels.level === "same" ? "major" : labels.level;
  return versions.find(({ tag, level }) => isWithin(level, most) && accepts(tag));
}

const isWithin = (level: VersionLevel, most: VersionLevel) =>
  VERSION_LEVELS.indexOf(level) <= VERSION_LEVELS.indexOf(most);
