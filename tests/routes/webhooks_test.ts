import { deepEqual, equal, match, notEqual } from "node:assert/strict";
import { emit } from "../../services/events/emit.ts";
import { deliverDue } from "../helpers/outbox_delivery.ts";
import { createSecrets } from "../../services/secrets/secrets.ts";
import { EVENT_KIND_IDS } from "../../services/events/kinds/mod.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { testApp, type TestAppOptions } from "../helpers/test_app.ts";
import { login } from "../helpers/accounts.ts";
import { appWithRights } from "../helpers/custom_roles.ts";

const hook = {
  name: "On-call",
  url: "https://198.100.1.1/longshore",
  events: ["alert.fired", "container.down"],
  headers: { Authorization: "Bearer secret", "X-Team": "blue" },
};

const down = { container: "web", id: "c1", reason: "exited", exitCode: 1 } as const;

/** An application that may call loopback. */
const loopbackApp = (options: TestAppOptions = {}) =>
  testApp({ ...options, config: { outboundAllow: ["127.0.0.1"], ...options.config } });

const deliver = ({ deps }: ReturnType<typeof testApp>) =>
  deliverDue(deps, { signal: new AbortController().signal });

Deno.test("POST /api/webhooks stores an enabled webhook and shows its secret once", async () => {
  using app = testApp({ now: "2026-01-01T12:00:00Z" });
  const { status, body } = await app.call("POST", "/api/webhooks", hook);
  equal(status, 201);
  const { secret, ...webhook } = body;
  deepEqual(webhook, {
    id: body.id,
    name: "On-call",
    url: hook.url,
    events: hook.events,
    headers: { Authorization: "********", "X-Team": "********" },
    enabled: true,
    createdAt: "2026-01-01T12:00:00.000Z",
    lastDelivery: null,
  });
  match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  deepEqual((await app.call("GET", `/api/webhooks/${body.id}`)).body, webhook);
  deepEqual((await app.call("GET", "/api/webhooks")).body, { webhooks: [webhook] });
});

Deno.test("address, headers and secret are encrypted in the database", async () => {
  using app = testApp();
  const { body } = await app.call("POST", "/api/webhooks", hook);
  const rows = JSON.stringify(app.deps.db.all("SELECT * FROM webhooks"));
  for (const text of ["198.100.1.1", "Bearer secret", body.secret, body.secret.slice(6)]) {
    equal(rows.includes(text), false, text);
  }
});

Deno.test("webhooks are listed newest first", async () => {
  using app = testApp();
  for (const name of ["one", "two"]) {
    await app.call("POST", "/api/webhooks", { ...hook, name });
    app.clock.advance({ seconds: 1 });
  }
  const { body } = await app.call("GET", "/api/webhooks");
  deepEqual(body.webhooks.map(({ name }: { name: string }) => name), ["two", "one"]);
});

for (
  const [wrong, change, error] of [
    ["no name", { name: "" }, /^body\.name: /],
    ["a blank name", { name: " \t" }, /^body\.name: must not be empty/],
    ["no event", { events: [] }, /^body\.events: must not be empty/],
    [
      "an unknown event",
      { events: ["alert.fired", "alert.fried"] },
      /^body\.events\.1: must be one of \*, alert\.fired, /,
    ],
    ["events that are a text", { events: "*" }, /^body\.events: /],
    ["no URL", { url: "hooks.example.com" }, /^body\.url: is not an http/],
    ["loopback", { url: "http://127.1/" }, /^body\.url: .*OUTBOUND_ALLOW/],
    ["a private address", { url: "http://10.0.0.1/" }, /^body\.url: /],
    ["a mapped one", { url: "http://[::ffff:a00:1]/" }, /^body\.url: /],
    ["metadata", { url: "http://169.254.169.254/" }, /^body\.url: /],
    ["credentials", { url: "https://a:b@example.com/" }, /^body\.url: /],
    ["localhost", { url: "http://localhost:80/" }, /^body\.url: /],
    ["a header of ours", h("Webhook-Id", "1"), /^body\.headers\.Webhook-Id/],
    ["a type of its own", h("content-type", "a/b"), /service itself/],
    ["a user agent", h("User-Agent", "x"), /service itself/],
    ["a hop-by-hop header", h("Connection", "close"), /connection/],
    ["a length", h("content-length", "1"), /connection/],
    ["another host", h("Host", "a"), /connection/],
    ["a broken line", h("X-A", "a\r\nB: c"), /^body\.headers\.X-A: /],
    ["a name with a space", h("X A", "a"), /not a header name/],
    ["a redacted value", h("X-A", "********"), /there is none/],
    ["one header in two cases", { headers: { "X-A": "1", "x-a": "2" } }, /given twice/],
    [
      "too many headers",
      {
        headers: Object.fromEntries(Array.from({ length: 21 }, (_, i) => [`X-${i}`, "1"])),
      },
      /^body\.headers: must have at most 20 entries/,
    ],
    ["a header that is not a string", { headers: { "X-A": 1 } }, /headers\.X-A/],
  ] as const
) {
  Deno.test(`POST and PUT /api/webhooks refuse ${wrong}`, async () => {
    using app = testApp();
    const { body: stored } = await app.call("POST", "/api/webhooks", { ...hook, headers: {} });
    for (
      const answer of [
        await app.call("POST", "/api/webhooks", { ...hook, ...change }),
        await app.call("PUT", `/api/webhooks/${stored.id}`, change),
      ]
    ) {
      equal(answer.status, 400);
      match(answer.body.error, error);
    }
    equal((await app.call("GET", "/api/webhooks")).body.webhooks.length, 1);
  });
}

