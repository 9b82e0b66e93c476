/** A job, as the endpoints that start and show jobs return it. @module */

import * as z from "zod";
import { JOB_STATUSES, JOB_TARGET_TYPES } from "../../services/jobs/jobs.ts";
import { Timestamp } from "./shapes.ts";

const Status = z.enum(JOB_STATUSES).meta({
  description:
    "rolled_back: the job failed and restored the state before it; needs_attention: it " +
    "could neither succeed nor restore it",
});

const Kind = z.string().min(1).max(100).meta({ example: "image.pull" });

const Target = z.string().min(1).max(512).meta({
  description: "What the job works on; no two unfinished jobs have the same target",
  example: "docker.io/library/nginx:latest",
});

export const Job = z.object({
  id: z.string(),
  kind: Kind,
  targetType: z.enum(JOB_TARGET_TYPES),
  target: Target,
  stack: z.string().nullable().meta({ description: "The stack of a container" }),
  status: Status,
  progress: z.object({
    current: z.number().meta({ example: 31_457_280 }),
    total: z.number().nullable().meta({ description: "null while unknown", example: 62_914_560 }),
    message: z.string().nullable(),
  }).nullable().meta({ description: "In bytes for images" }),
  steps: z.array(z.object({
    name: z.string().meta({ example: "pull" }),
    status: z.enum(["running", "succeeded", "failed"]),
    startedAt: Timestamp,
    endedAt: Timestamp.nullable(),
    message: z.string().nullable().meta({ description: "Why it failed" }),
  })),
  error: z.string().nullable(),
  createdBy: z.string().meta({ description: "Id of the user", example: "key" }),
  createdAt: Timestamp,
  startedAt: Timestamp.nullable(),
  endedAt: Timestamp.nullable().meta({ description: "null while queued or running" }),
  result: z.unknown().meta({
    description: "Depends on the kind; null unless it has one. Without `containers:logs`, it has " +
      "no `evidence`",
  }),
}).meta({ id: "Job" });
