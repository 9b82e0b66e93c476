/** The dashboard over HTTP. `tests/browser/dashboard/` tests it in a browser. @module */

import { deepEqual, doesNotMatch, equal, match, notEqual, ok } from "node:assert/strict";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { type TestApp, testApp } from "../../helpers/test_app.ts";
import { openPack } from "../../../routes/dashboard/pack.ts";
import { PATHS } from "../../../ui/paths.ts";

const get = (app: TestApp, path: string, headers: Record<string, string> = {}) =>
  app.fetch("GET", path, undefined, { role: "public", headers });

/** The path with an example for each parameter. */
const example = (path: string) => path.replace(/:\w+\((\w+)[^)]*\)/g, "$1").replace(/:\w+/g, "web");

/** Addresses of the files that the page loads, as they are in it. */
const filesOf = (html: string) =>
  [...html.matchAll(/(?:src|href)="([^"]*assets\/[^"]+)"/g)].map(([, address]) => address!);

Deno.test("every page answers with the HTML page, which no cache keeps", async () => {
  using app = testApp();

  for (const path of PATHS.map(example)) {
    const { status, headers } = await get(app, path);
    equal(status, 200, path);
    equal(headers.get("content-type"), "text/html; charset=utf-8");
    equal(headers.get("cache-control"), "no-store");
  }
});

