/** /api/backup/stacks: what is backed up. @module */

import * as z from "zod";
import {
  isUnprotected,
  listStackBackups,
  setBackupMode,
} from "../../services/automation/backups/stacks.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { Done, ENGINE_FAILURES, queryBoolean, Timestamp } from "../contract/shapes.ts";
import { StackName } from "../stacks/shapes.ts";
import { Mode } from "./shapes.ts";

const StackBackups = z.object({
  stack: z.string().meta({ example: "shop" }),
  parts: z.int().meta({
    description: "Number of volumes, and of directories below `STACK_ROOTS`, that its backups have",
  }),
  isExcluded: z.boolean().meta({
    description:
      "Whether the label `longshore.backup=off` of a container leaves it out of schedules",
  }),
  isScheduled: z.boolean().meta({ description: "Whether an enabled schedule backs it up" }),
  mode: Mode.nullable().meta({
    description: "Mode of its backups where no label decides; null for the default",
  }),
  lastBackup: z.object({
    at: Timestamp,
    snapshot: z.string(),
    target: z.string().meta({ description: "Name of the target" }),
    size: z.int().meta({ description: "Of its files, in bytes" }),
  }).nullable().meta({ description: "At any target; null if it was never backed up" }),
}).meta({ id: "StackBackups" });

export const stackBackupEndpoints = (deps: Deps) => [
  endpoint("GET /api/backup/stacks", {
    operationId: "listStackBackups",
    scope: "filtered",
    summary: "List backups by stack",
    description:
      "The Compose projects of this host, by name, with their last successful backup as " +
      "Longshore remembers it: no target is asked.",
    role: "viewer",
    permission: "backup:read",
    query: z.object({
      unprotected: queryBoolean({
        fallback: false,
        description:
          "Only stacks with data that were never backed up, and that neither a schedule " +
          "nor a label speaks of",
      }),
    }),
    returns: z.object({ stacks: z.array(StackBackups) }).meta({ id: "StackBackupList" }),
    failures: ENGINE_FAILURES,
  }, async ({ caller, query: { unprotected } }) => {
    const stacks = await listStackBackups(deps, caller);
    return { stacks: unprotected ? stacks.filter(isUnprotected) : stacks };
  }),

  endpoint("PUT /api/backup/stacks/:name/mode", {
    operationId: "setBackupMode",
    summary: "Set a backup mode",
    description: "For backups of the stack that name no mode, if no label `longshore.backup` of " +
      "its containers does.",
    role: "admin",
    permission: "backup:write",
    params: z.object({ name: StackName }),
    body: z.object({
      mode: Mode.nullable().meta({ description: "null for the default" }),
    }).meta({ id: "BackupModeSetting", example: { mode: "pause" } }),
    returns: Done,
    failures: {
      404: "The stack does not exist",
      409: "The stack is one of Swarm",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body }) => setBackupMode(deps, params.name, body.mode)),
];
