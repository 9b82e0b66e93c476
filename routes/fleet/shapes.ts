/** Shapes of the fleet. @module */

import * as z from "zod";
import { HOST_NAME } from "../../services/fleet/link/control.ts";

/** Limits of labels: their number, and characters of a value. */
const LABELS_MAX = 20;
const LABEL_VALUE_MAX = 63;

export const HostName = z.string().regex(HOST_NAME, {
  error: "must have letters, digits, dots, hyphens and underscores, at most 63",
}).meta({ example: "edge-7" });

export const Labels = z.record(
  z.string().regex(/^[a-z][a-z0-9._-]{0,62}$/, {
    error: "must begin with a lower-case letter and have letters, digits, dots, hyphens",
  }),
  z.string().max(LABEL_VALUE_MAX),
).refine((labels) => Object.keys(labels).length <= LABELS_MAX, {
  error: `must have at most ${LABELS_MAX} labels`,
}).meta({ example: { site: "kiel" } });