function h(name: string, value: string) {
  return { headers: { [name]: value } };
}

Deno.test("the 51st webhook is 402 with all fields, and an invalid one is still 400", async () => {
  using app = testApp();
  for (let i = 0; i < 50; i++) {
    equal((await app.call("POST", "/api/webhooks", { ...hook, name: `${i}` })).status, 201);
  }
  const { status, body } = await app.call("POST", "/api/webhooks", hook);
  equal(status, 402);
  match(body.error, /\(webhooks\)/);
  deepEqual([body.current, body.max, body.currentEdition, typeof body.upgradeUrl], [
    50,
    50,
    "ce",
    "string",
  ]);
  equal((await app.call("POST", "/api/webhooks", { ...hook, events: [] })).status, 400);
  equal((await app.call("POST", "/api/webhooks", { ...hook, url: "http://10.0.0.1" })).status, 400);
  equal((await app.call("GET", "/api/edition")).body.usage.webhooks, 50);
});

Deno.test("concurrent requests do not exceed the limit", async () => {
  using app = testApp();
  for (let i = 0; i < 49; i++) await app.call("POST", "/api/webhooks", hook);
  const answers = await Promise.all(
    Array.from({ length: 5 }, () => app.call("POST", "/api/webhooks", hook)),
  );
  deepEqual(answers.map(({ status }) => status).sort(), [201, 402, 402, 402, 402]);
});

Deno.test("Pro and Enterprise have no limit", async () => {
  using app = testApp({ edition: "pro" });
  for (let i = 0; i < 51; i++) {
    equal((await app.call("POST", "/api/webhooks", hook)).status, 201);
  }
});

Deno.test("PUT changes the given fields and keeps the rest, including redacted values", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", { ...hook, url: receiver.url });
  const url = new URL("/other?path", receiver.url).href;
  const { status, body } = await app.call("PUT", `/api/webhooks/${id}`, {
    name: "Night",
    url,
    events: ["*", "*"],
    headers: { authorization: "********", "X-New": "1" },
  });
  equal(status, 200);
  deepEqual(
    [body.name, body.url, body.events, body.headers, body.enabled, body.secret],
    [
      "Night",
      url,
      ["*"],
      { authorization: "********", "X-New": "********" },
      true,
      undefined,
    ],
  );
  equal((await app.call("PUT", `/api/webhooks/${id}`, { enabled: false })).body.enabled, false);
  equal((await app.call("PUT", `/api/webhooks/${id}`, { enabled: true })).body.name, "Night");

  await app.call("POST", `/api/webhooks/${id}/test`);
  await deliver(app);
  const [sent] = receiver.received;
  equal(sent!.headers["authorization"], "Bearer secret");
  equal(sent!.headers["x-new"], "1");
  equal(sent!.headers["x-team"], undefined);
});

for (const url of ["https://198.100.1.2/", "https://198.100.1.1:8443/", "http://198.100.1.1/"]) {
  Deno.test(`headers for ${hook.url} are not sent to ${url}`, async () => {
    using app = testApp();
    const { body: { id } } = await app.call("POST", "/api/webhooks", hook);
    for (
      const [change, field] of [
        [{ url }, "Authorization"],
        [{ url, headers: { authorization: "********" } }, "authorization"],
        [{ url, headers: { Authorization: "new", "X-Team": "********" } }, "X-Team"],
      ] as const
    ) {
      const { status, body } = await app.call("PUT", `/api/webhooks/${id}`, change);
      deepEqual([status, body.error], [
        400,
        `body.headers.${field}: give it again, the address changed`,
      ]);
    }
    equal((await app.call("GET", `/api/webhooks/${id}`)).body.url, hook.url);
    const again = { url, headers: { Authorization: "new" } };
    equal((await app.call("PUT", `/api/webhooks/${id}`, again)).status, 200);
  });
}

