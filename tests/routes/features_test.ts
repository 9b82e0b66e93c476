import { deepEqual, match } from "node:assert/strict";
import { everyRoute } from "../../routes/editions.ts";
import { editionNeeded } from "../../routes/features.ts";
import { testApp } from "../helpers/test_app.ts";

Deno.test("the sentence about a missing edition ends with the resource, for every endpoint", async () => {
  using app = testApp();
  const resources = new Set<string>();
  for (const { edition, endpoints } of await everyRoute(app.deps)) {
    if (edition === "ce") continue;
    for (const endpoint of endpoints) {
      if (endpoint.hiddenUnlicensed) continue;
      const sentence = editionNeeded(endpoint, edition);
      match(
        sentence,
        /^(?!This feature).+ needs? the (Pro|Enterprise) edition \([a-z ]+\)$/,
        endpoint.path,
      );
      resources.add(/\((.*)\)$/.exec(sentence)![1]!);
    }
  }
  deepEqual([...resources].sort(), [
    "branding",
    "chatops",
    "compliance",
    "encryption",
    "incidents",
    "ip allowlist",
    "mtls",
    "remediation rules",
    "roles",
    "sla",
    "sso",
    "status pages",
    "uptime monitors",
  ]);
});
