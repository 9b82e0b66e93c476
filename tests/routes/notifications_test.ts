import { deepEqual, equal, match } from "node:assert/strict";
import { severityOf } from "../../services/events/message.ts";
import { emit } from "../../services/events/emit.ts";
import { CHANNEL_KIND_IDS } from "../../services/messages/channels/kinds/mod.ts";

import { containerOf, setContainers } from "../helpers/fake_containers.ts";
import { fakeReceiver } from "../helpers/fake_receiver.ts";
import { deliverHeld } from "../helpers/outbox_delivery.ts";
import { testApp, type TestAppOptions } from "../helpers/test_app.ts";

const CHANNELS = "/api/notifications/channels";

const channelApp = (options: TestAppOptions = {}) =>
  testApp({
    now: "2026-01-01T12:00:00Z",
    ...options,
    config: { serverName: "host-1", outboundAllow: ["127.0.0.1"], ...options.config },
  });
type App = ReturnType<typeof channelApp>;

const deliver = deliverHeld;

const GOTIFY = {
  name: "On-call",
  kind: "gotify",
  config: { url: "https://gotify.example.com", token: "AbCdEf" },
};

async function create(app: App, channel: object = GOTIFY): Promise<string> {
  const { status, body } = await app.call("POST", CHANNELS, channel);
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const down = (container: string) =>
  ({ container, id: "c1", reason: "exited", exitCode: 1 }) as const;

// deno-lint-ignore no-explicit-any
const deliveriesOf = async (app: App, id: string): Promise<any[]> =>
  (await app.call("GET", `${CHANNELS}/${id}/deliveries`)).body.deliveries;

Deno.test("a channel is created, listed, changed, toggled and deleted", async () => {
  using app = channelApp();
  const { status, body } = await app.call("POST", CHANNELS, GOTIFY);
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    name: "On-call",
    kind: "gotify",
    config: { url: "https://gotify.example.com", token: "********" },
    hasSecret: true,
    events: ["*"],
    minSeverity: "info",
    containers: null,
    stacks: null,
    quietHours: null,
    digestMinutes: 0,
    enabled: true,
    createdAt: "2026-01-01T12:00:00.000Z",
    updatedAt: "2026-01-01T12:00:00.000Z",
    lastDeliveryAt: null,
    lastError: null,
  });
  const path = `${CHANNELS}/${body.id}`;
  deepEqual((await app.call("GET", CHANNELS)).body, { channels: [body] });
  const changed = await app.call("PUT", path, {
    minSeverity: "critical",
    containers: ["web*"],
    config: { url: "https://gotify.example.com/sub", token: "********" },
  });
  deepEqual(changed.body, {
    ...body,
    config: { url: "https://gotify.example.com/sub", token: "********" },
    minSeverity: "critical",
    containers: ["web*"],
  });
  equal((await app.call("PUT", `${path}/toggle`, { enabled: false })).body.enabled, false);
  equal((await app.call("DELETE", path)).status, 200);
  equal((await app.call("GET", path)).status, 404);
});

Deno.test("GET /api/notifications/kinds describes every kind and its form", async () => {
  using app = channelApp();
  const { status, body } = await app.call("GET", "/api/notifications/kinds");
  equal(status, 200);
  deepEqual(body.kinds.map(({ id }: { id: string }) => id), CHANNEL_KIND_IDS);
  deepEqual(body.kinds.find(({ id }: { id: string }) => id === "opsgenie"), {
    id: "opsgenie",
    title: "Opsgenie",
    description: "An API integration, of which an alert is opened and closed",
    schemes: ["opsgenie"],
    urlForm: "opsgenie://api-key?region=eu",
    fields: [
      {
        name: "apiKey",
        label: "API key",
        type: "text",
        isSecret: true,
        isRequired: true,
        hint: null,
        placeholder: null,
        options: null,
      },
      {
        name: "region",
        label: "Region",
        type: "text",
        isSecret: false,
        isRequired: false,
        hint: null,
        placeholder: null,
        options: ["us", "eu"],
      },
      {
        name: "apiUrl",
        label: "API URL",
        type: "address",
        isSecret: false,
        isRequired: false,
        hint: "Only for a server that replaces the platform's own",
        placeholder: null,
        options: null,
      },
    ],
  });
  equal(
    (await app.call("GET", "/api/notifications/kinds", undefined, { role: "viewer" })).status,
    403,
  );
});

