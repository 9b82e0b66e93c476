/**
 * Adapter for Datadog: reads the state of monitors and the event stream.
 * Source: https://docs.datadoghq.com/api/latest/ (monitors, events v1)
 *
 * @module
 */

import * as z from "zod";
import { type AdapterRecord, dataRecord } from "../../automation/integrations/record.ts";
import { type AdapterContext, askJson, under } from "../../automation/integrations/request.ts";
import { adapter, Address, HeaderSecret } from "../../automation/integrations/adapter.ts";

/** Monitors per page, and pages per poll. */
const PAGE = 200;
const PAGES_MAX = 3;
const EVENTS_MAX = 300;

const DEFAULT_SITE = "datadoghq.com";

const Config = z.object({
  apiKey: HeaderSecret,
  appKey: HeaderSecret,
  // Both keys are sent to this site, so that only Datadog's are allowed.
  site: z.string().max(100).regex(/^([a-z0-9-]+\.)?(datadoghq\.(com|eu)|ddog-gov\.com)$/, {
    error: `must be one of Datadog's sites, e.g. ${DEFAULT_SITE} or datadoghq.eu`,
  }).optional(),
  api_url: Address.optional(),
});
type Config = z.output<typeof Config>;

const Monitors = z.array(z.object({
  id: z.number(),
  name: z.string(),
  type: z.string().nullish(),
  query: z.string().nullish(),
  tags: z.array(z.string()).nullish(),
  priority: z.number().nullish(),
  overall_state: z.string().nullish(),
  overall_state_modified: z.string().nullish(),
}));

const Events = z.object({
  events: z.array(z.object({
    id: z.union([z.number(), z.string()]),
    id_str: z.string().nullish(),
    title: z.string().nullish(),
    text: z.string().nullish(),
    /** Seconds since 1970. */
    date_happened: z.number(),
    alert_type: z.string().nullish(),
    source: z.string().nullish(),
    host: z.string().nullish(),
    tags: z.array(z.string()).nullish(),
  })).nullish(),
});

/** Severities of the alerting states. */
const SEVERITY: Record<string, string> = { Alert: "critical", Warn: "warning" };

export const monitoringSaas = adapter({
  config: Config,
  addresses: ["api_url"],
  sensitive: ["apiKey", "appKey"],
  target: (config) => base(config),

  async fetch(context, config) {
    const { records, complete } = await fetchMonitors(context, config);
    // Active alerts first: the number of records is limited.
    records.sort((a, b) => Number(b.active) - Number(a.active));
    return {
      records: [...records, ...await fetchEvents(context, config)],
      alertsComplete: complete,
      problem: null,
    };
  },

  async test(context, config) {
    await fetchMonitorPage(context, config, 0, 1);
  },
});

async function fetchMonitors(
  context: AdapterContext,
  config: Config,
): Promise<{ records: AdapterRecord[]; complete: boolean }> {
  const records: AdapterRecord[] = [];
  for (let page = 0; page < PAGES_MAX; page++) {
    const list = await fetchMonitorPage(context, config, page, PAGE);
    for (const monitor of list.slice(0, PAGE)) {
      const state = monitor.overall_state ?? "Unknown";
      const active = state in SEVERITY;
      records.push(dataRecord(context, {
        type: "alert",
        name: monitor.name,
        labels: {
          monitor_id: String(monitor.id),
          type: monitor.type ?? undefined,
          priority: monitor.priority ? `P${monitor.priority}` : undefined,
          tags: monitor.tags?.length ? monitor.tags.join(",") : undefined,
        },
        severity: SEVERITY[state],
        status: state.toLowerCase(),
        detail: monitor.query,
        // If the same monitor alerts again later, it is a new alert.
        key: `monitor ${monitor.id} ${active ? monitor.overall_state_modified ?? "" : "idle"}`,
        active,
      }));
    }
    if (list.length < PAGE) return { records, complete: true };
  }
  return { records, complete: false };
}

async function fetchMonitorPage(
  context: AdapterContext,
  config: Config,
  page: number,
  page_size: number,
): Promise<z.output<typeof Monitors>> {
  return await askJson(context, {
    url: under(base(config), "/api/v1/monitor", { page, page_size }),
    headers: headers(config),
  }, Monitors);
}

async function fetchEvents(context: AdapterContext, config: Config): Promise<AdapterRecord[]> {
  const { events } = await askJson(context, {
    url: under(base(config), "/api/v1/events", {
      start: Math.floor(context.since.getTime() / 1000),
      end: Math.floor(context.now.getTime() / 1000),
    }),
    headers: headers(config),
  }, Events);
  return (events ?? []).slice(0, EVENTS_MAX).map((event) =>
    dataRecord(context, {
      type: "event",
      name: event.title || "event",
      labels: {
        source: event.source || undefined,
        host: event.host || undefined,
        tags: event.tags?.length ? event.tags.join(",") : undefined,
      },
      severity: event.alert_type,
      detail: event.text,
      // Ids exceed the exact range of a JSON number, hence the text field.
      key: `event ${event.id_str || event.id}`,
      at: event.date_happened,
    })
  );
}

const base = ({ api_url, site = DEFAULT_SITE }: Config) => api_url ?? `https://api.${site}`;

const headers = ({ apiKey, appKey }: Config) => ({
  "dd-api-key": apiKey,
  "dd-application-key": appKey,
});
