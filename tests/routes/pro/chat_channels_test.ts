import { deepEqual, equal, match, ok } from "node:assert/strict";
import { migration as formerTable } from "../../../db/migrations/state/0028_chat.ts";
import { migration as move } from "../../../db/migrations/state/0036_chat_view.ts";
import { emit } from "../../../services/events/emit.ts";
import { EVENT_KIND_IDS } from "../../../services/events/kinds/mod.ts";
import { deliverHeld } from "../../helpers/outbox_delivery.ts";
import { createSecrets } from "../../../services/secrets/secrets.ts";
import {
  type FakeChat,
  fakeSlack,
  fakeTelegram,
  floodWait,
  KNOWN,
} from "../../helpers/chat_platforms.ts";
import { fakeReceiver } from "../../helpers/fake_receiver.ts";
import { keptLog, testApp, type TestAppOptions } from "../../helpers/test_app.ts";

const BASE = "/api/ext/service-pro/chatops";

// deno-lint-ignore no-explicit-any
type Json = any;

const telegram = {
  platform: "messenger",
  name: "On-call",
  config: { bot_token: KNOWN.token, chat_id: KNOWN.chat },
  events: ["alert.fired", "container.down"],
};

const slack = {
  platform: "team-chat",
  name: "Operations",
  config: { webhook_url: `https://198.100.1.1${KNOWN.webhookPath}` },
  events: ["container.down"],
};

const down = { container: "web", id: "c1", reason: "exited", exitCode: 1 } as const;
const HEADLINE = "[Warning] test-host: Container down: web";
const DOWN_TEXT = `${HEADLINE}\nExited (exit code 1)\n2026-01-01 00:00:00 UTC`;

const proApp = (options: TestAppOptions = {}) =>
  testApp({
    edition: "pro",
    ...options,
    config: { serverName: "test-host", outboundAllow: ["127.0.0.1"], ...options.config },
  });
type ProApp = ReturnType<typeof proApp>;

const deliver = deliverHeld;

async function create(app: ProApp, channel: unknown): Promise<string> {
  const { status, body } = await app.call("POST", `${BASE}/channels`, channel);
  equal(status, 201, JSON.stringify(body));
  return body.id;
}

const toTelegram = (chat: FakeChat, changes = {}, config = {}) => ({
  ...telegram,
  ...changes,
  config: { ...telegram.config, api_url: chat.url, ...config },
});

const toSlack = (chat: FakeChat, changes = {}) => ({
  ...slack,
  ...changes,
  config: { webhook_url: chat.url + KNOWN.webhookPath },
});

const messagesOf = async (app: ProApp, id: string) =>
  (await app.call("GET", `${BASE}/channels/${id}/messages`)).body.messages;

Deno.test("POST /channels stores a channel and does not show its config", async () => {
  using app = proApp({ now: "2026-01-01T12:00:00Z" });
  const { status, body } = await app.call("POST", `${BASE}/channels`, {
    ...telegram,
    enabled: false,
  });
  equal(status, 201);
  deepEqual(body, {
    id: body.id,
    platform: "messenger",
    name: "On-call",
    config: { bot_token: "********", chat_id: "********" },
    events: telegram.events,
    enabled: false,
    created_at: "2026-01-01T12:00:00.000Z",
    updated_at: "2026-01-01T12:00:00.000Z",
  });
  deepEqual((await app.call("GET", `${BASE}/channels/${body.id}`)).body, { ...body, messages: [] });
  deepEqual((await app.call("GET", `${BASE}/channels`)).body, { channels: [body] });
});

Deno.test("all fields of a config are encrypted in the database", async () => {
  using app = proApp();
  await create(app, { ...telegram, config: { ...telegram.config, api_url: "https://gw.test" } });
  await create(app, slack);
  const rows = JSON.stringify(app.deps.db.all("SELECT * FROM notification_channels"));
  for (const text of [KNOWN.token, KNOWN.chat, "gw.test", "198.100.1.1", "XXXX"]) {
    equal(rows.includes(text), false, text);
  }
});

for (const [alias, channel] of [["telegram", telegram], ["slack", slack]] as const) {
  Deno.test(`the platform can be named ${alias}`, async () => {
    using app = proApp();
    const { body } = await app.call("POST", `${BASE}/channels`, { ...channel, platform: alias });
    equal(body.platform, channel.platform);
    equal(body.enabled, true);
  });
}