Deno.test("there is a limit of channels", async () => {
  using app = channelApp();
  for (let i = 0; i < 100; i++) equal((await app.call("POST", CHANNELS, GOTIFY)).status, 201);
  const beyond = await app.call("POST", CHANNELS, GOTIFY);
  deepEqual([beyond.status, beyond.body.error], [
    409,
    "Limit of 100 notification channels reached; delete one first",
  ]);
});

for (
  const [what, channel, problem] of [
    ["a missing field", { kind: "ntfy", config: { topic: "a" } }, /config\.url: required for ntfy/],
    ["an unknown field", { ...GOTIFY, config: { ...GOTIFY.config, tokn: "x" } }, /config\.tokn/],
    ["kind without config", { kind: "ntfy" }, /kind and config or url/],
    ["a blank name", { ...GOTIFY, name: " " }, /^body\.name: must not be empty/],
    ["both forms", { ...GOTIFY, url: "ntfy://host/topic" }, /kind and config or url/],
    [
      "a time of day that does not exist",
      { ...GOTIFY, quietHours: { from: "24:00", to: "07:00" } },
      /quietHours\.from: must be a time of day/,
    ],
    [
      "quiet hours without a duration",
      { ...GOTIFY, quietHours: { from: "07:00", to: "07:00" } },
      /quietHours\.to: must differ/,
    ],
    [
      "an unknown time zone",
      { ...GOTIFY, quietHours: { from: "22:00", to: "07:00", timeZone: "Mars/Base" } },
      /quietHours\.timeZone: Mars\/Base is not an IANA time zone/,
    ],
    ["a digest of two weeks", { ...GOTIFY, digestMinutes: 20_160 }, /body\.digestMinutes/],
    ["an unknown kind", { kind: "fax", config: {} }, /body\.kind/],
    ["a redacted secret", { ...GOTIFY, config: { ...GOTIFY.config, token: "********" } }, /none/],
    [
      "a loopback address",
      { ...GOTIFY, config: { ...GOTIFY.config, url: "http://127.0.0.2" } },
      /OUTBOUND_ALLOW/,
    ],
    [
      "a metadata address",
      { ...GOTIFY, config: { ...GOTIFY.config, url: "http://169.254.169.254" } },
      /OUTBOUND_ALLOW/,
    ],
    [
      "a text in place of headers",
      { kind: "webhook", config: { url: "https://example.com", headers: "x" } },
      /config\.headers: must be an object/,
    ],
    [
      "a value that is not one of the options",
      { kind: "opsgenie", config: { apiKey: "k", region: "moon" } },
      /config\.region: must be one of us, eu/,
    ],
    ["an unknown scheme", { url: "fax://host/1" }, /known schemes/],
    ["an incomplete URL", { url: "ntfy://host" }, /must be ntfy:\/\/host\/topic/],
    [
      "a mail server that must not be reached",
      { kind: "email", config: { to: ["a@example.com"], smtpUrl: "smtp://127.0.0.2" } },
      /config\.smtpUrl: 127\.0\.0\.2 is .* OUTBOUND_ALLOW/,
    ],
    [
      "a sender without an address",
      {
        kind: "email",
        config: { to: ["a@example.com"], from: "no address", smtpUrl: "smtp://m.x" },
      },
      /config: from: must be a mail address/,
    ],
    [
      "a group beside another receiver",
      {
        kind: "signal",
        config: {
          url: "https://s.example.com",
          number: "+15550100",
          recipients: ["+15550101", "group.abcdefghijkl"],
        },
      },
      /phone numbers, or one group/,
    ],
    [
      "a broken template",
      { kind: "webhook", config: { url: "https://example.com", template: "{{#if a}}" } },
      /template, line 1/,
    ],
  ] as [string, object, RegExp][]
) {
  Deno.test(`${what} is refused`, async () => {
    using app = channelApp();
    const { status, body } = await app.call("POST", CHANNELS, { name: "x", ...channel });
    equal(status, 400);
    match(body.error, problem);
  });
}

