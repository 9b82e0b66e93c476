/** The API page over HTTP. `tests/browser/api_page_test.ts` tests it in a browser. @module */

import { doesNotMatch, equal, match, notEqual, ok } from "node:assert/strict";
import { createApiPage } from "../../../routes/api_page/page.ts";
import { sendRepresentation } from "../../../routes/pipeline/representation.ts";

const page = createApiPage();

function get(path: string, requestHeaders: Record<string, string> = {}) {
  const request = new Request(`http://localhost${path}`, { headers: requestHeaders });
  const { status, headers, body } = sendRepresentation(page.get(path)!, request);
  return new Response(body, { status, headers });
}

Deno.test("the page's files are named by their content and cached permanently", async () => {
  const html = await get("/docs").text();

  for (const path of ["/docs/page.css", "/docs/page.js"]) {
    const part = get(path);
    const name = part.headers.get("etag")!.replace(/^W\/|"/g, "");
    ok(html.includes(`"${path}?v=${name}"`));
    match(part.headers.get("cache-control")!, /immutable/);
    notEqual(await part.text(), "");
  }
  equal(get("/docs").headers.get("cache-control"), "no-cache");
  doesNotMatch(html, /\{\{/);
});

Deno.test("the page loads nothing from other hosts and has no inline script or style", async () => {
  const html = await get("/docs").text();

  for (const [, address] of html.matchAll(/(?:src|href)="([^"]*)"/g)) {
    match(address!, /^(\/(docs|openapi)|#|data:)/);
  }
  doesNotMatch(html, /<style|<script(?![^>]*\ssrc=)|\sstyle=|\son\w+=/);
  doesNotMatch(await get("/docs/page.css").text(), /url\(|@import/);
});

Deno.test("no file inserts text as markup or runs text as a script", async () => {
  doesNotMatch(
    await get("/docs/page.js").text(),
    /innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\b|new Function|https?:\/\/(?!")/,
  );
});

Deno.test("the policy allows only scripts, styles and requests of the service itself", () => {
  const policy = get("/docs").headers.get("content-security-policy")!;

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
    const packed = get("/docs/page.js", { "accept-encoding": accepts });

    equal(packed.headers.get("content-encoding"), encoding);
    const stream = encoding === null
      ? packed.body!
      : packed.body!.pipeThrough(new DecompressionStream("gzip"));
    equal(await new Response(stream).text(), await get("/docs/page.js").text());
  });
}

Deno.test("a client with a current copy gets 304", () => {
  const etag = get("/docs/page.js").headers.get("etag")!;

  for (const known of [etag, `"other", ${etag}`, etag.replace("W/", ""), "*"]) {
    const answer = get("/docs/page.js", { "if-none-match": known });
    equal(answer.status, 304);
    equal(answer.body, null);
  }
  equal(get("/docs/page.js", { "if-none-match": '"other"' }).status, 200);
});
