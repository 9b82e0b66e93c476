/** Shapes of the host and its engine that several endpoints share. @module */

import * as z from "zod";
import { Timestamp } from "../contract/shapes.ts";

const percent = z.number().meta({ description: "0 to 100" });
const bytes = z.number().meta({ description: "Bytes" });

const usage = { total: bytes, used: bytes, percent };

/** Host metrics in the overview. */
export const SystemSummary = z.object({
  cpuPercent: percent.meta({ description: "100 means all cores" }),
  cpuCount: z.int(),
  memory: z.object({
    ...usage,
    available: bytes.meta({ description: "Bytes available to programs, including page cache" }),
  }),
  disk: z.object({
    ...usage,
    path: z.string().meta({ description: "Mount point of the filesystem", example: "/" }),
    free: bytes,
  }),
  load: z.tuple([z.number(), z.number(), z.number()]).meta({
    description: "Load averages over 1, 5 and 15 minutes",
  }),
  uptimeSeconds: z.int(),
}).meta({ id: "HostSummary" });

export const SystemMetrics = SystemSummary.extend({
  swap: z.object({ ...usage, free: bytes }),
  network: z.array(z.object({ name: z.string(), rxBytes: bytes, txBytes: bytes })).optional().meta({
    description: "Counters of the host's interfaces; only where PROC_PATH is set",
  }),
  timestamp: Timestamp,
}).meta({ id: "HostMetrics" });

export const EngineStatus = z.object({
  reachable: z.boolean(),
  version: z.string().nullable(),
  apiVersion: z.string().nullable(),
}).meta({ id: "EngineStatus" });

/** Whether messages about the host are paused. */
export const Maintenance = z.object({
  enabled: z.boolean(),
  since: Timestamp.nullable(),
  until: Timestamp.nullable().meta({ description: "When it ends automatically" }),
  reason: z.string().nullable(),
}).meta({ id: "Maintenance" });
