/**
 * Secrets that a client reads as `********` and sends back, for every field of the API that has one.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import { selectIntegration } from "../../db/integrations.ts";
import { selectNotificationChannel } from "../../db/notification_channels.ts";
import { selectRegistry } from "../../db/registries.ts";
import { selectWebhook } from "../../db/webhooks.ts";
import { selectMonitor } from "../../db/pro/uptime/monitors.ts";
import { openConfig as openIntegration } from "../../services/automation/integrations/stored_config.ts";
import { openConfig as openChannel } from "../../services/messages/config.ts";
import { storedAccess } from "../../services/images/registries/access.ts";
import { openWebhook } from "../../services/messages/webhooks/target.ts";
import { openRequest } from "../../services/pro/uptime/request.ts";
import { login, usersApp } from "../helpers/accounts.ts";
import { type TestApp, testApp } from "../helpers/test_app.ts";

const REDACTED = "********";
const PRO = "/api/ext/service-pro";

type Fields = Record<string, unknown>;

interface Row {
  what: string;
  path: string;
  body: Fields;
  /** Fields of the record that a change cannot have, or that do not show the secret. */
  change?: (record: Fields) => Fields;
  /** The stored secrets. */
  open(app: TestApp, id: string): unknown;
  secrets: unknown;
  /** The same body with each secret as it is shown. */
  redacted: Fields;
}

const channel = (kind: string, config: Fields, secrets: Fields): Row => ({
  what: `notification channel ${kind}`,
  path: "/api/notifications/channels",
  body: { name: kind, kind, config: { ...config, ...secrets } },
  open: ({ deps: { db, secrets: keys } }, id) => {
    const stored = openChannel(keys, selectNotificationChannel(db, id)!) as Fields;
    return Object.fromEntries(Object.keys(secrets).map((name) => [name, stored[name]]));
  },
  secrets,
  redacted: {
    name: kind,
    kind,
    config: {
      ...config,
      ...Object.fromEntries(
        Object.entries(secrets).map(([name, value]) => [
          name,
          name === "headers" ? { authorization: REDACTED } : value && REDACTED,
        ]),
      ),
    },
  },
});

const HEADERS = { authorization: "Bearer s3cret" };
const REDACTED_HEADERS = { authorization: REDACTED };
const url = "https://receiver.example.com";

