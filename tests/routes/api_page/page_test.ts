/**
 * The API page as it is served. How it looks and works is seen in a browser.
 *
 * @module
 */

import { doesNotMatch, equal, match, notEqual, ok } from "node:assert/strict";
import { type API_PAGE_PATHS, apiPage } from "../../../routes/api_page/page.ts";

const get = (path: typeof API_PAGE_PATHS[number], headers: Record<string, string> = {}) =>
  apiPage(path, new Request(`http://localhost${path}`, { headers }));

Deno.test("the page names its parts by their content, and they are cached for good", async () => {
  const html = await (await get("/docs")).text();

  for (const path of ["/docs/page.css", "/docs/page.js"] as const) {
    const part = await get(path);
    const name = part.headers.get("etag")!.replaceAll('"', "");
    ok(html.includes(`"${path}?v=${name}"`));
    match(part.headers.get("cache-control")!, /immutable/);
    notEqual(await part.text(), "");
  }
  equal((await get("/docs")).headers.get("cache-control"), "no-cache");
  doesNotMatch(html, /\{\{/);
});

Deno.test("the page loads nothing from elsewhere and holds no inline script or style", async () => {
  const html = await (await get("/docs")).text();

  for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) {
    match(address!, /^(\/(docs|openapi)|#|data:)/);
  }
  doesNotMatch(html, /<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
  doesNotMatch(await (await get("/docs/page.css")).text(), /url\(|@import/);
});

Deno.test("no part puts markup from text into the page or runs text as a script", async () => {
  doesNotMatch(
    await (await get("/docs/page.js")).text(),
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?:\/\/(?!")/,
  );
});

Deno.test("the policy allows scripts, styles and calls of the service itself only", async () => {
  const policy = (await get("/docs")).headers.get("content-security-policy")!;

  match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  doesNotMatch(policy, /unsafe/);
});

for (
  const { accepts, encoding } of [
    { accepts: "gzip, deflate, br", encoding: "gzip" },
    { accepts: "br;q=1.0, gzip;q=0.8", encoding: "gzip" },
    { accepts: "gzip;q=0", encoding: null },
    { accepts: "identity", encoding: null },
  ]
) {
  Deno.test(`"Accept-Encoding: ${accepts}" gets ${encoding ?? "plain text"}`, async () => {
    const packed = await get("/docs/page.js", { "accept-encoding": accepts });

    equal(packed.headers.get("content-encoding"), encoding);
    const stream = encoding === null
      ? packed.body!
      : packed.body!.pipeThrough(new DecompressionStream("gzip"));
    equal(await new Response(stream).text(), await (await get("/docs/page.js")).text());
  });
}

Deno.test("a client that has a part already gets 304", async () => {
  const etag = (await get("/docs/page.js")).headers.get("etag")!;

  for (const known of [etag, `"other", W/${etag}`, "*"]) {
    const answer = await get("/docs/page.js", { "if-none-match": known });
    equal(answer.status, 304);
    equal(answer.body, null);
  }
  equal((await get("/docs/page.js", { "if-none-match": '"other"' })).status, 200);
});
