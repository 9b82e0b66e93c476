import { deepEqual, equal, match, ok } from "node:assert/strict";
import type { Note } from "../../../../routes/contract/endpoint.ts";
import { subscriberLinkEndpoints } from "../../../../routes/pro/status_pages/subscriber_links.ts";
import { newPage, newSubscriber, PAGES, proApp } from "../../../helpers/status_pages.ts";
import type { TestApp } from "../../../helpers/test_app.ts";
import { unsubscribeToken } from "../../../../services/pro/status_pages/subscriber_address.ts";

const BROWSER = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";
const HOOK = { webhook_url: "http://127.0.0.1:1/" };

/** As a browser, or as a client without an Accept header. */
const follow = (app: TestApp, path: string, { method = "GET", accept = BROWSER } = {}) =>
  app.call(method, path, method === "POST" ? "" : undefined, {
    role: "public",
    headers: { accept, "content-type": "application/x-www-form-urlencoded" },
  });

const countOf = async (app: TestApp, pageId: string) =>
  (await app.call("GET", `${PAGES}/${pageId}/subscribers`)).body.total;

const unsubscribePath = async ({ deps }: TestApp, id: string) =>
  `${PAGES}/unsubscribe/${await unsubscribeToken(deps.secrets, id)}`;

/** The text of a page. */
const textOf = (html: string) =>
  html.replace(/<style>[\s\S]*<\/style>/, "").replace(/<[^>]*>/g, " ").replace(/\s+/g, " ").trim();

Deno.test("a browser that follows the link of a notification unsubscribes with a button", async () => {
  using app = proApp({ config: { serviceBaseUrl: "https://longshore.test" } });
  const page = await newPage(app, { name: "Acmé <1>" });
  const { id } = await newSubscriber(app, page.id, HOOK);
  const path = await unsubscribePath(app, id);

  // Mail scanners follow links like browsers.
  for (let i = 0; i < 2; i++) {
    const asked = await follow(app, path);
    deepEqual([asked.status, asked.headers.get("content-type")], [200, "text/html; charset=utf-8"]);
    match(textOf(asked.body), /Acmé &lt;1&gt; Unsubscribe\? .* Unsubscribe Go to the status page$/);
    match(asked.body, /<form method="post">\n<button>Unsubscribe<\/button>/);
    match(asked.body, /<a href="https:\/\/longshore\.test\/status\/acme-1">/);
    equal(await countOf(app, page.id), 1);
  }

  const left = await follow(app, path, { method: "POST" });
  equal(left.status, 200);
  match(textOf(left.body), /You are unsubscribed You will no longer be notified/);
  equal(left.body.includes("<form"), false);
  equal(await countOf(app, page.id), 0);

  for (const method of ["GET", "POST"]) {
    const again = await follow(app, path, { method });
    deepEqual([again.status, again.body.includes("<form")], [200, false]);
    match(textOf(again.body), /You are unsubscribed/);
  }
});

for (const accept of ["*/*", "application/json", "application/json, text/html;q=0.9"]) {
  for (const method of ["GET", "POST"]) {
    Deno.test(`${method} of an unsubscribe link with Accept: ${accept} unsubscribes`, async () => {
      using app = proApp();
      const page = await newPage(app);
      const { id } = await newSubscriber(app, page.id, HOOK);
      const path = await unsubscribePath(app, id);
      const { status, body, headers } = await follow(app, path, { method, accept });
      equal(status, 200);
      deepEqual(body, { ok: true, message: "You are unsubscribed" });
      deepEqual([headers.get("content-type"), headers.get("vary")], [
        "application/json; charset=utf-8",
        "accept",
      ]);
      equal(await countOf(app, page.id), 0);
    });
  }
}

Deno.test("a browser shows that a subscription is confirmed, or was confirmed before", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { body } = await app.call("POST", `${PAGES}/${page.id}/subscribers`, HOOK);
  const path = `${PAGES}/${page.id}/subscribers/verify/${body.verify_token}`;
  for (
    const title of ["Your subscription is confirmed", "Your subscription was confirmed before"]
  ) {
    const answer = await follow(app, path);
    equal(answer.status, 200);
    ok(textOf(answer.body).includes(`Acme ${title} You will be notified`), answer.body);
    match(answer.body, new RegExp(`<title>${title} - Acme</title>`));
  }
  const [subscriber] = (await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.subscribers;
  equal(subscriber.status, "verified");
  const json = await follow(app, path, { accept: "application/json" });
  deepEqual(json.body, {
    ok: true,
    status: "verified",
    already_verified: true,
    message: "Your subscription was confirmed before",
  });
});

