import { deepEqual, equal, match } from "node:assert/strict";
import { sweepUnconfirmed } from "../../../../services/pro/status_pages/subscriptions.ts";
import { deliver, newPage, newSubscriber, PAGES, proApp } from "../../../helpers/status_pages.ts";
import { smtpServer } from "../../../helpers/smtp_server.ts";
import type { TestApp } from "../../../helpers/test_app.ts";

const FORM = "/status/acme/subscribe";

const mailApp = (smtpUrl = "smtp://127.0.0.1:1") =>
  proApp({ config: { outboundAllow: ["127.0.0.1"], smtpUrl, smtpFrom: "s@longshore.test" } });

const submit = (app: TestApp, email: string, headers: Record<string, string> = {}) =>
  app.call("POST", FORM, new URLSearchParams({ email }).toString(), {
    role: "public",
    headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
  });

const countOf = ({ deps }: TestApp, what = "status_page_subscribers") =>
  deps.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${what}`)!.n;

Deno.test("a visitor subscribes with the form and the link of the mail", async () => {
  await using server = await smtpServer();
  using app = mailApp(server.url);
  const page = await newPage(app);
  const shown = await app.call("GET", "/status/acme", undefined, { role: "public" });
  match(shown.body, /<a href="\/status\/acme\/subscribe">Subscribe to updates<\/a>/);
  const form = await app.call("GET", FORM, undefined, { role: "public" });
  match(form.body, /<form method="post">[\s\S]*<label for="email">[\s\S]*<button>Subscribe</);
  match(form.headers.get("content-security-policy")!, /form-action 'self'/);

  const answer = await submit(app, "ada@example.com");
  equal(answer.status, 200);
  match(answer.body, /Check your inbox/);
  await deliver(app);
  const [link] = /http:\S+\/verify\/\S+/.exec(server.mails[0]!.parts["text/plain"]!)!;
  equal((await app.call("GET", new URL(link).pathname, undefined, { role: "public" })).status, 200);
  const { body } = await app.call("GET", `${PAGES}/${page.id}/subscribers`);
  deepEqual([body.total, body.subscribers[0].status], [1, "verified"]);
});

Deno.test("the address in a visitor's Host header does not get into mails", async () => {
  await using server = await smtpServer();
  using app = mailApp(server.url);
  await newPage(app);
  const answer = await app.app(
    new Request(`http://evil.example${FORM}`, {
      method: "POST",
      body: new URLSearchParams({ email: "ada@example.com" }),
    }),
    "127.0.0.1",
  );
  await answer.text();
  equal(answer.status, 200);
  await deliver(app);
  const text = server.mails[0]!.parts["text/plain"]!;
  match(text, /\/verify\//);
  equal(text.includes("evil.example"), false);
});

Deno.test("the response is the same for known and unknown addresses, and a mail is sent once a day", async () => {
  using app = mailApp();
  const page = await newPage(app);
  await newSubscriber(app, page.id, { email: "known@example.com" });
  const queued = () => countOf(app, "outbox_messages");
  const before = queued();
  const known = await submit(app, "Known@Example.com");
  equal(queued(), before);
  const unknown = await submit(app, "unknown@example.com");
  const again = await submit(app, "unknown@example.com");
  deepEqual([known.status, known.body], [unknown.status, unknown.body]);
  deepEqual([again.status, again.body], [unknown.status, unknown.body]);
  equal(queued(), before + 1);
  app.clock.advance({ days: 1 });
  await submit(app, "unknown@example.com");
  deepEqual([queued(), countOf(app)], [before + 1, 2], "the former message went with its token");
});

Deno.test("a subscription by form is deleted unless it is confirmed within two days", async () => {
  using app = mailApp();
  const page = await newPage(app);
  await app.call("POST", `${PAGES}/${page.id}/subscribers`, { email: "api@example.com" });
  await submit(app, "form@example.com");
  app.clock.advance({ minutes: 47 * 60 });
  sweepUnconfirmed(app.deps);
  equal(countOf(app), 2);
  app.clock.advance({ minutes: 120 });
  sweepUnconfirmed(app.deps);
  equal(countOf(app), 1);
});

for (
  const [what, headers, status] of [
    ["another site's form", { "sec-fetch-site": "cross-site" }, 403],
    ["another origin", { origin: "https://evil.example" }, 403],
    ["an origin without a name", { origin: "null" }, 403],
    ["its own origin", { origin: "http://longshore.test" }, 200],
    ["its own page", { "sec-fetch-site": "same-origin", origin: "null" }, 200],
  ] as const
) {
  Deno.test(`a form from ${what} is answered with ${status}`, async () => {
    using app = mailApp();
    await newPage(app);
    equal((await submit(app, "ada@example.com", headers)).status, status);
    equal(countOf(app), status === 200 ? 1 : 0);
  });
}

Deno.test("a wrong address is shown with its problem, escaped", async () => {
  using app = mailApp();
  await newPage(app);
  const { status, body } = await submit(app, `"><script>alert(1)</script>`);
  equal(status, 400);
  match(body, /This must be a mail address/);
  equal(body.includes("<script>"), false);
});

Deno.test("the form is limited per client address", async () => {
  using app = mailApp();
  await newPage(app);
  for (let n = 0; n < 3; n++) equal((await submit(app, `a${n}@example.com`)).status, 200);
  equal((await submit(app, "a4@example.com")).status, 429);
  app.clock.advance({ minutes: 1 });
  equal((await submit(app, "a4@example.com")).status, 200);
});

Deno.test("at most 1000 subscriptions of a page wait for a confirmation", async () => {
  using app = mailApp();
  const page = await newPage(app);
  app.deps.db.run(
    `WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1000)
     INSERT INTO status_page_subscribers
       (id, page_id, kind, sealed, address_key, token_hash, link_base, created_at, asked_at)
     SELECT i, :pageId, 'email', '', i, i, '', '2026-01-01', '2026-01-01' FROM n`,
    { pageId: page.id },
  );
  equal((await submit(app, "ada@example.com")).status, 200);
  equal(countOf(app), 1000);
});

Deno.test("without a mail server, for an unknown page and for one that is not public there is no form", async () => {
  using app = proApp();
  await newPage(app);
  equal((await submit(app, "ada@example.com")).status, 404);
  const shown = await app.call("GET", "/status/acme", undefined, { role: "public" });
  equal(shown.body.includes("/subscribe"), false);
  using other = mailApp();
  await newPage(other, { is_public: false });
  equal((await submit(other, "ada@example.com")).status, 404);
});