const ROWS: readonly Row[] = [
  {
    what: "registry",
    path: "/api/registries",
    body: { host: "registry.example.com", username: "ada", password: "s3cret" },
    change: ({ host, pathPrefix, username, insecure, caCertificate }) => ({
      ...{ host, pathPrefix, username, insecure, caCertificate, password: REDACTED },
    }),
    open: ({ deps }, id) => storedAccess(deps, selectRegistry(deps.db, id)!).credentials?.password,
    secrets: "s3cret",
    redacted: { host: "other.example.com", username: "ada", password: REDACTED },
  },
  {
    what: "webhook",
    path: "/api/webhooks",
    body: { name: "Hook", url, events: ["*"], headers: HEADERS },
    open: ({ deps: { db, secrets } }, id) => openWebhook(secrets, selectWebhook(db, id)!).headers,
    secrets: HEADERS,
    redacted: { name: "Other", url, events: ["*"], headers: REDACTED_HEADERS },
  },
  ...([
    ["webhook", {}, { url: `${url}/s3cret`, headers: HEADERS }],
    ["gotify", { url }, { token: "s3cret" }],
    ["ntfy", { url, topic: "a", username: "ada" }, { password: "s3cret" }],
    ["ntfy", { url, topic: "a" }, { token: "tk_s3cret" }],
    ["email", { to: ["ada@example.com"] }, { smtpUrl: "smtps://ada:s3cret@mail.example.com" }],
    ["telegram", { chatId: "-1001" }, { botToken: `123456:${"s3cret-".repeat(5)}` }],
    ["slack", {}, { url: "https://hooks.slack.com/services/T0/B0/s3cret" }],
    ["discord", {}, { url: "https://discord.com/api/webhooks/1/s3cret" }],
    ["matrix", { url, roomId: "!a:example.org" }, { accessToken: "s3cret" }],
    ["homeassistant", { url }, { webhookId: "s3cret" }],
    ["signal", { url, number: "+15550100", recipients: ["+15550101"], username: "a" }, {
      password: "s3cret",
    }],
    ["apprise", { url }, { urls: ["json://s3cret@example.com"] }],
    ["pushover", {}, { token: "a".repeat(30), userKey: "u".repeat(30) }],
    ["opsgenie", {}, { apiKey: "s3cret" }],
    ["pagerduty", {}, { routingKey: "0123456789abcdef0123456789abcdef" }],
  ] as const).map(([kind, config, secrets]) => channel(kind, config, secrets)),
  {
    what: "integration with a secret header and URL",
    path: "/api/integrations",
    body: {
      adapter: "http-json",
      name: "Shop",
      config: {
        url: `${url}/status?token=s3cret`,
        headers: HEADERS,
        fieldMappings: [{ path: "a", name: "a" }],
      },
    },
    open: async ({ deps }, id) => {
      const { config } = await openIntegration(deps, selectIntegration(deps.db, id)!);
      return [config.url, config.headers];
    },
    secrets: [`${url}/status?token=s3cret`, HEADERS],
    redacted: {
      adapter: "http-json",
      name: "Other",
      config: {
        url: `${url}/status?token=${REDACTED}`,
        headers: REDACTED_HEADERS,
        fieldMappings: [{ path: "a", name: "a" }],
      },
    },
  },
  {
    what: "integration with a secret key",
    path: "/api/integrations",
    body: { adapter: "pagerduty", name: "Paging", config: { apiKey: "s3cret" } },
    open: async ({ deps }, id) =>
      (await openIntegration(deps, selectIntegration(deps.db, id)!)).config.apiKey,
    secrets: "s3cret",
    redacted: { adapter: "pagerduty", name: "Other", config: { apiKey: REDACTED } },
  },
  {
    what: "chat channel",
    path: `${PRO}/chatops/channels`,
    body: {
      name: "Team",
      platform: "team-chat",
      events: ["*"],
      config: { webhook_url: `${url}/s3cret` },
    },
    open: ({ deps: { db, secrets } }, id) =>
      openChannel(secrets, selectNotificationChannel(db, id)!).url,
    secrets: `${url}/s3cret`,
    redacted: {
      name: "Other",
      platform: "team-chat",
      events: ["*"],
      config: { webhook_url: REDACTED },
    },
  },
  {
    what: "uptime monitor",
    path: `${PRO}/uptime/monitors`,
    body: {
      name: "Shop",
      type: "http",
      method: "POST",
      url: `${url}/?key=s3cret`,
      headers: HEADERS,
      body: "password=s3cret",
    },
    open: ({ deps: { db, secrets } }, id) => openRequest(secrets, selectMonitor(db, id)!),
    secrets: {
      headers: HEADERS,
      body: "password=s3cret",
      url: `${url}/?key=s3cret`,
    },
    redacted: {
      name: "Other",
      type: "http",
      method: "POST",
      url: `${url}/?key=${REDACTED}`,
      headers: REDACTED_HEADERS,
      body: REDACTED,
    },
  },
];

const secretApp = () => testApp({ edition: "enterprise" });

for (const { what, path, body, change, open, secrets, redacted } of ROWS) {
  Deno.test(`${what}: a secret that is sent back as it was read is kept`, async () => {
    using app = secretApp();
    const created = await app.call("POST", path, body);
    equal(created.status, 201, JSON.stringify(created.body));
    const { id } = created.body;
    deepEqual(await open(app, id), secrets);

    const read = await app.call("GET", `${path}/${id}`);
    equal(JSON.stringify(read.body).includes("s3cret"), false);
    const changed = await app.call("PUT", `${path}/${id}`, change?.(read.body) ?? read.body);

    equal(changed.status, 200, JSON.stringify(changed.body));
    deepEqual(await open(app, id), secrets);
  });

  Deno.test(`${what}: ${REDACTED} without a stored secret is refused`, async () => {
    using app = secretApp();
    const { status, body } = await app.call("POST", path, redacted);
    equal(status, 400, JSON.stringify(body));
    match(
      body.error,
      /(keeps a stored value, and there is none|is redacted, but no value is stored)$/,
    );
  });
}

Deno.test("registry: a redacted password is neither sent to another host nor invented", async () => {
  using app = secretApp();
  const path = "/api/registries";
  const { body: { id } } = await app.call("POST", path, ROWS[0]!.body);
  const moved = await app.call("PUT", `${path}/${id}`, {
    host: "evil.example.com",
    password: REDACTED,
  });
  deepEqual([moved.status, moved.body.error], [
    400,
    "body.password: give it again, the address changed",
  ]);
  const { body: anonymous } = await app.call("POST", path, { host: "open.example.com" });
  const { status } = await app.call("PUT", `${path}/${anonymous.id}`, {
    username: "ada",
    password: REDACTED,
  });
  equal(status, 400);
});

