import { deepEqual, equal, match, ok } from "node:assert/strict";
import { signDelivery } from "../../../../services/messages/webhooks/post.ts";
import { createSecrets } from "../../../../services/secrets/secrets.ts";
import { sweepNotices } from "../../../../services/pro/status_pages/notices.ts";
import { fakeReceiver } from "../../../helpers/fake_receiver.ts";
import { smtpServer } from "../../../helpers/smtp_server.ts";
import {
  deliver,
  newComponent,
  newPage,
  newSubscriber,
  PAGES,
  proApp,
} from "../../../helpers/status_pages.ts";
import type { TestApp } from "../../../helpers/test_app.ts";

const anyone = { role: "public" } as const;

/** An application with a mail server. */
const mailApp = (smtpUrl = "smtp://127.0.0.1:1", config = {}) =>
  proApp({
    config: {
      outboundAllow: ["127.0.0.1"],
      smtpUrl,
      smtpFrom: "Stätus <s@longshore.test>",
      ...config,
    },
  });

const subscribe = (app: TestApp, pageId: string, address: object) =>
  app.call("POST", `${PAGES}/${pageId}/subscribers`, address);

/** The path of a link in a message. */
const pathOf = (url: string) => new URL(url).pathname;

Deno.test("POST /subscribers stores a pending one and shows the token once", async () => {
  using app = mailApp();
  const page = await newPage(app);
  const { status, body } = await subscribe(app, page.id, { email: "Ada@Example.com" });
  equal(status, 201);
  const { verify_token, ...subscriber } = body;
  deepEqual(subscriber, {
    id: body.id,
    email: "Ada@Example.com",
    status: "pending",
    created_at: "2026-01-01T12:00:00.000Z",
  });
  match(verify_token, /^[\w-]{43}$/);
  const list = `${PAGES}/${page.id}/subscribers`;
  deepEqual((await app.call("GET", list)).body, {
    subscribers: [subscriber],
    total: 1,
    limit: 100,
    offset: 0,
  });
  const { body: seen } = await app.call("GET", list, undefined, { role: "operator" });
  equal(seen.subscribers[0].email, "********");
});

Deno.test("address and token are encrypted in the database", async () => {
  using app = mailApp();
  const page = await newPage(app);
  const tokens = [];
  for (const address of [{ email: "ada@example.com" }, { webhook_url: "http://127.0.0.1/hook" }]) {
    tokens.push((await subscribe(app, page.id, address)).body.verify_token);
  }
  const tables = ["status_page_subscribers", "outbox_messages", "audit_entries"];
  const rows = JSON.stringify(tables.map((table) => app.deps.db.all(`SELECT * FROM ${table}`)));
  for (const text of ["ada@", "example.com", "127.0.0.1/hook", ...tokens]) {
    equal(rows.includes(text), false, text);
  }
});