for (
  const [url, kind, config] of [
    ["ntfy://ntfy.example.com/alerts", "ntfy", {
      url: "https://ntfy.example.com",
      topic: "alerts",
    }],
    [
      "ntfy://ada:s3cret@10.1.2.3:8080/alerts?disabletls=yes",
      "ntfy",
      { url: "http://10.1.2.3:8080", topic: "alerts", username: "ada", password: "********" },
    ],
    [
      "gotify://gotify.example.com/sub/AbC",
      "gotify",
      { url: "https://gotify.example.com/sub", token: "********" },
    ],
    ["discord://tok-en@123", "discord", { url: "********" }],
    ["slack://T0/B0/X0", "slack", { url: "********" }],
    ["slack://hook:T0-B0-X0@webhook", "slack", { url: "********" }],
    ["mattermost://chat.example.com/abc", "mattermost", { url: "********" }],
    ["rocketchat://chat.example.com/a/b", "rocketchat", { url: "********" }],
    ["telegram://110201543:AAHdqTcvCH1@telegram?chats=-1001", "telegram", {
      botToken: "********",
      chatId: "-1001",
    }],
    ["matrix://:syt_1@matrix.example.com/!room:example.com", "matrix", {
      url: "https://matrix.example.com",
      accessToken: "********",
      roomId: "!room:example.com",
    }],
    ["gchat://space/key/token", "googlechat", { url: "********" }],
    [
      "pushover://shoutrrr:azGDORePK8gMaC0QOYAMyEEuzJnyUi@uQiRzpo4DXghDmr9QzzfQu27cmVRsG",
      "pushover",
      { token: "********", userKey: "********" },
    ],
    ["pagerduty://0123456789abcdef0123456789abcdef", "pagerduty", { routingKey: "********" }],
    ["opsgenie://key-1?region=eu", "opsgenie", { apiKey: "********", region: "eu" }],
    ["signal://10.1.2.3:8080/+15550100/+15550101?disabletls=yes", "signal", {
      url: "http://10.1.2.3:8080",
      number: "+15550100",
      recipients: ["+15550101"],
    }],
    ["apprise://10.1.2.3/key", "apprise", { url: "https://10.1.2.3", key: "********" }],
    ["hassio://10.1.2.3:8123/hook", "homeassistant", {
      url: "https://10.1.2.3:8123",
      webhookId: "********",
    }],
    ["smtp://ada:pass@mail.example.com:587/?from=a@example.com&to=b@example.com", "email", {
      to: ["b@example.com"],
      from: "a@example.com",
      smtpUrl: "********",
    }],
    ["teams://prod-1.example.com/workflows/1?sig=s", "teams", { url: "********" }],
    ["generic://hooks.example.com/x", "webhook", { url: "********" }],
  ] as [string, string, object][]
) {
  Deno.test(`${url} stands for ${kind}`, async () => {
    using app = channelApp();
    const { status, body } = await app.call("POST", CHANNELS, { name: "x", url });
    equal(status, 201, JSON.stringify(body));
    equal(body.kind, kind);
    deepEqual(body.config, config);
  });
}

Deno.test("a secret is kept only for its own address", async () => {
  using app = channelApp();
  const path = `${CHANNELS}/${await create(app)}`;
  const moved = { config: { url: "https://evil.example.com" } };
  const { status, body } = await app.call("PUT", path, moved);
  equal(status, 400);
  match(body.error, /config\.token: give it again/);
  const redacted = { config: { ...moved.config, token: "********" } };
  equal((await app.call("PUT", path, redacted)).status, 400);
  const again = { config: { ...moved.config, token: "NeW" } };
  equal((await app.call("PUT", path, again)).status, 200);
});

Deno.test("a secret is not kept for the address of the vendor instead of its own", async () => {
  using app = channelApp();
  const pager = {
    name: "Pager",
    kind: "pagerduty",
    config: { routingKey: "a".repeat(32), apiUrl: "https://pager.example.com" },
  };
  const path = `${CHANNELS}/${await create(app, pager)}`;
  for (const config of [{ apiUrl: null }, { apiUrl: null, routingKey: "********" }]) {
    const { status, body } = await app.call("PUT", path, { config });
    deepEqual([status, /config\.routingKey: give it again/.test(body.error)], [400, true]);
  }
  const given = { apiUrl: null, routingKey: "b".repeat(32) };
  equal((await app.call("PUT", path, { config: given })).status, 200);
  // There was none, so that nothing changes.
  equal((await app.call("PUT", path, { config: { apiUrl: null } })).status, 200);
});

