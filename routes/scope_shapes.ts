/** Shapes of the limits of API tokens and custom roles. @module */

import * as z from "zod";
import { isHostLabel, isPattern } from "../services/access/api_tokens/tokens.ts";

/** Patterns of names; `null` for all. */
export const patterns = (what: string, example: string[]) =>
  z.array(
    z.string().refine(isPattern, { error: "must be a name, in which * matches any characters" })
      .meta({ minLength: 1, maxLength: 255 }),
  ).min(1).max(100).nullable().meta({
    description: `Names of ${what}; \`*\` matches any characters. null for all`,
    example,
  });

/** Limits to hosts of the fleet, as tokens and custom roles have them. */
export const HostPatterns = patterns("hosts of the fleet", ["edge-*"]);

export const HostLabels = z.array(
  z.string().refine(isHostLabel, { error: "must be key or key=value, as labels of hosts are" })
    .meta({ minLength: 1, maxLength: 127 }),
).min(1).max(100).nullable().meta({
  description: "Labels of hosts of the fleet, `key` or `key=value`; a host has one of them. " +
    "null for all",
  example: ["site=kiel"],
});