Deno.test("an invalid link is a page for browsers, and an error for other clients", async () => {
  using app = proApp();
  const page = await newPage(app, { name: "Secret plans" });
  const { id, verify_token } = await newSubscriber(app, page.id, HOOK);
  for (
    const [path, method] of [
      [`${PAGES}/unsubscribe/${id}.x`, "GET"],
      [`${PAGES}/unsubscribe/${id}.x`, "POST"],
      [`${PAGES}/unsubscribe/<script>`, "GET"],
      [`${PAGES}/${page.id}/subscribers/verify/${verify_token}x`, "GET"],
      [`${PAGES}/unknown/subscribers/verify/${verify_token}`, "GET"],
    ] as const
  ) {
    const shown = await follow(app, path, { method });
    deepEqual([shown.status, shown.headers.get("content-type")], [404, "text/html; charset=utf-8"]);
    match(textOf(shown.body), /^This link is not valid.* Status page This link is not valid/);
    equal(/Secret|<script|<form/.test(shown.body), false);
    const { status, body } = await follow(app, path, { method, accept: "*/*" });
    equal(status, 404);
    match(body.error, /^This link is not valid/);
  }
  equal(await countOf(app, page.id), 1);
});

Deno.test("these pages have the page's colors, no script and a minimal policy", async () => {
  using app = proApp();
  const page = await newPage(app, { theme: { primary_color: "#0f5c6e" } });
  const { id } = await newSubscriber(app, page.id, HOOK);
  const path = await unsubscribePath(app, id);
  for (const [method, form] of [["GET", "'self'"], ["POST", "'none'"]] as const) {
    const { body, headers } = await follow(app, path, { method });
    const style = /<style>([\s\S]*?)<\/style>/.exec(body)![1]!;
    const digest = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(style));
    equal(
      headers.get("content-security-policy"),
      `default-src 'none'; style-src 'sha256-${new Uint8Array(digest).toBase64()}'; ` +
        `img-src data:; base-uri 'none'; form-action ${form}; frame-ancestors 'none'`,
    );
    deepEqual([headers.get("vary"), headers.get("cache-control")], ["accept", "no-store"]);
    match(style, /^:root{--brand:#0f5c6e;/);
    match(style, /prefers-color-scheme: dark/);
    match(body, /<html lang="en">/);
    equal(/<script|<img|\son\w+=|\sstyle=/i.test(body), false);
    deepEqual([...body.matchAll(/<h(\d)/g)].map(([, level]) => level), ["1", "2"]);
  }
});

Deno.test("the audit log and the compliance log contain no token", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { body } = await app.call("POST", `${PAGES}/${page.id}/subscribers`, HOOK);
  const { id, verify_token } = body;
  const token = await unsubscribeToken(app.deps.secrets, id);
  // Confirming comes first, because the other links prevent it.
  for (const endpoint of subscriberLinkEndpoints(app.deps).toReversed()) {
    const isVerification = endpoint.path.includes("/verify/");
    const note: Note = {};
    await endpoint.handle({
      params: isVerification ? { pageId: page.id, token: verify_token } : { token },
      query: undefined,
      body: undefined,
      caller: { userId: "", role: "public", familyId: "", address: "" },
      request: new Request("http://localhost/"),
      requestId: "1",
      note,
      admit: () => {},
      assertAllowed: () => Promise.resolve(),
      rightsOf: () => ({ permissions: [], isLimitedToHosts: false }),
      grantedTo: () => [],
      setCookie: () => {},
      recordPhase: () => Promise.resolve(),
    });
    equal(note.target, isVerification ? page.id : id);
  }
});

Deno.test("a private page is named to its subscribers, but not linked", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { id } = await newSubscriber(app, page.id, HOOK);
  await app.call("PUT", `${PAGES}/${page.id}`, { is_public: false });
  const { body } = await follow(app, await unsubscribePath(app, id));
  match(textOf(body), /Acme Unsubscribe\?/);
  equal(body.includes("<a "), false);
});

Deno.test("HEAD of a link has no effect", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { id } = await newSubscriber(app, page.id, HOOK);
  const path = await unsubscribePath(app, id);
  equal((await follow(app, path, { method: "HEAD", accept: "*/*" })).status, 200);
  equal(await countOf(app, page.id), 1);
});