for (
  const [wrong, body, error] of [
    ["nothing", {}, /either email or webhook_url/],
    ["both", { email: "a@b.c", webhook_url: "http://198.100.1.1/" }, /either email or webhook_url/],
    ["no address", { email: "ada" }, /^body\.email: must be a mail address/],
    ["two", { email: "a@b.c,d@e.f" }, /^body\.email: /],
    ["a header", { email: "a@b.c\r\nBcc: d@e.f" }, /^body\.email: /],
    ["a private one", { webhook_url: "http://10.0.0.1/" }, /OUTBOUND_ALLOW/],
    ["metadata", { webhook_url: "http://169.254.169.254/" }, /OUTBOUND/],
    ["no URL", { webhook_url: "ftp://a.b/" }, /^body\.webhook_url: is not an/],
  ] as const
) {
  Deno.test(`POST /subscribers refuses ${wrong}`, async () => {
    using app = mailApp();
    const page = await newPage(app);
    const answer = await subscribe(app, page.id, body);
    equal(answer.status, 400);
    match(answer.body.error, error);
    equal((await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.total, 0);
  });
}

Deno.test("an address subscribes to a page once, whatever its case, also at the same time", async () => {
  using app = mailApp();
  const [page, other] = [await newPage(app), await newPage(app)];
  const answers = await Promise.all(
    ["ada@example.com", "ADA@example.com", "Ada@Example.COM"].map((email) =>
      subscribe(app, page.id, { email })
    ),
  );
  deepEqual(answers.map(({ status }) => status).sort(), [201, 409, 409]);
  equal((await subscribe(app, other.id, { email: "ada@example.com" })).status, 201);
  equal((await subscribe(app, page.id, { webhook_url: "http://127.0.0.1/A" })).status, 201);
  equal((await subscribe(app, page.id, { webhook_url: "HTTP://127.0.0.1:80/A" })).status, 409);
  equal((await subscribe(app, page.id, { webhook_url: "http://127.0.0.1/a" })).status, 201);
});

Deno.test("without a mail server, email subscriptions are refused with the reason", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { status, body } = await subscribe(app, page.id, { email: "ada@example.com" });
  equal(status, 409);
  match(body.error, /SMTP_URL is not set/);
  equal((await subscribe(app, page.id, { email: "ada" })).status, 400);
  equal((await subscribe(app, page.id, { webhook_url: "http://127.0.0.1:1/" })).status, 201);
});

Deno.test("the link in the mail confirms without an API token, and can be repeated", async () => {
  await using smtp = await smtpServer();
  using app = mailApp(smtp.url);
  const page = await newPage(app, { name: "Acmé 🔥" });
  const { body: { id, verify_token } } = await subscribe(app, page.id, {
    email: "ada@example.com",
  });
  await deliver(app);

  const [mail] = smtp.mails;
  deepEqual([mail!.from, mail!.to], ["s@longshore.test", ["ada@example.com"]]);
  equal(mail!.headers["subject"], "Confirm your subscription: Acmé 🔥");
  equal(mail!.headers["from"], "Stätus <s@longshore.test>");
  equal(mail!.headers["auto-submitted"], "auto-generated");
  const link = /http:\S+/.exec(mail!.parts["text/plain"]!)![0];
  equal(link, `http://longshore.test${PAGES}/${page.id}/subscribers/verify/${verify_token}`);
  match(mail!.parts["text/html"]!, new RegExp(`href="${link}"`));

  for (const already of [false, true, true]) {
    const { status, body } = await app.call("GET", pathOf(link), undefined, anyone);
    equal(status, 200);
    deepEqual([body.ok, body.status, body.already_verified], [true, "verified", already]);
  }
  const { body } = await app.call("GET", `${PAGES}/${page.id}/subscribers`);
  deepEqual(body.subscribers.map((s: { id: string; status: string }) => [s.id, s.status]), [
    [id, "verified"],
  ]);
  for (const token of ["x", verify_token.slice(1), `${verify_token}x`, id]) {
    const path = `${PAGES}/${page.id}/subscribers/verify/${token}`;
    equal((await app.call("GET", path, undefined, anyone)).status, 404);
  }
});

Deno.test("a notification reaches verified addresses with all details", async () => {
  await using smtp = await smtpServer();
  using app = mailApp(smtp.url);
  const page = await newPage(app);
  await newSubscriber(app, page.id, { email: "ada@example.com" });
  await subscribe(app, page.id, { email: "pending@example.com" });
  await deliver(app);
  smtp.mails.length = 0;

  const evil = `<b>\u05e9\u05dc\u05d5\u05dd & "🔥"</b>`;
  const message = `.\n..\nFrom me\n${"Zeile ü 🔥 ".repeat(1_000)}<script>`;
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: evil, message });
  await deliver(app);

  equal(smtp.mails.length, 1);
  const [mail] = smtp.mails;
  deepEqual(mail!.to, ["ada@example.com"]);
  equal(mail!.headers["subject"], `[Acme] Investigating: ${evil}`);
  const text = mail!.parts["text/plain"]!;
  ok(text.includes(message), "the whole message is in the mail");
  ok(text.includes("Status page: http://longshore.test/status/acme"));
  const html = mail!.parts["text/html"]!;
  ok(html.includes("&lt;b&gt;\u05e9\u05dc\u05d5\u05dd &amp; &quot;🔥&quot;&lt;/b&gt;"));
  equal(/<(b|script)>/.test(html), false);
  const unsubscribe = /Unsubscribe: (\S+)/.exec(text)![1]!;
  equal(mail!.headers["list-unsubscribe"], `<${unsubscribe}>`);
  equal(mail!.headers["list-unsubscribe-post"], undefined);
  const lines = mail!.raw.split("\r\n");
  ok(lines.every((line) => line.length <= 998), "no line is longer than SMTP allows");
});