Deno.test("other paths and methods are not found", async () => {
  using app = testApp();

  for (
    const path of [
      "/nothing",
      "/containers/web/nothing",
      "/containers/a/b/c",
      "/assets/x.js",
      "/a.js",
    ]
  ) {
    const response = await get(app, path);
    equal(response.status, 404, path);
    deepEqual(await response.json(), { error: `No such path: ${path}` });
  }
  const page = await get(app, "/nothing", { accept: "text/html,*/*" });
  deepEqual([page.status, page.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
  await page.body!.cancel();
  const file = await get(app, "/assets/x.js", { accept: "text/html,*/*" });
  equal(file.status, 404);
  deepEqual(await file.json(), { error: "No such path: /assets/x.js" });
  equal((await app.fetch("POST", "/containers")).status, 404);
});

Deno.test("the page may load nothing inline and nothing from other origins", async () => {
  using app = testApp();

  const page = await get(app, "/");
  const html = await page.text();

  equal(
    page.headers.get("content-security-policy"),
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; " +
      "font-src 'self'; connect-src 'self'; frame-ancestors 'none'; base-uri 'none'; " +
      "form-action 'self'; require-trusted-types-for 'script'",
  );
  doesNotMatch(html, /<style|style=|<script(?![^>]* src=)|\son\w+=|\{\{/);
  match(html, /<noscript>[^<]+<\/noscript>/);
});

Deno.test("only the page of a terminal allows style elements, with a new nonce", async () => {
  using app = testApp();
  const nonces = await Promise.all([1, 2].map(async () => {
    const page = await get(app, "/containers/web/terminal");
    const [, nonce] = /style-src 'self' 'nonce-([\w+/]{22}==)';/.exec(
      page.headers.get("content-security-policy")!,
    )!;
    ok((await page.text()).includes(`<link rel="stylesheet" nonce="${nonce}"`));
    return nonce;
  }));

  notEqual(nonces[0], nonces[1]);
});

Deno.test("files are compressed, named by their content and cached permanently", async () => {
  using app = testApp();
  const names = filesOf(await (await get(app, "/")).text());
  deepEqual(new Set(names.map((name) => name.split(".").at(-1))), new Set(["css", "js"]));

  for (const name of names) {
    const path = new URL(name, "http://longshore.test/").pathname;
    match(path, /-[0-9A-Za-z]{8}\.(js|css)$/);
    const plain = await get(app, path);
    const text = await plain.text();
    match(plain.headers.get("cache-control")!, /max-age=31536000, immutable/);
    equal(plain.headers.get("content-encoding"), null);
    for (
      const [accepted, unpack] of [["br", brotliDecompressSync], ["gzip", gunzipSync]] as const
    ) {
      const packed = await get(app, path, { "accept-encoding": accepted });
      equal(packed.headers.get("content-encoding"), accepted);
      equal(packed.headers.get("vary"), "accept-encoding");
      equal(new TextDecoder().decode(unpack(await packed.bytes())), text);
    }
    const refused = await get(app, path, { "accept-encoding": "br;q=0, gzip;q=0" });
    equal(refused.headers.get("content-encoding"), null);
    await refused.body?.cancel();
  }
});

Deno.test("the page addresses its files relatively, so that it works below any path", async () => {
  using app = testApp();

  for (const path of ["/", "/containers", "/containers/", "/containers/web/stats"]) {
    for (const name of filesOf(await (await get(app, path)).text())) {
      doesNotMatch(name, /^\/|:/);
      const { pathname } = new URL(name, `https://example.com/longshore${path}`);
      match(pathname, /^\/longshore\/assets\//, path);
    }
  }
});

Deno.test("with a path in SERVICE_BASE_URL its own address needs no slash at the end", async () => {
  using app = testApp({ config: { serviceBaseUrl: "https://example.com/longshore" } });

  const through = await get(app, "/", { host: "example.com" });
  const direct = await get(app, "/", { host: "192.0.2.7:3000" });

  match(filesOf(await through.text())[0]!, /^\/longshore\/assets\//);
  match(filesOf(await direct.text())[0]!, /^\.\/assets\//);
});

Deno.test("the page says how to sign in, and nothing about server and version", async () => {
  using app = testApp({ config: { authMode: "users", serverName: "secret-name" } });

  const html = await (await get(app, "/sign-in")).text();

  match(html, /data-auth="users"/);
  doesNotMatch(html, /secret-name|\d+\.\d+\.\d+/);
});

Deno.test("the page has the name and readable colors of the active brand", async () => {
  using app = testApp({ edition: "enterprise" });
  const { body: { id } } = await app.call("POST", "/api/ext/service-enterprise/branding", {
    name: "Acme",
    // "$&" is the match in the text of a replacement.
    app_name: 'Acme "$&" <b>',
    primary_color: "#ff0",
  });
  await app.call("PUT", `/api/ext/service-enterprise/branding/${id}/activate`);

  const html = await (await get(app, "/")).text();
  match(html, /data-brand="Acme &quot;\$&amp;&quot; &lt;b&gt;"/);
  match(
    html,
    /data-colors="light-dark\(#666600,#ffff00\) light-dark\(#8c8c00,#ffff00\) light-dark\(#000,#000\)"/,
  );
});

Deno.test("UI=off leaves the API, and of the dashboard its page with the files for it", async () => {
  using app = testApp({ config: { ui: "off" } });
  using pack = (await openPack())!;

  const root = await get(app, "/");
  deepEqual([root.status, root.headers.get("location")], [302, "/docs"]);
  const page = await get(app, "/docs");
  const html = await page.text();
  equal(page.status, 200);
  match(html, /data-ui="off"/);
  for (const name of filesOf(html)) ok(pack.apiPage.includes(name.split("/").at(-1)!), name);
  for (const path of ["/containers", "/sign-in", "/nothing"]) {
    equal((await get(app, path, { accept: "text/html" })).status, 404, path);
  }
  const served: string[] = [];
  for (const name of Object.keys(pack.files)) {
    const file = await get(app, `/assets/${name}`);
    await file.body?.cancel();
    if (file.status === 200) served.push(name);
    else equal(file.status, 404, name);
  }
  deepEqual(served.sort(), pack.apiPage.toSorted());
  ok(served.length < 15 && served.some((name) => name.startsWith("reference-")), served.join(" "));
});

for (const ui of ["on", "off"] as const) {
  Deno.test(`/docs has the headers of every page, UI=${ui}`, async () => {
    using app = testApp({ config: { ui } });
    using other = testApp();

    const page = await get(app, "/docs", { "accept-encoding": "gzip" });
    const expected = await get(other, "/about", { "accept-encoding": "gzip" });
    const withSlash = await get(app, "/docs/");
    const head = await app.fetch("HEAD", "/docs", undefined, { role: "public" });

    equal(page.status, 200);
    deepEqual(namedHeaders(page), namedHeaders(expected));
    match(gunzipSync(await page.bytes()).toString(), /^<!DOCTYPE html>/);
    await expected.body!.cancel();
    match(await withSlash.text(), /href="\.\.\/assets\//);
    deepEqual([head.status, await head.text()], [200, ""]);
    const post = await app.fetch("POST", "/docs");
    deepEqual([post.status, post.headers.get("allow")], [405, "GET, HEAD"]);
    await post.body!.cancel();
  });
}

/** Headers without those that differ between two requests. */
const namedHeaders = ({ headers }: Response) =>
  Object.fromEntries(
    [...headers].filter(([name]) => !/^(x-request-id|date|content-length)$/.test(name)),
  );

Deno.test("HEAD answers without a body", async () => {
  using app = testApp();

  const response = await app.fetch("HEAD", "/containers", undefined, { role: "public" });

  equal(response.status, 200);
  equal(await response.text(), "");
});

Deno.test("an address that is not on the allowlist gets no page", async () => {
  using app = testApp({ edition: "enterprise" });
  const path = "/api/ext/service-enterprise/ip-allowlist";
  const own = { address: "198.51.100.1" };
  await app.call("POST", `${path}/rules`, { cidr: "198.51.100.0/24", label: "office" }, own);
  const { status } = await app.call("PUT", `${path}/config`, { enforcement_enabled: true }, own);
  equal(status, 200);

  const other = await app.fetch("GET", "/containers", undefined, { role: "public" });
  const allowed = await app.fetch("GET", "/containers", undefined, { role: "public", ...own });

  equal(other.status, 403);
  equal(allowed.status, 200);
  notEqual(await other.text(), "");
  ok((await allowed.text()).startsWith("<!DOCTYPE html>"));
});
