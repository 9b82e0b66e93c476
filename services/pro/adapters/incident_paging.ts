/**
 * Adapter for PagerDuty: reads open and recently resolved incidents.
 * Source: https://developer.pagerduty.com/api-reference/ (REST API v2, list incidents)
 *
 * @module
 */

import * as z from "zod";
import { type AdapterRecord, dataRecord } from "../../automation/integrations/record.ts";
import { type AdapterContext, askJson, under } from "../../automation/integrations/request.ts";
import { adapter, Address, HeaderSecret } from "../../automation/integrations/adapter.ts";

/** Incidents per page (PagerDuty's limit), and pages of open incidents per poll. */
const PAGE = 100;
const PAGES_MAX = 3;

/** Resolved incidents are read if they were created within this time, in milliseconds. */
const RESOLVED_WITHIN_MS = 7 * 24 * 60 * 60 * 1000;

const Config = z.object({
  apiKey: HeaderSecret,
  serviceIds: z.array(z.string().regex(/^[A-Za-z0-9]{1,40}$/, { error: "is not a service ID" }))
    .max(100).optional(),
  api_url: Address.optional(),
});
type Config = z.output<typeof Config>;

const Summary = z.object({ summary: z.string().nullish() }).nullish();

const Incidents = z.object({
  incidents: z.array(z.object({
    id: z.string(),
    incident_number: z.number().nullish(),
    title: z.string().nullish(),
    status: z.string(),
    urgency: z.string().nullish(),
    priority: Summary,
    service: Summary,
    created_at: z.string().nullish(),
    last_status_change_at: z.string().nullish(),
    html_url: z.string().nullish(),
  })),
  more: z.boolean().nullish(),
});

export const incidentPaging = adapter({
  config: Config,
  addresses: ["api_url"],
  sensitive: ["apiKey"],
  target: (config) => base(config),

  async fetch(context, config) {
    const { records, complete } = await fetchOpenIncidents(context, config);
    const resolved = await fetchIncidents(context, config, {
      statuses: ["resolved"],
      since: new Date(context.now.getTime() - RESOLVED_WITHIN_MS).toISOString(),
      until: context.now.toISOString(),
      sort_by: "resolved_at:desc",
    });
    return {
      records: [...records, ...resolved.records],
      alertsComplete: complete,
      problem: null,
    };
  },

  async test(context, config) {
    await fetchIncidents(context, config, { statuses: ["triggered"], limit: "1" });
  },
});

const base = ({ api_url = "https://api.pagerduty.com" }: Pick<Config, "api_url">) => api_url;

async function fetchOpenIncidents(
  context: AdapterContext,
  config: Config,
): Promise<{ records: AdapterRecord[]; complete: boolean }> {
  const records: AdapterRecord[] = [];
  for (let page = 0; page < PAGES_MAX; page++) {
    const result = await fetchIncidents(context, config, {
      statuses: ["triggered", "acknowledged"],
      // Regardless of their age.
      date_range: "all",
      offset: String(page * PAGE),
    });
    records.push(...result.records);
    if (!result.more) return { records, complete: true };
  }
  return { records, complete: false };
}

async function fetchIncidents(
  context: AdapterContext,
  { apiKey, serviceIds = [], ...config }: Config,
  { statuses, ...query }: { statuses: string[] } & Record<string, string | string[]>,
): Promise<{ records: AdapterRecord[]; more: boolean }> {
  const search = new URLSearchParams({ limit: String(PAGE), ...query as Record<string, string> });
  for (const status of statuses) search.append("statuses[]", status);
  for (const id of serviceIds) search.append("service_ids[]", id);

  const { incidents, more } = await askJson(context, {
    url: under(base(config), "/incidents", search),
    headers: {
      accept: "application/vnd.pagerduty+json;version=2",
      authorization: `Token token=${apiKey}`,
    },
  }, Incidents);
  const records = incidents.slice(0, PAGE).map((incident) => {
    const active = incident.status !== "resolved";
    return dataRecord(context, {
      type: "alert",
      name: incident.title || `Incident ${incident.incident_number ?? incident.id}`,
      labels: {
        incident_id: incident.id,
        incident_number: incident.incident_number?.toString(),
        service: incident.service?.summary ?? undefined,
        priority: incident.priority?.summary ?? undefined,
      },
      severity: incident.urgency,
      status: incident.status,
      detail: incident.html_url,
      key: `incident ${incident.id}`,
      active,
      at: active ? undefined : incident.last_status_change_at ?? incident.created_at,
    });
  });
  return { records, more: more ?? false };
}
