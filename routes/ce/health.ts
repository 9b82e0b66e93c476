/**
 * /livez, /readyz, /api/health: how the service is doing.
 *
 * @module
 */

import * as z from "zod";
import { describeHealth, isReady } from "../../services/ce/health.ts";
import type { Deps } from "../../services/deps.ts";
import { EDITIONS } from "../../services/edition.ts";
import { endpoint, rawEndpoint } from "../endpoint.ts";
import { Timestamp } from "../shapes.ts";
import { EngineStatus } from "./system_shapes.ts";

const DatabaseStatus = z.enum(["ok", "failed"]);

const Health = z.object({
  status: z.enum(["ok", "degraded"]),
  version: z.string().optional(),
  startedAt: Timestamp.optional(),
  uptimeSeconds: z.int().optional(),
  engine: EngineStatus.optional(),
  eventStream: z.object({
    status: z.enum(["ok", "failing"]).meta({
      description: "failing while the engine's event stream keeps breaking",
    }),
    breaks: z.int().meta({ description: "Since the start of the service" }),
    lastError: z.string().nullable(),
    lastErrorAt: Timestamp.nullable(),
  }).optional(),
  databases: z.object({ state: DatabaseStatus, metrics: DatabaseStatus }).optional(),
  workers: z.array(z.object({
    name: z.string(),
    status: z.enum(["ok", "failing"]),
    lastRoundAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    lastErrorAt: Timestamp.nullable(),
  })).optional(),
  outboxDepth: z.int().nullable().optional().meta({ description: "Messages that wait" }),
  license: z.object({
    edition: z.enum(EDITIONS),
    expiresAt: Timestamp.nullable(),
    graceUntil: Timestamp.nullable(),
    problem: z.string().nullable(),
  }).optional(),
});

const ShortHealth = z.object({ status: z.enum(["ok", "degraded"]), version: z.string() })
  .meta({ example: { status: "ok", version: "1.2.3" } });

export const healthEndpoints = (deps: Deps) => [
  endpoint({
    method: "get",
    path: "/livez",
    summary: "Whether the process answers at all",
    role: "public",
    anyAddress: true,
    returns: z.object({ status: z.literal("ok").meta({ example: "ok" }) }),
  }, () => ({ status: "ok" as const })),

  // Its answer has the same shape when it is no success, which only a raw one can have.
  rawEndpoint(
    {
      method: "get",
      path: "/readyz",
      summary: "Whether requests can be served",
      description:
        'Answers `{"status": "ok"}`, or 503 with `{"status": "failed"}` while a database ' +
        "fails. An engine that is away is no reason.",
      role: "public",
      anyAddress: true,
      returns: z.string().meta({ example: '{"status": "ok"}' }),
      produces: "application/json",
      failures: { 503: "A database fails" },
    },
    () =>
      isReady(deps)
        ? Response.json({ status: "ok" })
        : Response.json({ status: "failed" }, { status: 503 }),
  ),

  endpoint({
    method: "get",
    path: "/health",
    summary: "Get service status",
    description: "200 also when degraded. `GET /api/health` with a token has the details.",
    role: "public",
    anyAddress: true,
    returns: ShortHealth,
  }, () => describeHealth(deps)),

  endpoint({
    method: "get",
    path: "/api/health",
    summary: "How the service is doing",
    description: "Without a token only the status. 200 also when degraded.",
    role: "public",
    anyAddress: true,
    returns: Health,
  }, async ({ caller }) => {
    const health = await describeHealth(deps);
    return caller.role === "public" ? { status: health.status } : health;
  }),
];