Deno.test("an address of which a part is redacted is refused", async () => {
  using app = channelApp();
  const config = { to: ["a@example.com"], smtpUrl: "smtp://u:secret@127.0.0.1:2525" };
  const path = `${CHANNELS}/${await create(app, { name: "Mail", kind: "email", config })}`;
  const smtpUrl = "smtp://********:********@127.0.0.1:9";

  const { status, body } = await app.call("PUT", path, { config: { smtpUrl } });

  equal(status, 400);
  match(body.error, /config\.smtpUrl: must be given as a whole/);
  equal((await app.call("PUT", path, { config: { smtpUrl: "********" } })).status, 200);
});

Deno.test("headers are kept only for their own address", async () => {
  using app = channelApp();
  const path = `${CHANNELS}/${await create(app, {
    name: "Hook",
    kind: "webhook",
    config: { url: "https://a.example.com/x", headers: { "x-key": "s3cret" } },
  })}`;
  equal((await app.call("PUT", path, { config: { method: "PUT" } })).status, 200);
  const moved = { config: { url: "https://b.example.com/x" } };
  equal((await app.call("PUT", path, moved)).status, 400);
});

Deno.test("only events that the channel wants are sent", async () => {
  await using receiver = fakeReceiver();
  using app = channelApp();
  const id = await create(app, {
    ...GOTIFY,
    config: { url: receiver.url, token: "t" },
    events: ["container.down", "container.up", "container.oom"],
    minSeverity: "warning",
    containers: ["web*"],
  });
  emit(app.deps, "container.down", down("web-1"));
  emit(app.deps, "container.down", down("db"));
  emit(app.deps, "container.oom", { container: "web-2", id: "c2" });
  emit(app.deps, "container.unhealthy", { container: "web-2", id: "c2", healthOutput: null });
  // A finished task is not a problem.
  emit(app.deps, "container.down", { ...down("web-3"), exitCode: 0 });
  await deliver(app);
  // The end of a problem is sent although its severity is lower.
  emit(app.deps, "container.up", { container: "web-1", id: "c1" });
  await deliver(app);
  deepEqual(
    (await deliveriesOf(app, id)).map(({ title }) => title),
    [
      "host-1: Container up: web-1",
      "host-1: Container out of memory: web-2",
      "host-1: Container down: web-1",
    ],
  );
});

Deno.test("a channel for a stack gets only what is about its containers", async () => {
  await using receiver = fakeReceiver();
  using app = channelApp();
  const named = (name: string, stack: string) =>
    containerOf({ name, labels: { "com.docker.compose.project": stack } });
  setContainers(app, named("web", "shop"), named("mail", "office"), named("db", "shop"));
  const id = await create(app, {
    ...GOTIFY,
    config: { url: receiver.url, token: "t" },
    stacks: ["sh*"],
    containers: ["web", "mail"],
  });
  for (const name of ["web", "mail", "db", "gone"]) {
    emit(app.deps, "container.unhealthy", { container: name, id: name, healthOutput: null });
  }
  await deliver(app);
  emit(app.deps, "engine.down", { error: "connection refused", containers: 3 });
  await deliver(app);
  deepEqual((await deliveriesOf(app, id)).map(({ title }) => title), [
    "host-1: Container engine down",
    "host-1: Container unhealthy: web",
  ]);
});

Deno.test("deploys are for channels without limits, and for those limited to their stack", async () => {
  using app = channelApp();
  const fail = (stack: string) =>
    emit(app.deps, "deploy.failed", { stack, version: 1, reason: "no such image", jobId: stack });
  const titlesFor = async (limits: object) => {
    const id = await create(app, { ...GOTIFY, ...limits });
    for (const stack of ["shop", "office"]) fail(stack);
    app.clock.advance({ ms: 10_000 });
    await deliver(app);
    return (await deliveriesOf(app, id)).map(({ title }) => title).sort();
  };
  deepEqual(await titlesFor({}), ["host-1: Deploy failed: office", "host-1: Deploy failed: shop"]);
  deepEqual(await titlesFor({ stacks: ["sh*"] }), ["host-1: Deploy failed: shop"]);
  deepEqual(await titlesFor({ containers: ["*"] }), []);
});

Deno.test("nothing is queued during maintenance", async () => {
  using app = channelApp();
  const id = await create(app);
  await app.call("POST", "/api/maintenance", { enabled: true });
  emit(app.deps, "container.down", down("web"));
  deepEqual(await deliveriesOf(app, id), []);
});