Deno.test("a chat_id may be a number, and events that are named twice are kept once", async () => {
  using app = proApp();
  const { status, body } = await app.call("POST", `${BASE}/channels`, {
    ...telegram,
    events: ["*", "alert.fired", "*"],
    config: { bot_token: "1:a", chat_id: -1001234567890 },
  });
  equal(status, 201);
  deepEqual(body.events, ["*", "alert.fired"]);
});

Deno.test("there is a limit of channels", async () => {
  using app = proApp();
  for (let i = 0; i < 100; i++) await create(app, telegram);
  const beyond = await app.call("POST", `${BASE}/channels`, telegram);
  deepEqual([beyond.status, beyond.body.error], [
    409,
    "Limit of 100 notification channels reached; delete one first",
  ]);
});

for (
  const [wrong, channel, error] of [
    [
      "another platform",
      { ...slack, platform: "irc" },
      /^body\.platform: must be one of messenger, telegram, team-chat, slack/,
    ],
    ["no name", { ...slack, name: " " }, /^body\.name: /],
    ["a name of 101 characters", { ...slack, name: "x".repeat(101) }, /^body\.name: /],
    ["no events", { ...slack, events: [] }, /^body\.events: must not be empty/],
    [
      "an unknown event",
      { ...slack, events: ["alert.fried"] },
      /^body\.events\.0: must be one of \*, alert\.fired/,
    ],
    ["events that are a text", { ...slack, events: "*" }, /^body\.events: /],
    ["no config", { ...slack, config: undefined }, /^body\.config: /],
    [
      "no token",
      { ...telegram, config: { chat_id: "1" } },
      /^body\.config\.bot_token: required for messenger/,
    ],
    ["no chat", { ...telegram, config: { bot_token: "1:a" } }, /^body\.config\.chat_id: required/],
    [
      "the other platform's config",
      { ...slack, config: telegram.config },
      /^body\.config\.webhook_url: required for team-chat/,
    ],
    [
      "a token that is a path",
      { ...telegram, config: { ...telegram.config, bot_token: "1/../x" } },
      /^body\.config\.bot_token: /,
    ],
    [
      "a chat with a space",
      { ...telegram, config: { ...telegram.config, chat_id: "a b" } },
      /^body\.config\.chat_id: /,
    ],
    [
      "a redacted value",
      { ...telegram, config: { ...telegram.config, bot_token: "********" } },
      /^body\.config\.bot_token: .*there is none/,
    ],
    [
      "a webhook that is not a URL",
      { ...slack, config: { webhook_url: "hooks" } },
      /^body\.config\.webhook_url: is not an http/,
    ],
    [
      "a webhook on this machine",
      { ...slack, config: { webhook_url: "http://127.0.0.2/" } },
      /^body\.config\.webhook_url: .*may not reach/,
    ],
    [
      "the metadata service",
      { ...telegram, config: { ...telegram.config, api_url: "http://169.254.169.254/" } },
      /^body\.config\.api_url: .*may not reach/,
    ],
    [
      "a gateway with a password",
      { ...telegram, config: { ...telegram.config, api_url: "https://a:b@gw.test" } },
      /^body\.config\.api_url: /,
    ],
  ] as const
) {
  Deno.test(`POST /channels refuses ${wrong}`, async () => {
    using app = proApp();
    const { status, body } = await app.call("POST", `${BASE}/channels`, channel);
    equal(status, 400);
    match(body.error, error);
    deepEqual((await app.call("GET", `${BASE}/channels`)).body.channels, []);
  });
}

Deno.test("without the license everything is 402, and nothing is sent", async () => {
  using app = testApp();
  const { status, body } = await app.call("GET", `${BASE}/channels`);
  deepEqual([status, body.error, body.max], [
    402,
    "Chat channels need the Pro edition (chatops)",
    0,
  ]);
});

