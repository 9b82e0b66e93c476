/** /api/integrations: other systems that are polled for metrics, alerts and events. @module */

import * as z from "zod";
import {
  DATA_TYPES,
  type DataRecord as Data,
  listIntegrationData,
} from "../services/automation/integrations/data.ts";
import { pollIntegration, testIntegration } from "../services/automation/integrations/polls.ts";
import {
  changeIntegration,
  createIntegration,
  getIntegration,
  type IntegrationView,
  listIntegrations,
  POLL_INTERVAL,
  removeIntegration,
} from "../services/automation/integrations/integrations.ts";
import {
  assertAdapterLicensed,
  listAdapters,
} from "../services/automation/integrations/licensed_adapters.ts";
import type { Deps } from "../services/deps.ts";
import { EDITIONS } from "../services/edition.ts";
import { endpoint } from "./contract/endpoint.ts";
import { Done, Name, paged, pagingQuery, Timestamp } from "./contract/shapes.ts";
import { From, To } from "./contract/time_range.ts";

const AdapterId = z.string().min(1).max(50).meta({
  description: "An id from `GET /api/integrations/adapters`, or the name of the system",
});
const Config = z.record(z.string(), z.unknown()).meta({
  description:
    "Depends on the adapter. Secrets are shown as `********`; sent unchanged, they are kept",
});
const PollInterval = z.int().min(POLL_INTERVAL.min).max(POLL_INTERVAL.max).meta({
  description: "Seconds",
});

const NewIntegration = z.object({
  adapter: AdapterId,
  name: Name,
  config: Config,
  poll_interval: PollInterval.default(POLL_INTERVAL.fallback),
  enabled: z.boolean().default(true),
}).meta({
  id: "NewIntegration",
  example: {
    adapter: "metrics-query",
    name: "Monitoring",
    config: {
      url: "http://prometheus.internal:9090",
      bearerToken: "secret",
      queries: [{ name: "requests", query: "sum(rate(http_requests_total[5m]))", unit: "1/s" }],
    },
    poll_interval: 60,
  },
});

const IntegrationChange = z.object({
  adapter: AdapterId.optional(),
  name: Name.optional(),
  config: Config.optional(),
  poll_interval: PollInterval.optional(),
  enabled: z.boolean().optional(),
}).meta({
  id: "IntegrationChanges",
  example: { name: "Monitoring", poll_interval: 30, enabled: true },
});

const Integration = z.object({
  id: z.string(),
  adapter: z.string(),
  name: z.string(),
  config: Config,
  poll_interval: PollInterval,
  enabled: z.boolean(),
  last_poll_at: Timestamp.nullable(),
  last_status: z.enum(["ok", "error", "never"]),
  last_error: z.string().nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
}).meta({ id: "Integration" });

const Adapter = z.object({
  id: z.string().meta({ example: "metrics-query" }),
  name: z.string().meta({ example: "Metrics query (Prometheus)" }),
  edition: z.enum(EDITIONS),
  available: z.boolean().meta({ description: "Whether the current edition includes it" }),
  config: z.object({
    required: z.array(z.string()),
    optional: z.array(z.string()),
    sensitive: z.array(z.string()),
  }),
}).meta({ id: "IntegrationAdapter" });

const DataRecord = z.object({
  id: z.string(),
  integration_id: z.string(),
  type: z.enum(DATA_TYPES),
  name: z.string(),
  value: z.number().nullable(),
  unit: z.string().nullable(),
  labels: z.record(z.string(), z.string()),
  severity: z.string().nullable(),
  status: z.string().nullable(),
  detail: z.string().nullable(),
  timestamp: Timestamp.meta({ description: "For an alert, when it was last seen in this state" }),
}).meta({ id: "IntegrationRecord" });

const DataQuery = z.object({
  type: z.enum(DATA_TYPES).optional(),
  since: From,
  until: To,
  ...pagingQuery(100),
});

const UNKNOWN = { 404: "The integration does not exist" };
const UNLICENSED = { 402: "The edition does not include the adapter" };

const READ = { role: "viewer", permission: "integrations:read" } as const;
const WRITE = { role: "admin", permission: "integrations:write" } as const;