Deno.test("a failed message keeps its place, and does not delay other channels", async () => {
  let isBroken = true;
  await using broken = fakeReceiver(() => new Response(null, { status: isBroken ? 500 : 200 }));
  await using healthy = fakeReceiver();
  using app = channelApp();
  await create(app, { ...GOTIFY, config: { url: broken.url, token: "t" } });
  await create(app, { ...GOTIFY, config: { url: healthy.url, token: "t" } });
  for (const name of ["a", "b", "c"]) emit(app.deps, "container.down", down(name));
  await deliver(app);
  const titles = (received: { body: string }[]) =>
    received.map(({ body }) => JSON.parse(body).title.at(-1)).join("");
  equal(titles(healthy.received), "abc");
  equal(titles(broken.received), "a");
  isBroken = false;
  app.clock.advance({ ms: 10_000 });
  await deliver(app);
  equal(titles(broken.received), "aabc");
});

Deno.test("what ended before it could be sent is not sent any more", async () => {
  let isBroken = true;
  await using receiver = fakeReceiver(() => new Response(null, { status: isBroken ? 500 : 200 }));
  using app = channelApp();
  const id = await create(app, { ...GOTIFY, config: { url: receiver.url, token: "t" } });
  emit(app.deps, "container.down", down("web"));
  await deliver(app);
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  isBroken = false;
  app.clock.advance({ ms: 10_000 });
  await deliver(app);
  deepEqual((await deliveriesOf(app, id)).map(({ status, title }) => [status, title]), [
    ["sent", "host-1: Container up: web"],
    ["failed", "host-1: Container down: web"],
  ]);
});

Deno.test("a message is given up after 24 hours", async () => {
  await using receiver = fakeReceiver(() => new Response(null, { status: 503 }));
  using app = channelApp();
  const id = await create(app, { ...GOTIFY, config: { url: receiver.url, token: "t" } });
  emit(app.deps, "container.down", down("web"));
  for (let hour = 0; hour < 26; hour++) {
    await deliver(app);
    app.clock.advance({ ms: 3_700_000 });
  }
  const [delivery] = await deliveriesOf(app, id);
  equal(delivery.status, "failed");
  match(delivery.error, /^It could not be sent for 24 hours: HTTP 503/);
});

Deno.test("more than 20 messages in a minute become one summary", async () => {
  await using receiver = fakeReceiver();
  using app = channelApp();
  await create(app, { ...GOTIFY, config: { url: receiver.url, token: "t" } });
  for (let n = 1; n <= 50; n++) emit(app.deps, "container.down", down(`web-${n}`));
  await deliver(app);
  equal(receiver.received.length, 20);
  app.clock.advance({ ms: 60_000 });
  await deliver(app);
  equal(receiver.received.length, 21);
  const { title, message } = JSON.parse(receiver.received.at(-1)!.body);
  equal(title, "[Warning] host-1: 30 more notifications");
  match(message, /^host-1: Container down: web-21\n/);
  match(message, /\nand 10 more\n/);
});

Deno.test("a sent message can be sent again, a queued one cannot", async () => {
  await using receiver = fakeReceiver();
  using app = channelApp();
  const id = await create(app, { ...GOTIFY, config: { url: receiver.url, token: "t" } });
  const { body: { deliveryId } } = await app.call("POST", `${CHANNELS}/${id}/test`);
  const path = `/api/notifications/deliveries/${deliveryId}/replay`;
  equal((await app.call("POST", path)).status, 409);
  await deliver(app);
  equal((await app.call("POST", path)).status, 200);
  await deliver(app);
  equal(receiver.received.length, 2);
  equal((await app.call("POST", "/api/notifications/deliveries/x/replay")).status, 404);
});

Deno.test("a message about an incident has the severity of the incident", () => {
  const incident = { id: "i1", title: "Checkout", status: "open", source: "manual" } as const;
  const update = { previousStatus: "open", message: null } as const;
  for (
    const [severity, expected] of [
      ["critical", "critical"],
      ["major", "warning"],
      ["minor", "warning"],
      ["info", "info"],
    ] as const
  ) {
    const data = { ...incident, severity };
    equal(severityOf({ event: "incident.created", data }), expected);
    equal(severityOf({ event: "incident.updated", data: { ...data, ...update } }), expected);
    equal(severityOf({ event: "incident.resolved", data }), "info");
  }
});
