/**
 * What a monitor is told to do: from what a user says to what is stored.
 *
 * @module
 */

import type { MonitorType, StoredMonitor } from "../../../db/pro/uptime/monitors.ts";
import type { Deps } from "../../deps.ts";
import { AppError } from "../../errors.ts";
import { assertOutboundHost, assertOutboundUrl, type OutboundDeps } from "../../outbound/url.ts";
import { GIVE_AGAIN, isElsewhere, REDACTED } from "../../redact.ts";
import { checkedHeaders } from "../../outbound/secret_headers.ts";
import { SealError } from "../../secrets.ts";
import { dnsNameProblem, type RecordType } from "./dns_lookup.ts";
import { keepsSecrets, redactedUrl, unredactedUrl } from "../../outbound/url_secrets.ts";
import { normalizedExpectedStatus } from "./expected_status.ts";
import { parseHostPort } from "./probe.ts";
import { type MonitorRequest, openRequest, sealRequest } from "./request.ts";

/** Most headers of one monitor. */
export const MONITOR_HEADERS_MAX = 20;

/** What a monitor does unless it is told otherwise. */
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

/** What is told of a monitor; what is left out stays, or takes its default in a new one. */
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

/** What a monitor is told to do, in whole. */
export type MonitorSettings = Omit<
  StoredMonitor,
  "id" | "paused" | "status" | "createdAt" | "updatedAt"
>;

/** What only monitors of one type have. Method and status have defaults, and may be told anyway. */
const OWN_FIELDS = [
  { field: "keyword", name: "keyword", type: "http" },
  { field: "headers", name: "headers", type: "http" },
  { field: "body", name: "body", type: "http" },
  { field: "recordType", name: "record_type", type: "dns" },
  { field: "expected", name: "expected", type: "dns" },
] as const;

/**
 * The settings of a monitor after a change. Of one that becomes another type only the name and the
 * times stay.
 *
 * @throws {AppError} `invalid`; `conflict` when its stored secrets cannot be read.
 */
export function monitorSettings(
  { secrets }: Pick<Deps, "secrets">,
  id: string,
  change: MonitorChange,
  stored: StoredMonitor | undefined,
): MonitorSettings {
  const type = change.type ?? stored!.type;
  for (const { field, name, type: own } of OWN_FIELDS) {
    const told = change[field];
    const isTold = typeof told === "object" && told ? Object.keys(told).length > 0 : told != null;
    if (isTold && type !== own) {
      throw new AppError("invalid", `body.${name}: only monitors of type ${own} have it`);
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
    method: isHttp ? told(change.method, old?.method) ?? MONITOR_DEFAULTS.method : null,
    expectedStatus: isHttp
      ? expectedStatus(
        told(change.expectedStatus, old?.expectedStatus) ?? MONITOR_DEFAULTS.expectedStatus,
      )
      : null,
    keyword: isHttp ? told(change.keyword, old?.keyword) : null,
    recordType: isDns
      ? told(change.recordType, old?.recordType) ?? MONITOR_DEFAULTS.recordType
      : null,
    expected: isDns ? told(change.expected, old?.expected) : null,
    timeoutMs: change.timeoutMs ?? stored?.timeoutMs ?? MONITOR_DEFAULTS.timeoutMs,
    intervalSeconds: change.intervalSeconds ?? stored?.intervalSeconds ??
      MONITOR_DEFAULTS.intervalSeconds,
    retries: change.retries ?? stored?.retries ?? MONITOR_DEFAULTS.retries,
    sealed: isHttp ? sealRequest(secrets, id, request(secrets, { ...change, url }, old)) : null,
    autoIncident: change.autoIncident ?? stored?.autoIncident ?? false,
  };
}

/** Nothing told keeps what is stored; `null` takes it away. */
const told = <T>(change: T | null | undefined, stored: T | null | undefined): T | null =>
  change === undefined ? stored ?? null : change;

function expectedStatus(text: string): string {
  const normalized = normalizedExpectedStatus(text);
  if (normalized !== undefined) return normalized;
  throw new AppError(
    "invalid",
    "body.expected_status: not statuses from 100 to 599 or ranges of them, e.g. 200-299,301",
  );
}

/**
 * Headers, body and address after a change, with the values that are kept.
 *
 * @throws {AppError} `invalid`; `conflict` when the stored ones cannot be read.
 */
function request(
  secrets: Deps["secrets"],
  { url, headers, body }: MonitorChange & { url: string },
  stored: StoredMonitor | undefined,
): MonitorRequest {
  const old: MonitorRequest = stored ? opened(secrets, stored) : { headers: {}, body: null };
  const elsewhere = !!stored && isElsewhere(stored.url, url);
  const whole = unredactedUrl(url, old.url ?? stored?.url);
  if (whole === undefined) {
    throw new AppError(
      "invalid",
      `body.url: "${REDACTED}" keeps a stored value, and there is none`,
    );
  }
  if (elsewhere && keepsSecrets(url)) throw new AppError("invalid", `body.url: ${GIVE_AGAIN}`);
  return {
    ...(redactedUrl(whole) !== whole && { url: whole }),
    headers: checkedHeaders(headers, { stored: old.headers, elsewhere }),
    body: checkedBody(body, { stored: old.body, elsewhere }),
  };
}

/** @throws {AppError} `invalid` */
function checkedBody(
  given: string | null | undefined,
  { stored, elsewhere }: { stored: string | null; elsewhere: boolean },
): string | null {
  if (given !== undefined && given !== REDACTED) return given;
  const problem = stored === null
    ? given === REDACTED && `"${REDACTED}" keeps a stored value, and there is none`
    : elsewhere && GIVE_AGAIN;
  if (problem) throw new AppError("invalid", `body.body: ${problem}`);
  return stored;
}

/** @throws {AppError} `invalid` for what is no target of its type, or may not be reached. */
export async function assertReachable(
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

/** @throws {AppError} `conflict` when they were encrypted with another key. */
function opened(secrets: Deps["secrets"], monitor: StoredMonitor): MonitorRequest {
  try {
    return openRequest(secrets, monitor);
  } catch (cause) {
    if (!(cause instanceof SealError)) throw cause;
    throw new AppError("conflict", `${cause.message}: delete the monitor and create it anew`, {
      cause,
    });
  }
}