Deno.test("a component's notification has the old and the new status", async () => {
  await using smtp = await smtpServer();
  using app = mailApp(smtp.url, { serviceBaseUrl: "https://status.corp.test/base" });
  const page = await newPage(app, { custom_domain: "status.acme.test" });
  const component = await newComponent(app, page.id);
  await newSubscriber(app, page.id, { email: "ada@example.com" });
  await app.call("PUT", `${PAGES}/${page.id}/components/${component.id}`, {
    status: "major_outage",
  });
  await deliver(app);
  const [verification, notice] = smtp.mails;
  match(
    verification!.parts["text/plain"]!,
    /^https:\/\/status\.corp\.test\/base\/api\/ext\/service-pro\/status-pages\//m,
  );
  equal(notice!.headers["subject"], "[Acme] Major outage: API");
  const text = notice!.parts["text/plain"]!;
  match(text, /^Component: API\nStatus: Major outage \(before: Operational\)$/m);
  match(text, /^Status page: https:\/\/status\.acme\.test\/$/m);
  equal(notice!.headers["list-unsubscribe-post"], "List-Unsubscribe=One-Click");
});

Deno.test("a title cannot add a header, whatever is in the database", async () => {
  await using smtp = await smtpServer();
  using app = mailApp(smtp.url);
  const page = await newPage(app);
  await newSubscriber(app, page.id, { email: "ada@example.com" });
  const { body: { id } } = await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x" });
  await deliver(app);
  smtp.mails.length = 0;
  const title = "a\r\nBcc: evil@example.com\r\n\r\nbody\u2028" + "ü".repeat(10_000);
  app.deps.db.run("UPDATE status_page_incidents SET title = :title", { title });
  app.deps.db.run("UPDATE status_pages SET name = :title", { title });
  await app.call("PUT", `${PAGES}/${page.id}/incidents/${id}`, { status: "resolved" });
  await deliver(app);
  const [mail] = smtp.mails;
  deepEqual(mail!.to, ["ada@example.com"]);
  equal(mail!.headers["bcc"], undefined);
  match(mail!.headers["subject"]!, /^\[a Bcc: evil@example\.com body ü+\.\.\.$/);
});

Deno.test("a webhook gets JSON with a link that ends the subscription", async () => {
  await using receiver = fakeReceiver();
  using app = proApp();
  const page = await newPage(app);
  await newSubscriber(app, page.id, { webhook_url: `${receiver.url}hook` });
  const incident = { title: "Down", message: "We know.", status: "identified" };
  await app.call("POST", `${PAGES}/${page.id}/incidents`, incident);
  await deliver(app);

  equal(receiver.received.length, 1);
  const { path, headers, body } = receiver.received[0]!;
  const sent = JSON.parse(body);
  deepEqual([path, headers["content-type"]], ["/hook", "application/json"]);
  match(headers["webhook-id"]!, /^[\w-]{36}$/);
  match(sent.eventId, /^[\w-]{36}$/);
  deepEqual(sent, {
    event: "status_page.updated",
    timestamp: "2026-01-01T12:00:00.000Z",
    eventId: sent.eventId,
    data: {
      page: "Acme",
      component: null,
      incident: "Down",
      old_status: null,
      new_status: "identified",
      message: "We know.",
      page_url: "http://longshore.test/status/acme",
      unsubscribe_url: sent.data.unsubscribe_url,
    },
  });
  const link = pathOf(sent.data.unsubscribe_url);
  await app.call("POST", `${PAGES}/${page.id}/incidents`, incident);
  for (const method of ["GET", "GET", "POST"]) {
    const answer = await app.call(method, link, undefined, anyone);
    deepEqual([answer.status, answer.body.ok], [200, true]);
  }
  equal((await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.total, 0);
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 0);
  await deliver(app);
  equal(receiver.received.length, 1);
});

Deno.test("notices to a webhook are signed with the secret that was shown once", async () => {
  await using receiver = fakeReceiver();
  using app = proApp();
  const page = await newPage(app);
  const { secret } = await newSubscriber(app, page.id, { webhook_url: `${receiver.url}new` });
  const former = await newSubscriber(app, page.id, { webhook_url: `${receiver.url}former` });
  // As an earlier version stored it.
  app.deps.db.run("UPDATE status_page_subscribers SET sealed_secret = NULL WHERE id = :id", {
    id: former.id,
  });
  match(secret, /^whsec_[\w+/]{43}=$/);
  const listed = await app.call("GET", `${PAGES}/${page.id}/subscribers`);
  equal(JSON.stringify(listed.body).includes("whsec_"), false);
  const stored = JSON.stringify(app.deps.db.all("SELECT * FROM status_page_subscribers"));
  equal(stored.includes(secret.slice(6)), false);

  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "Down" });
  await deliver(app);

  equal(receiver.received.length, 2);
  const [signed, unsigned] = ["/new", "/former"].map((path) =>
    receiver.received.find((request) => request.path === path)!
  );
  const { "webhook-id": id, "webhook-timestamp": at, "webhook-signature": signature } =
    signed!.headers;
  equal(signature, await signDelivery(secret, id!, Number(at), signed!.body));
  equal(unsigned!.headers["webhook-signature"], undefined);
});