export const integrationEndpoints = (deps: Deps) => [
  endpoint("GET /api/integrations/adapters", {
    operationId: "listAdapters",
    summary: "List integration adapters",
    description: "The supported systems, with their configuration fields.",
    ...READ,
    returns: z.object({ adapters: z.array(Adapter) }).meta({ id: "AdapterList" }),
  }, async () => ({ adapters: await listAdapters(deps) })),

  endpoint("GET /api/integrations", {
    operationId: "listIntegrations",
    summary: "List integrations",
    description: "Newest first.",
    ...READ,
    returns: z.object({ integrations: z.array(Integration) }).meta({ id: "IntegrationList" }),
  }, () => ({ integrations: listIntegrations(deps).map(integrationOf) })),

  endpoint("GET /api/integrations/:id", {
    operationId: "getIntegration",
    summary: "Get an integration",
    ...READ,
    returns: Integration,
    failures: UNKNOWN,
  }, ({ params }) => integrationOf(getIntegration(deps, params.id))),

  endpoint(
    "POST /api/integrations",
    {
      operationId: "createIntegration",
      summary: "Create an integration",
      description:
        "The address may be private. Link-local addresses, cloud metadata services and this " +
        "host's loopback are rejected unless `OUTBOUND_ALLOW` lists them.",
      ...WRITE,
      body: NewIntegration,
      assertLicensed: (body) => assertAdapterLicensed(deps, body.adapter),
      returns: Integration,
      status: 201,
      failures: {
        402: "The edition does not include the adapter, or its limit of integrations is reached",
      },
    },
    async ({ body: { poll_interval: pollInterval, ...input } }) =>
      integrationOf(await createIntegration(deps, { ...input, pollInterval })),
  ),

  endpoint(
    "PUT /api/integrations/:id",
    {
      operationId: "updateIntegration",
      summary: "Update an integration",
      description:
        "Omitted fields keep their values. `config` is replaced as a whole. A secret sent " +
        "back as `********` is kept, unless the adapter or the address (scheme, host or port) " +
        "changes.",
      ...WRITE,
      body: IntegrationChange,
      assertLicensed: (body, params) => assertAdapterLicensed(deps, body.adapter, params.id),
      returns: Integration,
      failures: {
        ...UNLICENSED,
        ...UNKNOWN,
        409: "It was changed by another request at the same time",
      },
    },
    async ({ params, body: { poll_interval: pollInterval, ...change } }) =>
      integrationOf(await changeIntegration(deps, params.id, { ...change, pollInterval })),
  ),

  endpoint("DELETE /api/integrations/:id", {
    operationId: "deleteIntegration",
    summary: "Delete an integration",
    description: "Also deletes its data.",
    ...WRITE,
    returns: Done,
    failures: UNKNOWN,
  }, ({ params }) => removeIntegration(deps, params.id)),

  endpoint("POST /api/integrations/:id/test", {
    operationId: "testIntegration",
    summary: "Test an integration",
    description: "Sends the smallest request that verifies the address and the credentials.",
    ...WRITE,
    returns: z.object({
      ok: z.boolean(),
      latency_ms: z.int().meta({ example: 12 }),
      error: z.string().nullable(),
    }).meta({ id: "IntegrationTest" }),
    failures: { ...UNLICENSED, ...UNKNOWN },
  }, async ({ params }) => {
    const { latencyMs, ...result } = await testIntegration(deps, params.id);
    return { ...result, latency_ms: latencyMs };
  }),

  endpoint("POST /api/integrations/:id/poll", {
    operationId: "pollIntegration",
    summary: "Poll an integration now",
    description:
      "Disabled integrations are polled as well. If a poll is already running, its result " +
      "is returned.",
    ...WRITE,
    returns: z.object({
      ok: z.boolean(),
      records: z.int().meta({ description: "Number of stored records", example: 14 }),
      duration_ms: z.int().meta({ example: 35 }),
      error: z.string().nullable(),
    }).meta({ id: "IntegrationPoll" }),
    failures: { ...UNLICENSED, ...UNKNOWN },
  }, async ({ params }) => {
    const { durationMs, ...result } = await pollIntegration(deps, params.id);
    return { ...result, duration_ms: durationMs };
  }),

  endpoint("GET /api/integrations/:id/data", {
    operationId: "listIntegrationData",
    summary: "List integration data",
    description: "Newest first. Kept for 7 days, at most 100,000 records per integration; a poll " +
      "stores at most 1,000.",
    ...READ,
    query: DataQuery,
    returns: paged({ data: z.array(DataRecord) }).meta({ id: "IntegrationData" }),
    failures: UNKNOWN,
  }, ({ params, query }) => {
    const { data, ...page } = listIntegrationData(deps, params.id, query);
    return { data: data.map(recordOf), ...page };
  }),
];

/** Maps to the field names of the API. */
function integrationOf(
  { pollInterval, lastPollAt, lastStatus, lastError, createdAt, updatedAt, ...rest }:
    IntegrationView,
) {
  return {
    ...rest,
    poll_interval: pollInterval,
    last_poll_at: lastPollAt,
    last_status: lastStatus,
    last_error: lastError,
    created_at: createdAt,
    updated_at: updatedAt,
  };
}

const recordOf = ({ integrationId, ...rest }: Data) => ({ ...rest, integration_id: integrationId });
