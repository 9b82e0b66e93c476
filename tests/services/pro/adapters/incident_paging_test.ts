import { deepEqual, equal } from "node:assert/strict";
import { type Asked, fakeSystem } from "../../../helpers/fake_system.ts";
import { integrate, integrationsApp, pollOnce } from "../../../helpers/integrations.ts";

const incident = (number: number, status: string) => ({
  id: `Q${number}`,
  type: "incident",
  incident_number: number,
  title: `Incident number ${number}`,
  created_at: "2026-03-01T09:00:00Z",
  last_status_change_at: "2026-03-01T11:15:00Z",
  status,
  urgency: "high",
  priority: { id: "P1", summary: "P1" },
  service: { id: "PSVC1", type: "service_reference", summary: "Shop" },
  html_url: `https://example.pagerduty.com/incidents/Q${number}`,
});

function pagerduty(list: () => ReturnType<typeof incident>[]) {
  return fakeSystem({
    "/incidents": ({ query, headers }: Asked) => {
      if (headers.get("authorization") !== "Token token=the-key") {
        return Response.json({ error: { message: "internal secret" } }, { status: 401 });
      }
      const statuses = query.getAll("statuses[]");
      const [offset, limit] = [Number(query.get("offset") ?? 0), Number(query.get("limit"))];
      const found = list().filter(({ status }) => statuses.includes(status));
      return {
        incidents: found.slice(offset, offset + limit),
        limit,
        offset,
        total: null,
        more: found.length > offset + limit,
      };
    },
  });
}

Deno.test("incident-paging stores open and recently resolved incidents", async () => {
  await using system = pagerduty(() => [
    incident(1, "triggered"),
    incident(2, "acknowledged"),
    incident(3, "resolved"),
  ]);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "pagerduty", {
    apiKey: "the-key",
    serviceIds: ["PSVC1", "PSVC2"],
    api_url: system.url,
  });

  const { outcome, data } = await pollOnce(app, id);

  deepEqual(outcome, { ok: true, records: 3, error: null });
  deepEqual(data[0], {
    type: "alert",
    name: "Incident number 2",
    value: null,
    unit: null,
    labels: { incident_id: "Q2", incident_number: "2", service: "Shop", priority: "P1" },
    severity: "high",
    status: "acknowledged",
    detail: "https://example.pagerduty.com/incidents/Q2",
    timestamp: "2026-03-01T12:00:00.000Z",
  });
  deepEqual(data.map(({ status, timestamp }) => [status, timestamp]), [
    ["acknowledged", "2026-03-01T12:00:00.000Z"],
    ["triggered", "2026-03-01T12:00:00.000Z"],
    ["resolved", "2026-03-01T11:15:00.000Z"],
  ]);
  const [open, resolved] = system.asked;
  deepEqual(open!.query.getAll("service_ids[]"), ["PSVC1", "PSVC2"]);
  equal(open!.query.get("date_range"), "all");
  equal(open!.headers.get("accept"), "application/vnd.pagerduty+json;version=2");
  deepEqual(
    [resolved!.query.get("since"), resolved!.query.get("until")],
    ["2026-02-22T12:00:00.000Z", "2026-03-01T12:00:00.000Z"],
  );
});

Deno.test("an incident is one record that changes its status; open ones are read page by page", async () => {
  let list = Array.from({ length: 150 }, (_, n) => incident(n, "triggered"));
  await using system = pagerduty(() => list);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "pagerduty", { apiKey: "the-key", api_url: system.url });
  equal((await pollOnce(app, id)).outcome.records, 150);

  app.clock.advance({ minutes: 1 });
  list = list.map((each, n) => n === 149 ? { ...each, status: "resolved" } : each);
  const { data } = await pollOnce(app, id);
  equal(data.length, 150);
  equal(data.filter(({ status }) => status === "resolved").length, 1);
});

Deno.test("testing incident-paging detects a wrong key", async () => {
  await using system = pagerduty(() => []);
  using app = integrationsApp({ edition: "pro" });
  const id = await integrate(app, "pagerduty", { apiKey: "wrong", api_url: system.url });
  const { body } = await app.call("POST", `/api/integrations/${id}/test`);
  deepEqual([body.ok, body.error], [
    false,
    "The system answered with status 401 (check the credentials)",
  ]);
});