const COMPOSE = "services:\n  web:\n    image: nginx\n    env_file: app.env\n";
const ENV = `# Of the shop\n\nPASSWORD=s3cret\n# why\nKEY="-----BEGIN\nMORE=1\n-----END"\r\n` +
  "export LEVEL = info\nLEVEL=debug\nfoo.bar-Größe[0]=s3cret2\n";

/** A user who may store sources without seeing their values. */
async function stackWriter() {
  const app = await usersApp({ edition: "enterprise" });
  const roles = "/api/ext/service-enterprise/roles";
  const { body: role } = await app.call("POST", roles, {
    name: "Stacks",
    permissions: [
      { resource: "stacks", actions: ["write"] },
      { resource: "stack_sources", actions: ["read"] },
    ],
  });
  await app.call("POST", `${roles}/${role.id}/users`, { user_id: app.ids.operator });
  const { accessToken: token } = await login(app, "operator@example.com");
  const store = async (stack: Fields) =>
    await app.call("POST", "/api/stacks", {
      name: "shop",
      deploy: false,
      compose: COMPOSE,
      files: { "app.env": "TOKEN=s3cret\n" },
      ...stack,
    });
  const source = "/api/stacks/shop/source";
  const read = async () => (await app.call("GET", source, undefined, { token })).body;
  const write = async (change: Fields) => {
    const { version, compose, env, files } = await read();
    const sent = { compose, env, files, expectedVersion: version, ...change };
    return await app.call("PUT", source, sent, { token });
  };
  const stored = async () => {
    const { env, files } = (await app.call("GET", source)).body;
    return { env, files };
  };
  return Object.assign(app, { store, read, write, stored });
}

for (const env of [ENV, { PASSWORD: "s3cret", LEVEL: "info" }]) {
  const form = typeof env === "string" ? "text" : "object";
  Deno.test(`stack: variables as ${form} and files that are sent back are kept`, async () => {
    using app = await stackWriter();
    equal((await app.store({ env })).status, 201);
    equal(JSON.stringify(await app.read()).includes("s3cret"), false);

    const { status, body } = await app.write({ compose: COMPOSE.replace("nginx", "nginx:2") });

    equal(status, 200, JSON.stringify(body));
    deepEqual(await app.stored(), { env, files: { "app.env": "TOKEN=s3cret\n" } });
  });
}

Deno.test("stack: each redacted variable keeps its value beside changed ones", async () => {
  using app = await stackWriter();
  await app.store({ env: ENV });
  const env =
    `NEW=1\nKEY=${REDACTED}\nPASSWORD=${REDACTED}\nLEVEL=${REDACTED}\nLEVEL=${REDACTED}\n` +
    `foo.bar-Größe[0]=${REDACTED}\n`;
  equal((await app.write({ env, files: { "app.env": REDACTED, "b.env": "B=1\n" } })).status, 200);
  const stored = await app.stored();
  equal(
    stored.env,
    'NEW=1\nKEY="-----BEGIN\nMORE=1\n-----END"\r\nPASSWORD=s3cret\n# why\nexport LEVEL = info\nLEVEL=debug\nfoo.bar-Größe[0]=s3cret2\n',
  );
  deepEqual(stored.files, { "app.env": "TOKEN=s3cret\n", "b.env": "B=1\n" });
});

Deno.test("stack: a redacted value without a stored one is refused", async () => {
  using app = await stackWriter();
  const refusal = `"${REDACTED}" keeps a stored value, and there is none`;
  for (
    const [given, path] of [
      [{ env: `A=1\nPASSWORD=${REDACTED}\n` }, "body.env.PASSWORD"],
      [{ env: { PASSWORD: REDACTED } }, "body.env.PASSWORD"],
      [{ files: { "app.env": REDACTED } }, "body.files.app.env"],
    ] as const
  ) {
    const { status, body } = await app.store(given);
    deepEqual([status, body.errors], [400, [{ path, message: refusal }]]);
  }
  equal((await app.store({ env: { PASSWORD: "s3cret" } })).status, 201);
  for (const env of [{ OTHER: REDACTED }, `PASSWORD=${REDACTED}\n`]) {
    equal((await app.write({ env })).status, 400);
  }
  deepEqual((await app.stored()).env, { PASSWORD: "s3cret" });
});
