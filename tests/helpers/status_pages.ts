/** Shortcuts for tests of status pages. @module */

import { deliverDue } from "./outbox_delivery.ts";
import { type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

export const PAGES = "/api/ext/service-pro/status-pages";

/** An application with the Pro edition that may call loopback. */
export const proApp = (options: TestAppOptions = {}) =>
  testApp({
    edition: "pro",
    now: "2026-01-01T12:00:00Z",
    ...options,
    config: { outboundAllow: ["127.0.0.1"], ...options.config },
  });

/** Creates a page. @returns Its record. */
export async function newPage(app: TestApp, fields: Record<string, unknown> = {}) {
  return (await app.call("POST", PAGES, { name: "Acme", ...fields })).body;
}

/** Creates a component of a page. @returns Its record. */
export async function newComponent(
  app: TestApp,
  pageId: string,
  fields: Record<string, unknown> = {},
) {
  return (await app.call("POST", `${PAGES}/${pageId}/components`, { name: "API", ...fields })).body;
}

/** Adds a confirmed subscriber. @returns Its record. */
export async function newSubscriber(
  app: TestApp,
  pageId: string,
  address: { email: string } | { webhook_url: string },
) {
  const { body } = await app.call("POST", `${PAGES}/${pageId}/subscribers`, address);
  await app.call("GET", `${PAGES}/${pageId}/subscribers/verify/${body.verify_token}`);
  return body;
}

/** A stored monitor with its last state. */
export function newMonitor({ deps }: TestApp, id: string, status: string, paused = false): void {
  deps.db.run(
    `INSERT INTO uptime_monitors
       (id, name, type, url, method, expected_status, timeout_ms, interval_seconds, retries,
        auto_incident, paused, status, created_at, updated_at)
     VALUES (:id, 'internal name', 'http', 'http://10.0.0.5/', 'GET', '200', 5000, 60, 1, 0,
       :paused, :status, '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    { id, status, paused: Number(paused) },
  );
}

/** Sends all due messages and waits until they are sent. */
export const deliver = ({ deps }: TestApp) =>
  deliverDue(deps, { signal: new AbortController().signal });
