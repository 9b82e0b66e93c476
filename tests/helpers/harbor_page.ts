/** A typical status page. @module */

import { equal } from "node:assert/strict";
import type { Answer, TestApp } from "./test_app.ts";

const BASE = "/api/ext/service-pro/status-pages";

/** Calls the API of status pages. @returns The response body. */
export async function callPages(
  app: TestApp,
  path: string,
  body: unknown,
  method = "POST",
): Promise<Answer["body"]> {
  const answer = await app.call(method, BASE + path, body);
  equal(Math.floor(answer.status / 100), 2, JSON.stringify(answer.body));
  return answer.body;
}

/** A page with two groups, an open incident and two resolved ones. */
export async function harborPage(app: TestApp): Promise<Answer["body"]> {
  app.clock.set("2026-03-02T08:15:00Z");
  const page = await callPages(app, "", {
    name: "Harbor Goods",
    description: "State of our shop and of everything behind it",
    theme: { primary_color: "#0f5c6e" },
    custom_domain: "status.harbor.test",
  });
  const add = (name: string, group_name: string | null, description = "", status = "operational") =>
    callPages(app, `/${page.id}/components`, { name, group_name, description, status });
  await add("Website", "Shop", "What visitors see");
  await add("Checkout", "Shop", "Carts, payments and receipts", "partial_outage");
  await add("Search", "Shop", "", "degraded_performance");
  await add("Public API", "Developers", "For partners and apps");
  await add("Webhooks", "Developers", "", "under_maintenance");
  await add("Help center", null);
  const tell = (incident: Record<string, string>) =>
    callPages(app, `/${page.id}/incidents`, incident);
  const resolve = (id: string, message: string) =>
    callPages(app, `/${page.id}/incidents/${id}`, { status: "resolved", message }, "PUT");

  const slow = await tell({
    title: "Slow product images",
    message: "Images load slowly in some regions.",
    severity: "minor",
    status: "investigating",
  });
  app.clock.set("2026-03-02T09:40:00Z");
  await resolve(slow.id, "A cache had run full. It is larger now.");
  app.clock.set("2026-03-08T02:00:00Z");
  const upgrade = await tell({
    title: "Database upgrade",
    message: "The shop is read-only for about ten minutes.",
    severity: "maintenance",
    status: "monitoring",
  });
  app.clock.set("2026-03-08T02:12:00Z");
  await resolve(upgrade.id, "Done, a little later than planned.");
  app.clock.set("2026-03-10T13:58:00Z");
  await tell({
    title: "Card payments fail now and then",
    message: "About one in ten card payments is declined by our provider. Trying again helps.\n\n" +
      "We have moved half of the traffic to a second provider and watch the error rate.",
    severity: "major",
    status: "identified",
  });
  app.clock.set("2026-03-10T14:20:00Z");
  return page;
}