Deno.test("viewers can read, and only admins can write", async () => {
  using app = proApp();
  const id = await create(app, slack);
  for (const path of ["/channels", `/channels/${id}`, `/channels/${id}/messages`]) {
    equal((await app.call("GET", BASE + path, undefined, { role: "viewer" })).status, 200);
  }
  for (
    const [method, path] of [
      ["POST", "/channels"],
      ["PUT", `/channels/${id}`],
      ["DELETE", `/channels/${id}`],
      ["POST", `/channels/${id}/test`],
      ["POST", "/dispatch"],
    ] as const
  ) {
    equal((await app.call(method, BASE + path, {}, { role: "operator" })).status, 403);
  }
});

Deno.test("an unknown channel is 404 everywhere", async () => {
  using app = proApp();
  for (
    const [method, path, body] of [
      ["GET", "", undefined],
      ["PUT", "", { name: "x" }],
      ["DELETE", "", undefined],
      ["POST", "/test", undefined],
      ["GET", "/messages", undefined],
    ] as const
  ) {
    const answer = await app.call(method, `${BASE}/channels/nope${path}`, body);
    deepEqual([method, path, answer.status], [method, path, 404]);
    equal(answer.body.error, "Chat channel nope does not exist");
  }
});

Deno.test("an event reaches Telegram in the form of sendMessage", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const id = await create(app, toTelegram(chat));
  emit(app.deps, "container.down", down);
  emit(app.deps, "container.up", { container: "web", id: "c1" });
  await deliver(app);
  deepEqual(chat.messages, [{
    path: `/bot${KNOWN.token}/sendMessage`,
    body: {
      chat_id: KNOWN.chat,
      text: DOWN_TEXT,
      entities: [{ type: "bold", offset: 0, length: HEADLINE.length }],
      link_preview_options: { is_disabled: true },
    },
  }]);
  const [message] = await messagesOf(app, id);
  deepEqual(message, {
    id: message.id,
    channel_id: id,
    event_type: "container.down",
    text: DOWN_TEXT,
    status: "sent",
    error: null,
    attempts: 1,
    created_at: "2026-01-01T00:00:03.000Z",
    sent_at: "2026-01-01T00:00:03.000Z",
  });
  deepEqual((await app.call("GET", `${BASE}/channels/${id}`)).body.messages, [message]);
});

Deno.test("an event reaches Slack, and nothing in it is markup or a mention", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  await create(app, toSlack(chat));
  emit(app.deps, "container.down", { ...down, container: "<!channel> & <https://a.test|b>" });
  await deliver(app);
  const text = HEADLINE.replace("web", "&lt;!channel&gt; &amp; &lt;https://a.test|b&gt;");
  deepEqual(chat.messages[0]!.body, {
    text,
    mrkdwn: false,
    unfurl_links: false,
    unfurl_media: false,
    attachments: [{
      color: "#d92d20",
      fallback: text,
      text: "Exited (exit code 1)\n2026-01-01 00:00:00 UTC",
      mrkdwn_in: [],
    }],
  });
});

Deno.test("a gateway replaces Slack, under its own path", async () => {
  await using gateway = fakeReceiver(() => new Response("ok"));
  using app = proApp();
  const id = await create(app, {
    ...slack,
    config: { ...slack.config, api_url: `${gateway.url}slack/` },
  });
  await app.call("POST", `${BASE}/channels/${id}/test`);
  await deliver(app);
  equal(gateway.received[0]!.path, `/slack${KNOWN.webhookPath}`);
});

for (
  const { what, text } of [
    { what: "HTML", text: "<script>alert(1)</script>&amp;<b>".repeat(400) },
    { what: "emoji", text: "👩‍👩‍👧‍👦🏳️‍🌈".repeat(1_000) },
    { what: "right-to-left text", text: "שלום עולם \u202E".repeat(1_000) },
    { what: "Slack's own escapes", text: "&".repeat(10_000) },
  ]
) {
  Deno.test(`both platforms accept titles and messages of 10 000 characters: ${what}`, async () => {
    await using first = fakeTelegram();
    await using second = fakeSlack();
    using app = proApp();
    const events = ["incident.updated"];
    const ids = [
      await create(app, toTelegram(first, { events })),
      await create(app, toSlack(second, { events })),
    ];
    emit(app.deps, "incident.updated", {
      id: "i1",
      title: text,
      severity: "major",
      status: "identified",
      source: "manual",
      previousStatus: "investigating",
      message: text,
    });
    await deliver(app);
    for (const id of ids) {
      const [message] = await messagesOf(app, id);
      deepEqual([message.status, message.error], ["sent", null]);
    }
    ok(first.messages[0]!.body.text.length <= 4_096);
    ok(second.messages[0]!.body.text.length <= 40_000);
    equal(/[<>]/.test(second.messages[0]!.body.text.replace(" -&gt; ", "")), false);
  });
}

