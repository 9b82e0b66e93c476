/** Limits of a service that the engine checks when a container is created. @module */

import { byKind, object } from "./collections.ts";
import { completing, failAt, type Reader } from "./reader.ts";
import { integer, number } from "./scalars.ts";

/** A number of processors. */
export const processors: Reader<number> = (node, path, scope) => {
  const value = number(node, path, scope);
  return value === undefined || value >= 0
    ? value
    : failAt(node, path, scope, "must not be negative");
};

type Limit = number | { soft?: number; hard?: number };

const limitMap = object({ soft: integer(-1), hard: integer(-1) }, { required: ["soft", "hard"] });

const limit: Reader<Limit> = byKind({
  scalar: integer(-1),
  map: completing(limitMap.completion, (node, path, scope) => {
    const read = limitMap(node, path, scope);
    const { soft = 0, hard = -1 } = read ?? {};
    const isLess = hard < 0 || (soft >= 0 && soft <= hard);
    return isLess ? read : failAt(node, path, scope, "must have soft not above hard");
  }),
});

/** Names that the engines know. */
const LIMITS = [
  "core",
  "cpu",
  "data",
  "fsize",
  "locks",
  "memlock",
  "msgqueue",
  "nice",
  "nofile",
  "nproc",
  "rss",
  "rtprio",
  "rttime",
  "sigpending",
  "stack",
] as const;

/** The limits of a user's processes. */
export const ulimits = object(
  Object.fromEntries(LIMITS.map((name) => [name, limit])),
) as Reader<Record<string, Limit>>;
