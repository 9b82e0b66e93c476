/**
 * Adapter for Prometheus and what speaks its HTTP API (Thanos, Mimir, VictoriaMetrics): which
 * targets are up, configured queries, active alerts.
 * Source: https://prometheus.io/docs/prometheus/latest/querying/api/
 *
 * @module
 */

import * as z from "zod";
import {
  type AdapterRecord,
  dataRecord,
  labelKey,
  RECORDS_MAX,
} from "../../../integration/record.ts";
import {
  type AdapterContext,
  AdapterError,
  askJson,
  assertSuccess,
  fitting,
  readJson,
  under,
} from "../../../integration/request.ts";
import { adapter, Address, HeaderSecret } from "../../../integration/adapter.ts";

/** Most configured queries; each is a request. */
const QUERIES_MAX = 20;

/** Most alerts of one poll; there must be room for samples, too. */
const ALERTS_MAX = 500;

const Expression = z.string().min(1).max(1_000);

const NamedQuery = z.object({
  name: z.string().min(1).max(100),
  query: Expression,
  unit: z.string().min(1).max(50).optional(),
});

/** A plain expression is named after itself. */
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

/** Seconds since 1970, and the number as text: `NaN` and `+Inf` are no JSON numbers. */
const Point = z.tuple([z.number(), z.string()]);

const QueryAnswer = z.object({
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
  // Of these words only, for the rest of a refusal is the system's own text.
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
    const { alerts, complete } = await activeAlerts(context, config);
    const samples: AdapterRecord[] = [];
    const problems: string[] = [];
    for (const query of config.queries ?? []) {
      try {
        samples.push(...await instantQuery(context, config, query));
      } catch (error) {
        // One wrong expression must not cost the rest; a system that is away costs all.
        if (!(error instanceof AdapterError)) throw error;
        problems.push(`${query.name}: ${error.message}`);
      }
    }
    const up = await instantQuery(context, config, { name: "up", query: "up" });
    return {
      records: [...alerts, ...samples, ...up],
      alertsComplete: complete,
      problem: problems.length ? problems.join("; ") : null,
    };
  },

  async test(context, config) {
    await instantQuery(context, config, { name: "up", query: "up" });
  },
});

async function instantQuery(
  context: AdapterContext,
  config: Config,
  { name, query, unit }: z.output<typeof Query>,
): Promise<AdapterRecord[]> {
  const answer = await context.ask({
    url: under(config.url, "/api/v1/query", { query }),
    headers: headers(config),
  });
  const refused = answer.status >= 400 && Refusal.safeParse(tried(() => readJson(answer))).data;
  if (refused) throw new AdapterError(`The query was refused (${refused.errorType})`);
  assertSuccess(answer);
  const { data } = fitting(readJson(answer), QueryAnswer);

  switch (data.resultType) {
    case "vector":
      return data.result.slice(0, RECORDS_MAX)
        .flatMap(({ metric, value }) => value ? [sample(context, name, unit, metric, value)] : []);
    case "scalar":
      return [sample(context, name, unit, {}, data.result)];
    default:
      throw new AdapterError(`The query gives a ${data.resultType}, not one value per series`);
  }
}

function sample(
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
    value: number(value),
    unit,
    labels: rest,
    at,
  });
}

async function activeAlerts(
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
        value: number(value),
        labels: rest,
        severity,
        status: state,
        detail: annotations?.summary ?? annotations?.description,
        // The same alert that fires again later is another happening.
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

/** `null` for what has no finite value. */
function number(text: string | undefined): number | null {
  return text === undefined || text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

function tried<T>(work: () => T): T | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}
