/** /livez, /readyz, /health, /api/health: health of the service. @module */

import * as z from "zod";
import { describeHealth, isReady } from "../services/metrics/health.ts";
import type { Deps } from "../services/deps.ts";
import { EDITIONS } from "../services/edition.ts";
import { endpoint, rawEndpoint } from "./contract/endpoint.ts";
import { Timestamp } from "./contract/shapes.ts";
import { EngineStatus } from "./system/shapes.ts";

const DatabaseStatus = z.enum(["ok", "failed"]);

const Health = z.object({
  status: z.enum(["ok", "degraded"]),
  version: z.string().optional(),
  startedAt: Timestamp.optional(),
  uptimeSeconds: z.int().optional(),
  engine: EngineStatus.optional(),
  eventStream: z.object({
    status: z.enum(["ok", "failing"]).meta({
      description: "failing while the engine's event stream is repeatedly interrupted",
    }),
    breaks: z.int().meta({ description: "Since the start of the service" }),
    lastError: z.string().nullable(),
    lastErrorAt: Timestamp.nullable(),
  }).optional(),
  inventory: z.object({
    status: z.enum(["ok", "failing"]).meta({
      description: "failing while the containers cannot be listed, so that they may be outdated",
    }),
    lastError: z.string().nullable(),
    lastErrorAt: Timestamp.nullable(),
  }).optional(),
  ownContainer: z.enum(["none", "known", "unknown"]).optional().meta({
    description: "unknown: the service runs in a container that it cannot identify, so it does " +
      "not refuse to stop that container",
  }),
  databases: z.object({ state: DatabaseStatus, metrics: DatabaseStatus }).optional(),
  workers: z.array(z.object({
    name: z.string(),
    status: z.enum(["ok", "failing"]),
    lastRoundAt: Timestamp.nullable(),
    lastError: z.string().nullable(),
    lastErrorAt: Timestamp.nullable(),
  })).optional(),
  outboxDepth: z.int().nullable().optional().meta({ description: "Number of pending messages" }),
  license: z.object({
    edition: z.enum(EDITIONS),
    expiresAt: Timestamp.nullable(),
    graceUntil: Timestamp.nullable(),
    problem: z.string().nullable(),
    protectedUntil: Timestamp.nullable(),
    warning: z.string().nullable(),
  }).optional(),
}).meta({ id: "Health" });

const Liveness = z.object({ status: z.literal("ok").meta({ example: "ok" }) })
  .meta({ id: "Liveness" });

const Unreadiness = z.object({ status: z.literal("failed") }).meta({ id: "Unreadiness" });

const ShortHealth = z.object({ status: z.enum(["ok", "degraded"]), version: z.string() })
  .meta({ id: "ShortHealth", example: { status: "ok", version: "1.2.3" } });

export const healthEndpoints = (deps: Deps) => [
  endpoint("GET /livez", {
    operationId: "getLiveness",
    summary: "Check liveness",
    description: "Succeeds while the process can answer requests.",
    role: "public",
    anyAddress: true,
    returns: Liveness,
  }, () => ({ status: "ok" as const })),

  // Raw, because the 503 has the shape of a response, not that of an error.
  rawEndpoint(
    "GET /readyz",
    {
      operationId: "getReadiness",
      summary: "Check readiness",
      description:
        "Answers 503 while a database fails. An unreachable engine does not affect readiness.",
      role: "public",
      anyAddress: true,
      returns: Liveness,
      produces: "application/json",
      replies: { 503: { description: "A database fails", returns: Unreadiness } },
    },
    () =>
      isReady(deps)
        ? Response.json({ status: "ok" })
        : Response.json({ status: "failed" }, { status: 503 }),
  ),

  endpoint("GET /health", {
    operationId: "getShortHealth",
    summary: "Get service status and version",
    description: "A degraded service also answers 200. `GET /api/health` has the details.",
    role: "public",
    anyAddress: true,
    returns: ShortHealth,
  }, () => describeHealth(deps)),

  endpoint("GET /api/health", {
    operationId: "getHealth",
    summary: "Get service health",
    description: "Without a token, only `status` is returned. A degraded service also answers 200.",
    role: "public",
    anyAddress: true,
    returns: Health,
  }, async ({ caller }) => {
    const health = await describeHealth(deps);
    return caller.role === "public" ? { status: health.status } : health;
  }),
];
