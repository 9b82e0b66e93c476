import { deepEqual, equal, match } from "node:assert/strict";
import { EVENT_KIND_IDS } from "../../services/events/kinds/mod.ts";
import { testApp } from "../helpers/test_app.ts";

const PATH = "/api/events/kinds";

Deno.test("GET /api/events/kinds describes every kind to viewers", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", PATH, undefined, { role: "viewer" });
  equal(status, 200);
  const kinds = body.kinds as { id: string }[];
  deepEqual(kinds.map(({ id }) => id), EVENT_KIND_IDS);
  deepEqual(kinds.find(({ id }) => id === "container.crash_looping"), {
    id: "container.crash_looping",
    group: "Containers",
    words: "crash loop",
    description: "A container exited 3 times within 5 minutes; with its last exit",
    tone: "problem",
    severity: "critical",
    phase: "begin",
    permission: "containers:read",
    isOnlyByName: false,
  });
});

Deno.test("kinds that `*` of a channel does not mean are marked", async () => {
  using app = testApp();
  const { body } = await app.call("GET", PATH);
  deepEqual(
    body.kinds.filter(({ isOnlyByName }: { isOnlyByName: boolean }) => isOnlyByName)
      .map(({ id }: { id: string }) => id),
    [
      "container.up",
      "container.healthy",
      "container.removed",
      "deploy.succeeded",
      "update.started",
      "backup.succeeded",
    ],
  );
});

Deno.test("the kinds are open to tokens that can read webhooks or a container, not to others", async () => {
  using app = testApp();
  const status = async (scope: { permissions?: string[]; containers?: string[] }) =>
    (await app.call("GET", PATH, undefined, { scope })).status;
  equal(await status({ permissions: ["webhooks:read"] }), 200);
  equal(await status({ containers: ["web"] }), 200);
  equal(await status({ permissions: ["images:pull"] }), 403);
});

Deno.test("the kinds are sent again only to clients that do not have them", async () => {
  using app = testApp();
  const first = await app.fetch("GET", PATH);
  await first.body?.cancel();
  const etag = first.headers.get("etag")!;
  match(etag, /^W?\/?"/);
  const again = await app.fetch("GET", PATH, undefined, { headers: { "if-none-match": etag } });
  equal(again.status, 304);
});
