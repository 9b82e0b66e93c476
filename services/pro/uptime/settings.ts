/** Settings of a monitor: validates and merges a change for storage. @module */

import type { MonitorType, StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertOutboundHost, assertOutboundUrl, type OutboundDeps } from "../../outbound/url.ts";
import { GIVE_AGAIN, isElsewhere, NOTHING_STORED, REDACTED } from "../../text/redact.ts";
import { checkedHeaders } from "../../outbound/secret_headers.ts";
import { dnsNameProblem, type RecordType } from "./dns_lookup.ts";
import { keepsSecrets, redactedUrl, unredactedUrl } from "../../outbound/url_secrets.ts";
import { normalizeExpectedStatus } from "./expected_status.ts";
import { parseHostPort } from "./probe.ts";
import { type MonitorRequest, openRequestOrConflict, sealRequest } from "./request.ts";

/** Limit of headers per monitor. */
export const MONITOR_HEADERS_MAX = 20;

export const MONITOR_DEFAULTS = {
  method: "GET",
  expectedStatus: "200",
  recordType: "A",
  timeoutMs: 5_000,
  intervalSeconds: 60,
  retries: 1,
} as const;

export const MONITOR_METHODS = [
  "GET",
  "HEAD",
  "POST",
  "PUT",
  "PATCH",
  "DELETE",
  "OPTIONS",
] as const;

/** Changed fields of a monitor. A missing field keeps its value; a new monitor gets the default. */
export interface MonitorChange {
  name?: string | undefined;
  type?: MonitorType | undefined;
  url?: string | undefined;
  method?: string | null | undefined;
  /** Numbers and ranges, e.g. `200-299,301`. */
  expectedStatus?: string | null | undefined;
  keyword?: string | null | undefined;
  recordType?: RecordType | null | undefined;
  expected?: string | null | undefined;
  timeoutMs?: number | undefined;
  intervalSeconds?: number | undefined;
  retries?: number | undefined;
  headers?: Record<string, string> | undefined;
  body?: string | null | undefined;
  autoIncident?: boolean | undefined;
}

export type NewMonitor = MonitorChange & { name: string; type: MonitorType; url: string };

/** The complete settings as stored. */
type MonitorSettings = Omit<
  StoredMonitor,
  "id" | "paused" | "status" | "createdAt" | "updatedAt"
>;

/**
 * Fields that only one type has. Method and expected status are accepted for every type, because
 * they have defaults.
 */
const TYPE_FIELDS = [
  { field: "keyword", name: "keyword", type: "http" },
  { field: "headers", name: "headers", type: "http" },
  { field: "body", name: "body", type: "http" },
  { field: "recordType", name: "record_type", type: "dns" },
  { field: "expected", name: "expected", type: "dns" },
] as const;

/**
 * The settings of a monitor after a change. A new type keeps only the name, URL, timing and
 * automatic incidents.
 *
 * @throws {AppError} `invalid`; `conflict` if the stored secrets cannot be decrypted.
 */