Deno.test("the address of a webhook without headers can change, and its signing secret stays", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", { ...hook, headers: {} });
  const { status } = await app.call("PUT", `/api/webhooks/${id}`, { url: receiver.url });
  equal(status, 200);
  await app.call("POST", `/api/webhooks/${id}/test`);
  await deliver(app);
  match(receiver.received[0]!.headers["webhook-signature"]!, /^v1,/);
});

Deno.test("a sent delivery can be sent again, a queued one cannot", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const { body } = await app.call("POST", "/api/webhooks", { ...hook, url: receiver.url });
  const first = await app.call("POST", `/api/webhooks/${body.id}/test`);
  const path = `/api/webhooks/deliveries/${first.body.delivery_id}/replay`;

  equal((await app.call("POST", path)).status, 409);
  await deliver(app);
  const { status, body: again } = await app.call("POST", path);
  await deliver(app);

  equal(status, 200);
  deepEqual(receiver.received.map(({ headers }) => headers["webhook-id"]), [
    first.body.delivery_id,
    again.delivery_id,
  ]);
  equal(receiver.received[1]!.body, receiver.received[0]!.body);
  equal((await app.call("POST", "/api/webhooks/deliveries/nope/replay")).status, 404);
  equal(app.deps.db.all("SELECT 1 FROM audit_entries WHERE action LIKE '%replay%'").length, 3);
});

Deno.test("the delivery of a notification is not one of a webhook", async () => {
  using app = loopbackApp();
  const channel = await app.call("POST", "/api/notifications/channels", {
    name: "Phone",
    url: "ntfy://ntfy.sh/longshore",
  });
  const { body } = await app.call("POST", `/api/notifications/channels/${channel.body.id}/test`);
  equal((await app.call("POST", `/api/webhooks/deliveries/${body.deliveryId}/replay`)).status, 404);
});

Deno.test("an unknown webhook is 404 everywhere", async () => {
  using app = testApp();
  for (
    const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", { name: "x" }],
      ["DELETE", "", undefined],
      ["PUT", "/toggle", { enabled: true }],
      ["POST", "/test", undefined],
      ["GET", "/deliveries", undefined],
    ] as const
  ) {
    const answer = await app.call(method, `/api/webhooks/nope${path}`, body);
    deepEqual([method, path, answer.status], [method, path, 404]);
    equal(answer.body.error, "Webhook nope does not exist");
  }
});

Deno.test("an event reaches the subscribers of its kind, unchanged and in order", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp({ now: "2026-01-01T12:00:00Z" });
  const all = await app.call("POST", "/api/webhooks", {
    ...hook,
    url: `${receiver.url}all`,
    events: ["*"],
  });
  await app.call("POST", "/api/webhooks", {
    ...hook,
    url: `${receiver.url}other`,
    events: ["alert.fired"],
  });
  const off = await app.call("POST", "/api/webhooks", { ...hook, url: `${receiver.url}off` });
  await app.call("PUT", `/api/webhooks/${off.body.id}/toggle`, { enabled: false });

  const first = emit(app.deps, "container.down", down);
  const second = emit(app.deps, "container.up", { container: "web", id: "c1" });
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 2);
  await deliver(app);

  deepEqual(receiver.received.map(({ path, body }) => [path, JSON.parse(body)]), [
    ["/all", {
      event: "container.down",
      timestamp: "2026-01-01T12:00:00.000Z",
      eventId: first.eventId,
      server: "test-host",
      serverId: app.deps.server.id,
      data: down,
    }],
    ["/all", { ...second }],
  ]);
  const { body } = await app.call("GET", `/api/webhooks/${all.body.id}/deliveries?limit=1`);
  deepEqual(body, {
    deliveries: [{
      id: receiver.received[1]!.headers["webhook-id"],
      event: "container.up",
      status: "sent",
      attempts: 1,
      responseStatus: 204,
      error: null,
      createdAt: "2026-01-01T12:00:00.000Z",
      lastAttemptAt: "2026-01-01T12:00:00.000Z",
      nextAttemptAt: null,
      sentAt: "2026-01-01T12:00:00.000Z",
    }],
    total: 2,
    limit: 1,
    offset: 0,
  });
  deepEqual((await app.call("GET", `/api/webhooks/${all.body.id}`)).body.lastDelivery, {
    at: "2026-01-01T12:00:00.000Z",
    status: 204,
    error: null,
  });
});

Deno.test("an event is not published if its cause was not stored", async () => {
  using app = testApp();
  await app.call("POST", "/api/webhooks", { ...hook, events: ["*"] });
  try {
    emit(app.deps, "container.down", down, () => {
      throw new Error("the disk is full");
    });
  } catch { /* as the test wants it */ }
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 0);
});

