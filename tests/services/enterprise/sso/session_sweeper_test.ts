import { deepEqual, equal } from "node:assert/strict";
import { insertAssertion } from "../../../../db/enterprise/sso/assertions.ts";
import { enterpriseWorkers } from "../../../../services/enterprise/mod.ts";
import { testApp } from "../../../helpers/test_app.ts";

Deno.test("the session sweeper runs with the license, sweeps at once, and ends when it is told", async () => {
  using app = testApp({ edition: "enterprise", now: "2026-01-01T12:00:00Z" });
  const expiries = ["2026-01-01T12:00:00.000Z", "2026-01-01T12:00:00.001Z"];
  for (const expires_at of expiries) {
    insertAssertion(app.deps.db, { entity_id: "idp", assertion_id: expires_at, expires_at });
  }
  const sweeper = enterpriseWorkers.find(({ name }) => name === "SSO session sweeper")!;
  equal(sweeper.edition, "enterprise");
  const end = new AbortController();
  let rounds = 0;

  await sweeper.run(app.deps, end.signal, () => {
    rounds++;
    end.abort();
  });

  equal(rounds, 1);
  deepEqual(
    app.deps.db.all<{ id: string }>("SELECT assertion_id AS id FROM saml_assertions")
      .map(({ id }) => id),
    [expiries[1]],
  );
});
