/**
 * Adapter for Grafana: states of alert rules and annotations.
 * Sources: https://grafana.com/docs/grafana/latest/developers/http_api/annotations/ and Grafana's
 * Prometheus-compatible rules API.
 *
 * @module
 */

import * as z from "zod";
import { type AdapterRecord, dataRecord } from "../record.ts";
import { type AdapterContext, askJson, under } from "../request.ts";
import { adapter, Address, HeaderSecret } from "../adapter.ts";

const RULES_MAX = 500;
const ANNOTATIONS_MAX = 200;

const Config = z.object({ url: Address, apiKey: HeaderSecret });
type Config = z.output<typeof Config>;

const Labels = z.record(z.string(), z.string()).nullish();

const Rules = z.object({
  status: z.literal("success"),
  data: z.object({
    groups: z.array(z.object({
      name: z.string(),
      file: z.string().nullish(),
      rules: z.array(z.object({
        uid: z.string().nullish(),
        name: z.string(),
        /** `alerting` or `recording`; only alerting rules have a state. */
        type: z.string().nullish(),
        state: z.string().nullish(),
        labels: Labels,
        annotations: Labels,
        alerts: z.array(z.object({
          state: z.string().nullish(),
          activeAt: z.string().nullish(),
        })).nullish(),
      })),
    })).nullish(),
  }),
});

const Annotations = z.array(z.object({
  id: z.number(),
  /** Milliseconds since 1970. */
  time: z.number(),
  text: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  dashboardUID: z.string().nullish(),
  panelId: z.number().nullish(),
  alertName: z.string().nullish(),
  newState: z.string().nullish(),
}));

export const dashboard = adapter({
  config: Config,
  addresses: ["url"],
  sensitive: ["apiKey"],
  target: ({ url }) => url,

  async fetch(context, config) {
    const { rules, complete } = await fetchRules(context, config);
    return {
      records: [...rules, ...await fetchAnnotations(context, config, ANNOTATIONS_MAX)],
      alertsComplete: complete,
      problem: null,
    };
  },

  async test(context, config) {
    await fetchAnnotations(context, config, 1);
  },
});

async function fetchRules(
  context: AdapterContext,
  config: Config,
): Promise<{ rules: AdapterRecord[]; complete: boolean }> {
  const { data } = await askJson(context, {
    url: under(config.url, "/api/prometheus/grafana/api/v1/rules"),
    headers: headers(config),
  }, Rules);

  const rules = (data.groups ?? []).flatMap(({ name: group, file, rules }) =>
    rules.filter(({ type }) => type !== "recording").map((rule) => {
      const state = rule.state ?? "unknown";
      const active = state === "firing" || state === "pending";
      const alerts = (rule.alerts ?? []).filter((each) => each.state !== "Normal");
      const since = alerts.map((each) => each.activeAt ?? "").sort()[0] ?? "";
      const identity = rule.uid ?? JSON.stringify([file ?? "", group, rule.name]);
      return dataRecord(context, {
        type: "alert",
        name: rule.name,
        value: alerts.length,
        labels: { ...rule.labels, ...(file ? { folder: file } : {}), group },
        severity: rule.labels?.severity,
        status: state,
        detail: rule.annotations?.summary ?? rule.annotations?.description,
        // A rule that fires again later is a new alert.
        key: `rule ${identity} ${active ? since : "idle"}`,
        active,
      });
    })
  );
  // Active alerts first, so that the limit does not drop them.
  rules.sort((a, b) => Number(b.active) - Number(a.active));
  return { rules: rules.slice(0, RULES_MAX), complete: rules.length <= RULES_MAX };
}

async function fetchAnnotations(
  context: AdapterContext,
  config: Config,
  limit: number,
): Promise<AdapterRecord[]> {
  const list = await askJson(context, {
    url: under(config.url, "/api/annotations", {
      from: context.since.getTime(),
      to: context.now.getTime(),
      limit,
    }),
    headers: headers(config),
  }, Annotations);
  return list.slice(0, limit).map((each) =>
    dataRecord(context, {
      type: "event",
      name: each.alertName || each.text || "annotation",
      labels: {
        tags: each.tags?.length ? each.tags.join(",") : undefined,
        dashboard: each.dashboardUID || undefined,
        panel: each.panelId ? String(each.panelId) : undefined,
      },
      status: each.newState,
      detail: each.text,
      key: `annotation ${each.id}`,
      at: each.time / 1000,
    })
  );
}

const headers = ({ apiKey }: Config) => ({ authorization: `Bearer ${apiKey}` });