Deno.test("during maintenance no events are queued, but tests are", async () => {
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", { ...hook, events: ["*"] });
  await app.call("POST", "/api/maintenance", { enabled: true });
  emit(app.deps, "container.down", down);
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 0);
  await app.call("POST", `/api/webhooks/${id}/test`);
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 1);
  await app.call("POST", "/api/maintenance", { enabled: false });
  emit(app.deps, "container.down", down);
  equal((await app.call("GET", "/api/health")).body.outboxDepth, 2);
});

Deno.test("POST /test returns the message id and delivers it, also for a disabled webhook", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", { ...hook, url: receiver.url });
  await app.call("PUT", `/api/webhooks/${id}/toggle`, { enabled: false });
  const { status, body } = await app.call("POST", `/api/webhooks/${id}/test`);
  equal(status, 200);
  equal(body.ok, true);
  await deliver(app);
  equal(receiver.received[0]!.headers["webhook-id"], body.delivery_id);
  equal(JSON.parse(receiver.received[0]!.body).event, "test");
});

Deno.test("pending messages of a disabled or deleted webhook are not sent", async () => {
  await using receiver = fakeReceiver();
  using app = loopbackApp();
  const create = async () =>
    (await app.call("POST", "/api/webhooks", { ...hook, url: receiver.url })).body.id;
  const [off, changed, deleted] = [await create(), await create(), await create()];
  emit(app.deps, "container.down", down);
  await app.call("PUT", `/api/webhooks/${off}/toggle`, { enabled: false });
  await app.call("PUT", `/api/webhooks/${changed}`, { enabled: false });
  deepEqual((await app.call("DELETE", `/api/webhooks/${deleted}`)).body, { ok: true });
  await deliver(app);
  deepEqual(receiver.received, []);
  for (const id of [off, changed]) {
    const { body } = await app.call("GET", `/api/webhooks/${id}/deliveries`);
    deepEqual([body.deliveries[0].status, body.deliveries[0].error], [
      "failed",
      "The webhook was disabled",
    ]);
  }
});

Deno.test("410 disables the webhook and discards its pending messages", async () => {
  await using receiver = fakeReceiver(() =>
    new Response("secret of the receiver", { status: 410 })
  );
  using app = loopbackApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", { ...hook, url: receiver.url });
  emit(app.deps, "container.down", down);
  emit(app.deps, "container.down", down);
  await deliver(app);
  equal(receiver.received.length, 1);
  const { body } = await app.call("GET", `/api/webhooks/${id}`);
  equal(body.enabled, false);
  equal(body.lastDelivery.status, 410);
  const text = JSON.stringify((await app.call("GET", `/api/webhooks/${id}/deliveries`)).body);
  equal(text.includes("secret of the receiver"), false);
});

Deno.test("a webhook with undecryptable secrets is listed and can be deleted", async () => {
  using app = testApp();
  const { body: { id } } = await app.call("POST", "/api/webhooks", hook);
  const key = new Uint8Array(32).fill(9);
  app.deps.secrets = createSecrets({ jwtSecret: key, secretKey: key });
  const { status, body } = await app.call("GET", "/api/webhooks");
  equal(status, 200);
  deepEqual([body.webhooks[0].url, body.webhooks[0].headers], ["********", {}]);
  equal((await app.call("PUT", `/api/webhooks/${id}`, { name: "x" })).status, 409);
  emit(app.deps, "container.down", down);
  await deliver(app);
  const { body: log } = await app.call("GET", `/api/webhooks/${id}/deliveries`);
  equal(log.deliveries[0].status, "failed");
  equal((await app.call("DELETE", `/api/webhooks/${id}`)).status, 200);
});

Deno.test("every kind of event can be subscribed to", async () => {
  using app = testApp();
  const { status, body } = await app.call("POST", "/api/webhooks", {
    ...hook,
    events: EVENT_KIND_IDS,
  });
  equal(status, 201);
  deepEqual(body.events, [...EVENT_KIND_IDS]);
  notEqual(body.secret, undefined);
});

Deno.test("a user who can only read webhooks does not see the path of an address", async () => {
  using app = await appWithRights("webhooks:read");
  const { accessToken: token } = await login(app, "admin@example.com");
  const url = "https://192.0.2.1/services/T0/s3cret?key=x";
  app.deps.config.outboundAllow = ["192.0.2.1"];
  const { status, body } = await app.call("POST", "/api/webhooks", {
    name: "A",
    url,
    events: ["*"],
  }, {
    token,
  });
  deepEqual([status, body.url], [201, url]);
  const shown = "https://192.0.2.1/********";
  equal((await app.asViewer("GET", "/api/webhooks")).body.webhooks[0].url, shown);
  equal((await app.asViewer("GET", `/api/webhooks/${body.id}`)).body.url, shown);
  equal((await app.call("GET", `/api/webhooks/${body.id}`, undefined, { token })).body.url, url);
});
