/** Shared steps of the tests of integrations and adapters. @module */

import { equal } from "node:assert/strict";
import type { Edition } from "../../services/edition.ts";
import { LOOPBACK_ALLOWED } from "./fake_system.ts";
import { type TestApp, testApp } from "./test_app.ts";

/** An application that may send requests to loopback. */
export const integrationsApp = (
  { edition = "ce", now = "2026-03-01T12:00:00Z" }: { edition?: Edition; now?: string } = {},
): TestApp => testApp({ edition, now, config: LOOPBACK_ALLOWED });

/** Creates an integration. @returns Its id. */
export async function integrate(
  app: TestApp,
  adapter: string,
  config: unknown,
  rest: Record<string, unknown> = {},
): Promise<string> {
  const created = await app.call("POST", "/api/integrations", {
    adapter,
    name: `a ${adapter}`,
    config,
    ...rest,
  });
  equal(created.status, 201, JSON.stringify(created.body));
  return created.body.id;
}

/** Polls once. @returns The outcome with all data, without ids and times. */
export async function pollOnce(app: TestApp, id: string) {
  const outcome = (await app.call("POST", `/api/integrations/${id}/poll`)).body;
  const { data } = (await app.call("GET", `/api/integrations/${id}/data?limit=500`)).body;
  return {
    outcome: { ok: outcome.ok, records: outcome.records, error: outcome.error },
    data: (data as Record<string, unknown>[]).map(({ id: _, integration_id: __, ...rest }) => rest),
  };
}
