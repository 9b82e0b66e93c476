/**
 * Adapter for Prometheus and systems with its HTTP API (Thanos, Mimir, VictoriaMetrics): state of
 * targets, configured queries and active alerts.
 * Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 *
 * @module
 */

import * as z from "zod";
import { type AdapterRecord, dataRecord, labelKey, RECORDS_MAX } from "../record.ts";
import {
  type AdapterContext,
  AdapterError,
  askJson,
  assertSuccess,
  fitting,
  readJson,
  under,
} from "../request.ts";
import { adapter, Address, HeaderSecret } from "../adapter.ts";

/** Limit of configured queries; each is one request. */
const QUERIES_MAX = 20;

/** Limit of alerts per poll, which leaves room for samples. */
const ALERTS_MAX = 500;

const Expression = z.string().min(1).max(1_000);

const NamedQuery = z.strictObject({
  name: z.string().min(1).max(100),
  query: Expression,
  unit: z.string().min(1).max(50).optional(),
});

/** A query that is only an expression has the expression as its name. */
const Query = z.preprocess(
  (value) => typeof value === "string" ? { name: value.slice(0, 100), query: value } : value,
  NamedQuery,
);

const Config = z.object({
  url: Address,
  bearerToken: HeaderSecret.optional(),
  queries: z.array(Query).max(QUERIES_MAX).optional(),
});
type Config = z.output<typeof Config>;

const Labels = z.record(z.string(), z.string());

/** Unix seconds, and the number as text, because JSON has no `NaN` and `+Inf`. */
const Point = z.tuple([z.number(), z.string()]);

const QueryResponse = z.object({
  status: z.literal("success"),
  data: z.discriminatedUnion("resultType", [
    z.object({
      resultType: z.literal("vector"),
      result: z.array(z.object({ metric: Labels, value: Point.optional() })),
    }),
    z.object({ resultType: z.literal("scalar"), result: Point }),
    z.object({ resultType: z.enum(["matrix", "string"]) }),
  ]),
});

const Refusal = z.object({
  status: z.literal("error"),
  // Other parts of a refusal are free text of the system.
  errorType: z.enum(
    ["timeout", "canceled", "execution", "bad_data", "internal", "unavailable", "not_found"],
  ),
});

const Alerts = z.object({
  status: z.literal("success"),
  data: z.object({
    alerts: z.array(z.object({
      labels: Labels,
      annotations: Labels.optional(),
      state: z.string(),
      activeAt: z.string().optional(),
      value: z.string().optional(),
    })),
  }),
});

export const metricsQuery = adapter({
  config: Config,
  addresses: ["url"],
  sensitive: ["bearerToken"],
  target: ({ url }) => url,

  async fetch(context, config) {
    const { alerts, complete } = await fetchAlerts(context, config);
    const samples: AdapterRecord[] = [];
    const problems: string[] = [];
    for (const query of config.queries ?? []) {
      try {
        samples.push(...await runQuery(context, config, query));
      } catch (error) {
        // An invalid query does not fail the poll; an unreachable system does.
        if (!(error instanceof AdapterError)) throw error;
        problems.push(`${query.name}: ${error.message}`);
      }
    }
    const up = await runQuery(context, config, { name: "up", query: "up" });
    return {
      records: [...alerts, ...samples, ...up],
      alertsComplete: complete,
      problem: problems.length ? problems.join("; ") : null,
    };
  },

  async test(context, config) {
    await runQuery(context, config, { name: "up", query: "up" });
  },
});

async function runQuery(
  context: AdapterContext,
  config: Config,
  { name, query, unit }: z.output<typeof Query>,
): Promise<AdapterRecord[]> {
  const response = await context.ask({
    url: under(config.url, "/api/v1/query", { query }),
    headers: headers(config),
  });
  const refusal = response.status >= 400 &&
    Refusal.safeParse(tryOrUndefined(() => readJson(response))).data;
  if (refusal) throw new AdapterError(`The query was refused (${refusal.errorType})`);
  assertSuccess(response);
  const { data } = fitting(readJson(response), QueryResponse);

  switch (data.resultType) {
    case "vector":
      return data.result.slice(0, RECORDS_MAX)
        .flatMap(({ metric, value }) =>
          value ? [toSample(context, name, unit, metric, value)] : []
        );
    case "scalar":
      return [toSample(context, name, unit, {}, data.result)];
    default:
      throw new AdapterError(`The query returns a ${data.resultType}, not one value per series`);
  }
}

function toSample(
  context: AdapterContext,
  name: string,
  unit: string | undefined,
  labels: Record<string, string>,
  [at, value]: z.output<typeof Point>,
): AdapterRecord {
  const { __name__: _, ...rest } = labels;
  return dataRecord(context, {
    type: "metric",
    name,
    value: parseValue(value),
    unit,
    labels: rest,
    at,
  });
}

async function fetchAlerts(
  context: AdapterContext,
  config: Config,
): Promise<{ alerts: AdapterRecord[]; complete: boolean }> {
  const { data: { alerts } } = await askJson(context, {
    url: under(config.url, "/api/v1/alerts"),
    headers: headers(config),
  }, Alerts);
  return {
    alerts: alerts.slice(0, ALERTS_MAX).map(({ labels, annotations, state, activeAt, value }) => {
      const { alertname = "alert", severity, ...rest } = labels;
      return dataRecord(context, {
        type: "alert",
        name: alertname,
        value: parseValue(value),
        labels: rest,
        severity,
        status: state,
        detail: annotations?.summary ?? annotations?.description,
        // An alert that fires again later is a new alert.
        key: `alert ${activeAt ?? ""} ${alertname} ${labelKey(labels)}`,
        active: true,
      });
    }),
    complete: alerts.length <= ALERTS_MAX,
  };
}

function headers({ bearerToken }: Config): Record<string, string> {
  return bearerToken === undefined ? {} : { authorization: `Bearer ${bearerToken}` };
}

/** `null` without a finite value. */
function parseValue(text: string | undefined): number | null {
  return text === undefined || text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

function tryOrUndefined<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