Deno.test("a subscriber with a mail address has no secret", async () => {
  using app = proApp({ config: { smtpUrl: "smtp://127.0.0.1:1" } });
  const page = await newPage(app);
  const { status, body } = await app.call("POST", `${PAGES}/${page.id}/subscribers`, {
    email: "ada@example.com",
  });
  deepEqual([status, "secret" in body], [201, false]);
});

Deno.test("one click of a mail program ends a subscription (RFC 8058)", async () => {
  await using receiver = fakeReceiver();
  using app = proApp();
  const page = await newPage(app);
  await newSubscriber(app, page.id, { webhook_url: receiver.url });
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x" });
  await deliver(app);
  const link = pathOf(JSON.parse(receiver.received[0]!.body).data.unsubscribe_url);
  const { status } = await app.call("POST", link, "List-Unsubscribe=One-Click", {
    ...anyone,
    headers: { "content-type": "application/x-www-form-urlencoded" },
  });
  equal(status, 200);
  equal((await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.total, 0);
});

Deno.test("a subscription can only be ended with its own token", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { id, verify_token } = await newSubscriber(app, page.id, {
    webhook_url: "http://127.0.0.1:1/",
  });
  for (const token of [id, `${id}.`, `${id}.${"A".repeat(43)}`, verify_token, "x"]) {
    const answer = await app.call("GET", `${PAGES}/unsubscribe/${token}`, undefined, anyone);
    equal(answer.status, 404, token);
  }
  equal((await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.total, 1);
});

Deno.test("no notification is sent in maintenance, for a private page, or without a change", async () => {
  using app = proApp();
  const page = await newPage(app);
  const { id } = await newSubscriber(app, page.id, { webhook_url: "http://127.0.0.1:1/" });
  const depth = async () => (await app.call("GET", "/api/health")).body.outboxDepth;
  const tell = () => app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x" });
  await app.call("POST", "/api/maintenance", { enabled: true });
  await tell();
  equal(await depth(), 0);
  await app.call("POST", "/api/maintenance", { enabled: false });
  await app.call("PUT", `${PAGES}/${page.id}`, { is_public: false });
  await tell();
  equal(await depth(), 0);
  await app.call("PUT", `${PAGES}/${page.id}`, { is_public: true });
  await tell();
  equal(await depth(), 1);
  await app.call("PUT", `${PAGES}/${page.id}`, { is_public: false });
  await deliver(app);
  const [message] = app.deps.db.all<{ last_error: string }>("SELECT * FROM outbox_messages");
  equal(message!.last_error, "The page is no longer public");
  deepEqual((await app.call("DELETE", `${PAGES}/${page.id}/subscribers/${id}`)).body, { ok: true });
  equal(app.deps.db.all("SELECT * FROM outbox_messages").length, 0);
});

Deno.test("410 ends a webhook's subscription, and other failures are retried", async () => {
  let status = 500;
  await using receiver = fakeReceiver(() => new Response("internal", { status }));
  using app = proApp();
  const page = await newPage(app);
  await newSubscriber(app, page.id, { webhook_url: receiver.url });
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x" });
  await deliver(app);
  const row = () =>
    app.deps.db.get<{ status: string; last_error: string }>(
      "SELECT status, last_error FROM outbox_messages",
    );
  deepEqual({ ...row() }, { status: "queued", last_error: "HTTP 500" });
  status = 410;
  app.clock.advance({ minutes: 1 });
  await deliver(app);
  equal((await app.call("GET", `${PAGES}/${page.id}/subscribers`)).body.total, 0);
  equal(row(), undefined);
});

Deno.test("mails are retried if the server is unreachable or busy, not if it refuses", async () => {
  let code: number | undefined = 451;
  await using smtp = await smtpServer({ refuse: () => code });
  using app = mailApp(smtp.url);
  const page = await newPage(app);
  await subscribe(app, page.id, { email: "ada@example.com" });
  const row = () => ({
    ...app.deps.db.get<object>(
      "SELECT status, last_status, last_error FROM outbox_messages ORDER BY sequence DESC LIMIT 1",
    ),
  });
  await deliver(app);
  deepEqual(row(), {
    status: "queued",
    last_status: 451,
    last_error: "Refused by the mail server: ada@example.com (451)",
  });
  code = undefined;
  app.clock.advance({ minutes: 1 });
  await deliver(app);
  deepEqual(row(), { status: "sent", last_status: null, last_error: null });
  equal(smtp.mails.length, 1);

  code = 550;
  await subscribe(app, page.id, { email: "grace@example.com" });
  await deliver(app);
  deepEqual(row(), {
    status: "failed",
    last_status: 550,
    last_error: "Refused by the mail server: grace@example.com (550)",
  });

  app.deps.config = { ...app.deps.config, smtpUrl: "smtp://127.0.0.1:1" };
  await subscribe(app, page.id, { email: "joan@example.com" });
  await deliver(app);
  deepEqual(row(), {
    status: "queued",
    last_status: null,
    last_error: "The mail server cannot be reached",
  });
});

Deno.test("a repeated mail has the same Message-ID", async () => {
  await using smtp = await smtpServer();
  using app = mailApp(smtp.url);
  const page = await newPage(app);
  await subscribe(app, page.id, { email: "ada@example.com" });
  await deliver(app);
  // As after a crash between sending and recording.
  app.deps.db.run(
    "UPDATE outbox_messages SET status = 'queued', next_attempt_at = created_at, sent_at = NULL",
  );
  await deliver(app);
  equal(smtp.mails.length, 2);
  equal(smtp.mails[0]!.headers["message-id"], smtp.mails[1]!.headers["message-id"]);
  match(smtp.mails[0]!.headers["message-id"]!, /^<[\w-]{36}@longshore\.test>$/);
});

Deno.test("mails are sent with the user and password of SMTP_URL, and wrong credentials are reported", async () => {
  await using smtp = await smtpServer({ users: { "us er@x": "p:w/d" } });
  using app = mailApp(smtp.url, { smtpFrom: null, serverName: "not a host" });
  const page = await newPage(app);
  await subscribe(app, page.id, { email: "ada@example.com" });
  await deliver(app);
  equal(smtp.mails[0]!.from, "longshore@localhost");
  app.deps.config = { ...app.deps.config, smtpUrl: smtp.url.replace("p%3Aw", "wrong") };
  await subscribe(app, page.id, { email: "grace@example.com" });
  await deliver(app);
  const { body } = await app.call("GET", "/api/health");
  equal(body.outboxDepth, 1);
  const row = app.deps.db.get<{ last_error: string }>(
    "SELECT last_error FROM outbox_messages WHERE status = 'queued'",
  );
  equal(row!.last_error, "The mail server rejected the user or password of SMTP_URL");
});

Deno.test("a mail server with an untrusted certificate gets no mail unless configured", async () => {
  await using smtp = await smtpServer({ tls: true });
  using app = mailApp(smtp.url);
  const page = await newPage(app);
  await subscribe(app, page.id, { email: "ada@example.com" });
  await deliver(app);
  equal(smtp.mails.length, 0);
  const row = app.deps.db.get<{ last_error: string }>("SELECT last_error FROM outbox_messages");
  equal(row!.last_error, "The mail server's certificate is not valid, or it does not support TLS");

  app.deps.config = { ...app.deps.config, smtpUrl: `${smtp.url}?tls.rejectUnauthorized=false` };
  app.clock.advance({ minutes: 1 });
  await deliver(app);
  equal(smtp.mails.length, 1);
});

Deno.test("a subscriber with an undecryptable address is listed and can be deleted", async () => {
  using app = mailApp();
  const page = await newPage(app);
  const { id } = await newSubscriber(app, page.id, { email: "ada@example.com" });
  const key = new Uint8Array(32).fill(9);
  app.deps.secrets = createSecrets({ jwtSecret: key, secretKey: key });
  const path = `${PAGES}/${page.id}/subscribers`;
  equal((await app.call("GET", path)).body.subscribers[0].email, "********");
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x" });
  await deliver(app);
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 0);
  equal((await app.call("DELETE", `${path}/${id}`)).status, 200);
});

