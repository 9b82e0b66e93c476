/** Shapes of the fleet. @module */

import * as z from "zod";
import { PENDING_STATES } from "../../services/fleet/away/pending.ts";
import { HOST_NAME } from "../../services/fleet/link/control.ts";
import { Timestamp } from "../contract/shapes.ts";

/** Limits of labels: their number, and characters of a value. */
const LABELS_MAX = 20;
const LABEL_VALUE_MAX = 63;

export const HostName = z.string().regex(HOST_NAME, {
  error: "must have letters, digits, dots, hyphens and underscores, at most 63, and not be an id",
}).meta({ example: "edge-7" });

export const Labels = z.record(
  z.string().regex(/^[a-z][a-z0-9._-]{0,62}$/, {
    error: "must begin with a lower-case letter and have letters, digits, dots, hyphens",
  }),
  z.string().max(LABEL_VALUE_MAX),
).refine((labels) => Object.keys(labels).length <= LABELS_MAX, {
  error: `must have at most ${LABELS_MAX} labels`,
}).meta({ example: { site: "kiel" } });

export const Pending = z.object({
  id: z.string(),
  hostId: z.string(),
  host: HostName.meta({ description: "Name of the host" }),
  user: z.string().meta({ description: "Name of the user who left it" }),
  request: z.string().meta({ example: "POST /api/stacks/shop/deploy" }),
  state: z.enum(PENDING_STATES).meta({
    description: "`pending`: the host does not have it yet. `running`: it has. `succeeded`, " +
      "`failed`: its job has ended. `refused`: nothing was done. `expired`: the host was away for " +
      "too long",
  }),
  jobId: z.string().nullable().meta({ description: "Id of the job at the host" }),
  error: z.string().nullable().meta({ description: "Why it was refused or has failed" }),
  createdAt: Timestamp,
  expiresAt: Timestamp,
  exportedAt: Timestamp.nullable().meta({
    description: "When `longshore fleet export` last wrote it to a file",
  }),
  endedAt: Timestamp.nullable(),
}).meta({ id: "FleetPending" });