Deno.test("during maintenance a channel gets only tests and dispatched events", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const id = await create(app, toSlack(chat, { events: ["*"] }));
  await app.call("POST", "/api/maintenance", { enabled: true });
  emit(app.deps, "container.down", down);
  await app.call("POST", `${BASE}/channels/${id}/test`);
  await app.call("POST", `${BASE}/dispatch`, { event_type: "deploy", payload: {} });
  await deliver(app);
  deepEqual(
    (await messagesOf(app, id)).map((message: { event_type: string }) => message.event_type),
    [
      "deploy",
      "test",
    ],
  );
});

Deno.test("after the license ends, a channel is the notification channel that it always was", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const id = await create(app, toSlack(chat));
  app.deps.license.use(undefined);
  equal((await app.call("GET", `${BASE}/channels/${id}`)).status, 402);
  emit(app.deps, "container.down", down);
  await deliver(app);
  equal(chat.messages.length, 1);
});

Deno.test("POST /test returns the message id and sends it, also for a disabled channel", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const id = await create(app, toTelegram(chat, { enabled: false }));
  const { status, body } = await app.call("POST", `${BASE}/channels/${id}/test`);
  deepEqual([status, body], [200, { ok: true, message_id: body.message_id }]);
  await deliver(app);
  const [message] = await messagesOf(app, id);
  deepEqual([message.id, message.status, message.event_type], [body.message_id, "sent", "test"]);
  match(message.text, /Test of the channel On-call/);
});

Deno.test("POST /dispatch reaches every enabled channel with this kind of event", async () => {
  await using first = fakeTelegram();
  await using second = fakeSlack();
  using app = proApp();
  const ids = [
    await create(app, toTelegram(first, { events: ["alert.fired"] })),
    await create(app, toSlack(second, { events: ["*"] })),
  ];
  await create(app, toSlack(second, { events: ["alert.resolved"] }));
  await create(app, toSlack(second, { events: ["alert.fired"], enabled: false }));
  const { status, body } = await app.call("POST", `${BASE}/dispatch`, {
    event_type: "alert.fired",
    payload: { rule: "Disk", message: "91 % of / is used" },
  });
  equal(status, 200);
  deepEqual([body.ok, body.dispatched, body.message_ids.length], [true, 2, 2]);
  await deliver(app);
  const logged = await Promise.all(ids.map(async (id) => (await messagesOf(app, id))[0].id));
  deepEqual(logged.sort(), body.message_ids.sort());
  match(first.messages[0]!.body.text, /^\[Warning\] test-host: Alert: Disk\n91 % of \/ is used\n/);

  const other = await app.call("POST", `${BASE}/dispatch`, { event_type: "deploy.done" });
  deepEqual([other.body.dispatched, other.body.message_ids.length], [1, 1]);
});

for (
  const [wrong, body, error] of [
    ["no kind", { payload: {} }, /^body\.event_type: /],
    [
      "a kind with a space",
      { event_type: "a b", payload: {} },
      /^body\.event_type: must have 1 to 100/,
    ],
    ["a payload that is a text", { event_type: "test", payload: "x" }, /^body\.payload: /],
    ["a payload that is a list", { event_type: "test", payload: [] }, /^body\.payload: /],
  ] as const
) {
  Deno.test(`POST /dispatch refuses ${wrong}`, async () => {
    using app = proApp();
    const answer = await app.call("POST", `${BASE}/dispatch`, body);
    equal(answer.status, 400);
    match(answer.body.error, error);
  });
}

Deno.test("the delivery log is paginated", async () => {
  using app = proApp();
  const id = await create(app, slack);
  for (let i = 0; i < 5; i++) await app.call("POST", `${BASE}/channels/${id}/test`);
  const { body } = await app.call("GET", `${BASE}/channels/${id}/messages?limit=2&offset=4`);
  deepEqual([body.messages.length, body.total, body.limit, body.offset], [1, 5, 2, 4]);
  equal((await app.call("GET", `${BASE}/channels/${id}/messages?limit=0`)).status, 400);
});

