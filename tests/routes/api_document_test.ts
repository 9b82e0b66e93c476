/** /openapi.json: same as `longshore openapi`, compressed, with an ETag. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { apiDocument } from "../helpers/api_document.ts";
import { testApp } from "../helpers/test_app.ts";

const get = (app: ReturnType<typeof testApp>, headers: Record<string, string> = {}) =>
  app.fetch("GET", "/openapi.json", undefined, { role: "public", headers });

Deno.test("GET /openapi.json is the document that longshore openapi prints", async () => {
  using app = testApp();

  const { status, body } = await app.call("GET", "/openapi.json", undefined, { role: "public" });

  equal(status, 200);
  deepEqual(body, apiDocument);
});

Deno.test("GET /openapi.json is compressed for clients that accept gzip", async () => {
  using app = testApp();

  const plain = await (await get(app)).text();
  const packed = await get(app, { "accept-encoding": "gzip" });

  equal(packed.headers.get("content-encoding"), "gzip");
  match(packed.headers.get("vary")!, /accept-encoding/);
  const bytes = await packed.arrayBuffer();
  ok(bytes.byteLength < plain.length / 5, `${bytes.byteLength} of ${plain.length}`);
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  equal(await new Response(stream).text(), plain);
});

Deno.test("GET /openapi.json is 304 for a client with a current copy", async () => {
  using app = testApp();
  const first = await get(app);
  await first.body?.cancel();

  const again = await get(app, { "if-none-match": first.headers.get("etag")! });

  equal(again.status, 304);
  equal(again.body, null);
});