Deno.test("a notification is stored once for all subscribers, and deleted later", async () => {
  using app = proApp();
  const page = await newPage(app);
  for (let i = 0; i < 20; i++) {
    await newSubscriber(app, page.id, { webhook_url: `http://127.0.0.1:1/${i}` });
  }
  const message = "x".repeat(10_000);
  await app.call("POST", `${PAGES}/${page.id}/incidents`, { title: "x", message });
  const count = (table: string) =>
    app.deps.db.get<{ n: number }>(`SELECT count(*) AS n FROM ${table}`)!.n;
  deepEqual([count("status_page_notices"), count("outbox_messages")], [1, 20]);
  app.clock.advance({ days: 7 });
  sweepNotices(app.deps);
  equal(count("status_page_notices"), 1);
  app.clock.advance({ days: 2 });
  sweepNotices(app.deps);
  equal(count("status_page_notices"), 0);
});

Deno.test("behind a trusted proxy the links are https", async () => {
  for (const [trustedProxies, scheme] of [[["10.0.0.0/8"], "https"], [[], "http"]] as const) {
    await using smtp = await smtpServer();
    using app = mailApp(smtp.url, { trustedProxies: [...trustedProxies] });
    const page = await newPage(app);
    const headers = { "x-forwarded-proto": "https" };
    const path = `${PAGES}/${page.id}/subscribers`;
    await app.call("POST", path, { email: "ada@example.com" }, { headers, address: "10.0.0.1" });
    await deliver(app);
    match(smtp.mails[0]!.parts["text/plain"]!, new RegExp(`^${scheme}://longshore\\.test/`, "m"));
  }
});