Deno.test("PUT changes the given fields and keeps the rest, including redacted values", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const id = await create(app, toTelegram(chat, {}, { chat_id: "-1" }));
  app.clock.advance({ minutes: 1 });
  const { status, body } = await app.call("PUT", `${BASE}/channels/${id}`, {
    name: "Night",
    events: ["*"],
    config: { bot_token: "********", chat_id: KNOWN.chat },
  });
  equal(status, 200);
  deepEqual(
    [body.name, body.events, body.config, body.updated_at],
    [
      "Night",
      ["*"],
      { bot_token: "********", chat_id: "********", api_url: "********" },
      "2026-01-01T00:01:00.000Z",
    ],
  );
  await app.call("PUT", `${BASE}/channels/${id}`, body);
  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  await deliver(app);
  equal(chat.messages.length, 1);

  const gone = await app.call("PUT", `${BASE}/channels/${id}`, {
    config: { ...telegram.config, api_url: null },
  });
  deepEqual(gone.body.config, { bot_token: "********", chat_id: "********" });
  const missing = await app.call("PUT", `${BASE}/channels/${id}`, { config: { chat_id: null } });
  equal(missing.status, 400);
});

const GATEWAY = "https://198.100.1.9/gateway";

for (
  const [channel, config, field] of [
    [telegram, { api_url: GATEWAY }, "bot_token"],
    [telegram, { api_url: GATEWAY, bot_token: "********", chat_id: "1" }, "bot_token"],
    [telegram, { api_url: GATEWAY, bot_token: KNOWN.token }, "chat_id"],
    [
      { ...telegram, config: { ...telegram.config, api_url: GATEWAY } },
      { api_url: null },
      "bot_token",
    ],
    [slack, { api_url: GATEWAY }, "webhook_url"],
    [slack, { api_url: "https://198.100.1.1:8443", webhook_url: "********" }, "webhook_url"],
  ] as const
) {
  const name = `${field} of ${JSON.stringify(channel.config)}`;
  Deno.test(`${name} is not sent to another origin by ${JSON.stringify(config)}`, async () => {
    using app = proApp();
    const id = await create(app, channel);
    const { status, body } = await app.call("PUT", `${BASE}/channels/${id}`, { config });
    deepEqual([status, body.error], [
      400,
      `body.config.${field}: give it again, the address changed`,
    ]);
    const whole = { ...channel.config, api_url: config.api_url };
    const changed = await app.call("PUT", `${BASE}/channels/${id}`, { config: whole });
    equal(changed.status, 200, changed.body.error);
  });
}

Deno.test("a channel keeps its config under another path of the same origin", async () => {
  using app = proApp();
  const id = await create(app, {
    ...telegram,
    config: { ...telegram.config, api_url: GATEWAY },
  });
  const { status } = await app.call("PUT", `${BASE}/channels/${id}`, {
    config: { api_url: "https://198.100.1.9/other", bot_token: "********" },
  });
  equal(status, 200);
  const moved = await create(app, slack);
  const other = await app.call("PUT", `${BASE}/channels/${moved}`, {
    config: { webhook_url: "https://198.100.1.7/services/T/B/X" },
  });
  equal(other.status, 200);
});

Deno.test("a change of the platform requires a complete config", async () => {
  using app = proApp();
  const id = await create(app, telegram);
  const without = await app.call("PUT", `${BASE}/channels/${id}`, { platform: "slack" });
  deepEqual([without.status, /webhook_url: required/.test(without.body.error)], [400, true]);
  const { body } = await app.call("PUT", `${BASE}/channels/${id}`, {
    platform: "slack",
    config: slack.config,
  });
  deepEqual([body.platform, body.config], ["team-chat", { webhook_url: "********" }]);
});

Deno.test("queued messages of a disabled or deleted channel are not sent", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const [off, deleted] = [await create(app, toSlack(chat)), await create(app, toSlack(chat))];
  emit(app.deps, "container.down", down);
  for (const id of [off, deleted]) {
    await app.call("POST", `${BASE}/channels/${id}/test`);
  }
  await app.call("PUT", `${BASE}/channels/${off}`, { enabled: false });
  deepEqual((await app.call("DELETE", `${BASE}/channels/${deleted}`)).body, { ok: true });
  await deliver(app);
  deepEqual(chat.paths, []);
  const [message] = await messagesOf(app, off);
  deepEqual([message.status, message.error], ["failed", "The channel was disabled"]);
  deepEqual(
    app.deps.db.all("SELECT id FROM outbox_messages WHERE target_id = :deleted", { deleted }),
    [],
  );
});