export function monitorSettings(
  { secrets }: Pick<Deps, "secrets">,
  id: string,
  change: MonitorChange,
  stored: StoredMonitor | undefined,
): MonitorSettings {
  const type = change.type ?? stored!.type;
  for (const { field, name, type: required } of TYPE_FIELDS) {
    const value = change[field];
    const isSet = typeof value === "object" && value
      ? Object.keys(value).length > 0
      : value != null;
    if (isSet && type !== required) {
      throw new AppError("invalid", `body.${name}: only for monitors of type ${required}`);
    }
  }
  const old = stored?.type === type ? stored : undefined;
  const isHttp = type === "http";
  const isDns = type === "dns";
  const url = change.url ?? stored!.url;
  return {
    name: change.name ?? stored!.name,
    type,
    url: isHttp ? redactedUrl(url) : url,
    method: isHttp ? merge(change.method, old?.method) ?? MONITOR_DEFAULTS.method : null,
    expectedStatus: isHttp
      ? parseExpectedStatus(
        merge(change.expectedStatus, old?.expectedStatus) ?? MONITOR_DEFAULTS.expectedStatus,
      )
      : null,
    keyword: isHttp ? merge(change.keyword, old?.keyword) : null,
    recordType: isDns
      ? merge(change.recordType, old?.recordType) ?? MONITOR_DEFAULTS.recordType
      : null,
    expected: isDns ? merge(change.expected, old?.expected) : null,
    timeoutMs: change.timeoutMs ?? stored?.timeoutMs ?? MONITOR_DEFAULTS.timeoutMs,
    intervalSeconds: change.intervalSeconds ?? stored?.intervalSeconds ??
      MONITOR_DEFAULTS.intervalSeconds,
    retries: change.retries ?? stored?.retries ?? MONITOR_DEFAULTS.retries,
    sealed: isHttp
      ? sealRequest(secrets, id, mergeRequest(secrets, { ...change, url }, old))
      : null,
    autoIncident: change.autoIncident ?? stored?.autoIncident ?? false,
  };
}

/** `undefined` keeps the stored value; `null` removes it. */
const merge = <T>(change: T | null | undefined, stored: T | null | undefined): T | null =>
  change === undefined ? stored ?? null : change;

function parseExpectedStatus(text: string): string {
  const normalized = normalizeExpectedStatus(text);
  if (normalized !== undefined) return normalized;
  throw new AppError(
    "invalid",
    "body.expected_status: must be statuses or ranges from 100 to 599, e.g. 200-299,301",
  );
}

/**
 * Merges headers, body and URL with the stored ones.
 *
 * @throws {AppError} `invalid`; `conflict` if the stored ones cannot be decrypted.
 */
function mergeRequest(
  secrets: Deps["secrets"],
  { url, headers, body }: MonitorChange & { url: string },
  stored: StoredMonitor | undefined,
): MonitorRequest {
  const old: MonitorRequest = stored
    ? openRequestOrConflict(secrets, stored)
    : { headers: {}, body: null };
  const elsewhere = !!stored && isElsewhere(stored.url, url);
  const fullUrl = unredactedUrl(url, old.url ?? stored?.url);
  if (fullUrl === undefined) {
    throw new AppError(
      "invalid",
      `body.url: ${NOTHING_STORED}`,
    );
  }
  if (elsewhere && keepsSecrets(url)) throw new AppError("invalid", `body.url: ${GIVE_AGAIN}`);
  return {
    ...(redactedUrl(fullUrl) !== fullUrl && { url: fullUrl }),
    headers: checkedHeaders(headers, { stored: old.headers, elsewhere }),
    body: mergeBody(body, { stored: old.body, elsewhere }),
  };
}

/** @throws {AppError} `invalid` */
function mergeBody(
  given: string | null | undefined,
  { stored, elsewhere }: { stored: string | null; elsewhere: boolean },
): string | null {
  if (given !== undefined && given !== REDACTED) return given;
  const problem = stored === null ? given === REDACTED && NOTHING_STORED : elsewhere && GIVE_AGAIN;
  if (problem) throw new AppError("invalid", `body.body: ${problem}`);
  return stored;
}

/** @throws {AppError} `invalid` if the target does not fit the type or is not allowed. */
export async function assertTargetAllowed(
  deps: OutboundDeps,
  { type, url }: Pick<MonitorSettings, "type" | "url">,
): Promise<void> {
  if (type === "http") return void await assertOutboundUrl(deps, url, "internal", "body.url");
  if (type === "tcp") {
    const address = parseHostPort(url);
    if (!address) throw new AppError("invalid", "body.url: not host:port, e.g. db.internal:5432");
    return await assertOutboundHost(deps, address.host, "internal", "body.url");
  }
  const problem = dnsNameProblem(url);
  if (problem) throw new AppError("invalid", `body.url: ${problem}, e.g. www.example.com`);
}