Deno.test("a throttled bot waits as long as Telegram requires, with all pending messages", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const id = await create(app, toTelegram(chat));
  const emitDown = (container: string) => emit(app.deps, "container.down", { ...down, container });
  emitDown("a");
  emitDown("b");
  chat.answerOnce(() => floodWait(90));
  await deliver(app);
  emitDown("c");
  await deliver(app);
  equal(chat.paths.length, 1);
  equal((await messagesOf(app, id))[2].error, "HTTP 429: too many messages");

  app.clock.advance({ seconds: 86 });
  await deliver(app);
  equal(chat.paths.length, 1);
  app.clock.advance({ seconds: 5 });
  await deliver(app);
  equal(chat.messages.length, 3);
  emitDown("d");
  await deliver(app);
  equal(chat.messages.length, 4);
});

Deno.test("a name in a message to Telegram is not a mention", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  await create(app, toTelegram(chat));
  emit(app.deps, "container.down", { ...down, container: "@everyone_here" });
  await deliver(app);
  const { text, entities: [bold] } = chat.messages[0]!.body;
  match(text, /Container down: @\u200beveryone_here\n/);
  equal(text.slice(0, bold.length), text.split("\n")[0]);
});

Deno.test("Slack's Retry-After is honoured, at most for an hour", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  await create(app, toSlack(chat));
  emit(app.deps, "container.down", down);
  chat.answerOnce(() =>
    new Response("rate_limited", { status: 429, headers: { "retry-after": "86400" } })
  );
  await deliver(app);
  app.clock.advance({ minutes: 59 });
  await deliver(app);
  equal(chat.paths.length, 1);
  app.clock.advance({ minutes: 2 });
  await deliver(app);
  equal(chat.messages.length, 1);
});

Deno.test("refusals of the platforms become messages that say what to do", async () => {
  await using first = fakeTelegram();
  await using second = fakeSlack();
  using app = proApp();
  const errorOf = async (channel: unknown) => {
    const id = await create(app, channel);
    await app.call("POST", `${BASE}/channels/${id}/test`);
    await deliver(app);
    return (await messagesOf(app, id))[0].error;
  };
  const answered = async (chat: FakeChat, answer: () => Response) => {
    chat.answerOnce(answer);
    return await errorOf(chat === first ? toTelegram(chat) : toSlack(chat));
  };
  const botError = (error_code: number, description: string) => () =>
    Response.json({ ok: false, error_code, description }, { status: error_code });

  const other = "110201543:BBHdqTcvCH1vGWJxfSeofSAs0K5PALDsaw";
  deepEqual(
    [
      await errorOf(toTelegram(first, {}, { bot_token: other })),
      await errorOf(toTelegram(first, {}, { bot_token: "1:nonsense" })),
      await errorOf(toTelegram(first, {}, { chat_id: "-2" })),
      await answered(first, botError(403, "Forbidden: bot was blocked by the user")),
      await answered(
        first,
        botError(400, "Bad Request: group chat was upgraded to a supergroup chat"),
      ),
      await answered(first, botError(400, "Bad Request: something of the chat's own")),
      await answered(first, () => new Response("<html>welcome</html>")),
      await answered(first, () => new Response("", { status: 502 })),
      await errorOf({ ...slack, config: { webhook_url: `${second.url}/services/T/B/gone` } }),
      await answered(second, () => new Response("action_prohibited", { status: 403 })),
      await answered(second, () => new Response("constructor", { status: 400 })),
      await answered(second, () => Response.redirect("http://127.0.0.1/elsewhere")),
    ],
    [
      "HTTP 401: the bot token is not valid",
      "HTTP 404: the bot token is not valid",
      "HTTP 400: the chat does not exist, or the bot is not a member",
      "HTTP 403: the bot was removed or blocked in the chat",
      "HTTP 400: the group became a supergroup; enter its new chat ID",
      "HTTP 400: the platform refused the message",
      "HTTP 200: the response is not from the Bot API; check the API URL",
      "HTTP 502: the platform reported an internal error",
      "HTTP 404: the webhook was removed or disabled",
      "HTTP 403: the workspace does not allow this webhook to post",
      "HTTP 400: the platform refused the message",
      "HTTP 302: redirects are not followed",
    ],
  );
});

Deno.test("an archived channel is disabled, and its pending messages are discarded", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const id = await create(app, toSlack(chat));
  emit(app.deps, "container.down", down);
  emit(app.deps, "container.down", { ...down, container: "other" });
  chat.answerOnce(() => new Response("channel_is_archived", { status: 410 }));
  await deliver(app);
  equal(chat.paths.length, 1);
  const { body } = await app.call("GET", `${BASE}/channels/${id}`);
  equal(body.enabled, false);
  for (const { status, error } of body.messages) {
    deepEqual([status, error], ["failed", "HTTP 410: the channel is archived"]);
  }
});

Deno.test("tokens and responses of platforms are in no response, error or log", async () => {
  const { log, lines } = keptLog();
  await using chat = fakeTelegram();
  using app = proApp({ log });
  const ids = [
    await create(app, toTelegram(chat)),
    await create(app, toTelegram(chat, {}, { api_url: "http://127.0.0.1:1" })),
    await create(app, {
      ...slack,
      config: { webhook_url: `http://127.0.0.1:1${KNOWN.webhookPath}` },
    }),
  ];
  chat.answerOnce(() => new Response(`secret of ${KNOWN.token}`, { status: 500 }));
  emit(app.deps, "container.down", down);
  await deliver(app);
  const answers = [
    await app.call("GET", `${BASE}/channels`),
    ...await Promise.all(ids.map((id) => app.call("GET", `${BASE}/channels/${id}`))),
    await app.call("PUT", `${BASE}/channels/${ids[0]}`, {
      config: { bot_token: `${KNOWN.token}/` },
    }),
    await app.call("GET", "/api/audit"),
  ];
  const all = JSON.stringify(answers.map(({ body }) => body)) + lines.join("\n");
  for (const secret of [KNOWN.token, "XXXXXXXX", KNOWN.chat, "secret of"]) {
    equal(all.includes(secret), false, secret);
  }
  match(all, /127\.0\.0\.1:1 refused the connection/);
});

Deno.test("an address that is no longer allowed is not called", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const id = await create(app, toSlack(chat));
  app.deps.config = { ...app.deps.config, outboundAllow: [] };
  await app.call("POST", `${BASE}/channels/${id}/test`);
  await deliver(app);
  equal(chat.paths.length, 0);
  match((await messagesOf(app, id))[0].error, /may not reach/);
});

Deno.test("a channel with an undecryptable config is listed and can be deleted", async () => {
  using app = proApp();
  const id = await create(app, telegram);
  const key = new Uint8Array(32).fill(9);
  app.deps.secrets = createSecrets({ jwtSecret: key, secretKey: key });
  const { status, body } = await app.call("GET", `${BASE}/channels`);
  deepEqual([status, body.channels[0].config], [200, {
    bot_token: "********",
    chat_id: "********",
  }]);
  const changed = await app.call("PUT", `${BASE}/channels/${id}`, { config: { chat_id: "1" } });
  equal(changed.status, 409);
  emit(app.deps, "container.down", down);
  await deliver(app);
  equal((await messagesOf(app, id))[0].status, "failed");
  equal((await app.call("DELETE", `${BASE}/channels/${id}`)).status, 200);
});

Deno.test("notification channels of both kinds are chat channels, and keep their other settings", async () => {
  using app = proApp();
  const NOTIFICATIONS = "/api/notifications/channels";
  const { body: made } = await app.call("POST", NOTIFICATIONS, {
    name: "Forum",
    kind: "telegram",
    config: { botToken: KNOWN.token, chatId: KNOWN.chat, threadId: 42 },
    minSeverity: "critical",
    digestMinutes: 60,
  });
  const { body: mail } = await app.call("POST", NOTIFICATIONS, {
    name: "Mail",
    kind: "gotify",
    config: { url: "https://gotify.example.com", token: "t" },
  });
  const { body: { channels } } = await app.call("GET", `${BASE}/channels`);
  deepEqual(channels.map(({ id, platform, config }: Json) => [id, platform, config]), [
    [made.id, "messenger", { bot_token: "********", chat_id: "********" }],
  ]);
  equal((await app.call("GET", `${BASE}/channels/${mail.id}`)).status, 404);
  equal((await app.call("DELETE", `${BASE}/channels/${mail.id}`)).status, 404);

  await app.call("PUT", `${BASE}/channels/${made.id}`, { config: { chat_id: "@ops" } });
  const { body: after } = await app.call("GET", `${NOTIFICATIONS}/${made.id}`);
  deepEqual(after, { ...made, config: { ...made.config, chatId: "@ops" } });
});

Deno.test("texts about sign-ins, and summaries that may have some, are for admins only", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const id = await create(app, toTelegram(chat, { events: ["*"] }));
  const textsFor = async (role: "admin" | "viewer") => {
    const path = `${BASE}/channels/${id}`;
    const detail = await app.call("GET", path, undefined, { role });
    const page = await app.call("GET", `${path}/messages`, undefined, { role });
    deepEqual(detail.body.messages, page.body.messages.slice(0, 20));
    return page.body.messages.map(({ event_type, text }: Json) => [event_type, text]);
  };
  emit(app.deps, "account.new_sign_in", {
    account: "ada@example.com",
    userId: "u1",
    sessionId: "f1",
    address: "198.51.100.7",
    userAgent: null,
  });
  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  await deliver(app);
  const [oom, signIn] = await textsFor("admin");
  match(signIn[1], /ada@example\.com/);
  deepEqual(await textsFor("viewer"), [oom, [signIn[0], "********"]]);

  for (let n = 0; n < 25; n++) await app.call("POST", `${BASE}/dispatch`, { event_type: "deploy" });
  const summary = (await textsFor("viewer")).find(([event]: string[]) => event === "summary");
  deepEqual(summary, ["summary", "********"]);
});

Deno.test("a dispatched event of any data begins and ends no problem", async () => {
  await using chat = fakeSlack();
  using app = proApp();
  const id = await create(app, toSlack(chat, { events: ["*"] }));
  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  for (
    const payload of [
      { container: "web" },
      { container: 5, containers: [{}], severity: "odd" },
      { message: "x".repeat(100_000) },
    ]
  ) {
    const event_type = "container.up";
    const { status } = await app.call("POST", `${BASE}/dispatch`, { event_type, payload });
    equal(status, 200);
  }
  await deliver(app);
  const messages = await messagesOf(app, id);
  deepEqual(messages.map(({ status }: Json) => status), ["sent", "sent", "sent", "sent"]);
  ok(JSON.stringify(app.deps.db.all("SELECT * FROM outbox_messages")).length < 20_000);
});

Deno.test("channels of the former table are moved with their configs", async () => {
  await using chat = fakeTelegram();
  using app = proApp();
  const { db, secrets } = app.deps;
  const config = JSON.stringify({ bot_token: KNOWN.token, chat_id: KNOWN.chat, api_url: chat.url });
  db.exec(formerTable.sql);
  db.run(
    `INSERT INTO chat_channels VALUES ('c-1', 'messenger', 'On-call', '["*"]', :sealed, 1,
       '2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.000Z')`,
    { sealed: secrets.seal(config, "chat channel c-1") },
  );
  db.exec(move.sql);

  emit(app.deps, "container.oom", { container: "web", id: "c1" });
  await deliver(app);
  equal(chat.messages.length, 1);
  const change = { config: { chat_id: KNOWN.chat } };
  const { body } = await app.call("PUT", `${BASE}/channels/c-1`, change);
  deepEqual([body.platform, Object.keys(body.config)], [
    "messenger",
    ["bot_token", "chat_id", "api_url"],
  ]);
  match(db.get<{ sealed: string }>("SELECT sealed FROM notification_channels")!.sealed, /^v1\./);
});

Deno.test("every kind of event can be subscribed to", async () => {
  using app = proApp();
  const { status, body } = await app.call("POST", `${BASE}/channels`, {
    ...slack,
    events: EVENT_KIND_IDS,
  });
  equal(status, 201);
  deepEqual(body.events, [...EVENT_KIND_IDS]);
});
