/**
 * Client certificates behind a real nginx, set up as `deploy/nginx-mtls.conf` says. Ignored where
 * `nginx` is not installed, unless `LONGSHORE_REQUIRE_ENGINE=1`.
 *
 * @module
 */

import { deepEqual, equal, match } from "node:assert/strict";
import {
  type Authority,
  createAuthority,
  daysFromNow,
  type Identity,
} from "../../../helpers/certificates.ts";
import { addAgent, addCa, configure, MTLS, mtlsApp, VERIFY_SECRET } from "../../../helpers/mtls.ts";
import { freePort } from "../../../helpers/free_port.ts";
import { startNginx } from "../../../helpers/nginx.ts";
import { isEngineRequired } from "../../../helpers/real_engine.ts";
import type { TestApp } from "../../../helpers/test_app.ts";

const EXAMPLE = new URL("../../../../deploy/nginx-mtls.conf", import.meta.url);

const isInstalled = (Deno.env.get("PATH") ?? "").split(":")
  .some((folder) => isFile(`${folder}/nginx`));

function isFile(path: string): boolean {
  try {
    return Deno.statSync(path).isFile;
  } catch {
    return false;
  }
}

const withNginx = (name: string, fn: () => Promise<void>) =>
  Deno.test({ name, ignore: !isInstalled && !isEngineRequired(), fn });

/** A request that reached the upstream of nginx. */
interface Reached {
  path: string;
  agent: string | null;
  hostname: string | null;
  body: string;
}

interface Stage extends AsyncDisposable {
  app: TestApp;
  root: Authority;
  /** Requests that came through to the service behind nginx. */
  reached: Reached[];
  /** Answers of the application to nginx's questions. */
  verdicts: Record<string, unknown>[];
  /** Asks with a certificate, or without one. @returns The status. */
  ask(client?: Identity, init?: RequestInit & { path?: string }): Promise<number>;
  /** Closes the application's door, as if it were away. */
  stopLongshore(): Promise<void>;
}

/** @param check What stands behind `ssl_verify_client`. */
async function stage(
  { check = "on", secret = VERIFY_SECRET }: { check?: string; secret?: string } = {},
): Promise<Stage> {
  await using stack = new AsyncDisposableStack();
  const directory = await Deno.makeTempDir({ prefix: "longshore-test-nginx-" });
  stack.defer(() => Deno.remove(directory, { recursive: true }));

  const [root, host] = await Promise.all([createAuthority("Agents"), createAuthority("Host")]);
  const server = await host.issue({ name: "agents.example.com", altNames: "IP:127.0.0.1" });
  const app = stack.use(mtlsApp({ config: { trustedProxies: ["127.0.0.1/32"] } }));
  const verdicts: Stage["verdicts"] = [];
  const longshore = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request, { remoteAddr }) => {
      const response = await app.app(request, remoteAddr.hostname);
      verdicts.push(await response.clone().json());
      return response;
    },
  );
  const stopLongshore = () => longshore.shutdown();
  stack.defer(stopLongshore);

  const reached: Reached[] = [];
  const backend = Deno.serve(
    { hostname: "127.0.0.1", port: 0, onListen() {} },
    async (request) => {
      reached.push({
        path: new URL(request.url).pathname,
        agent: request.headers.get("x-agent-id"),
        hostname: request.headers.get("x-agent-hostname"),
        body: await request.text(),
      });
      return new Response("behind");
    },
  );
  stack.defer(() => backend.shutdown());

  const files = {
    "agents.example.com.crt": server.cert,
    "agents.example.com.key": server.key,
    "agents-ca.crt": root.cert,
    "longshore-verify.conf": `proxy_set_header X-Verify-Secret "${secret}";\n`,
  };
  for (const [name, text] of Object.entries(files)) {
    await Deno.writeTextFile(`${directory}/${name}`, text);
  }
  const port = freePort();
  const servers = replaced(await Deno.readTextFile(EXAMPLE), {
    "listen 443 ssl;": `listen 127.0.0.1:${port} ssl;`,
    "    listen [::]:443 ssl;\n": "",
    "server 127.0.0.1:3000;": `server 127.0.0.1:${longshore.addr.port};`,
    "proxy_pass http://127.0.0.1:8080;": `proxy_pass http://127.0.0.1:${backend.addr.port};`,
    "/etc/nginx/tls/agents.example.com.crt": `${directory}/agents.example.com.crt`,
    "/etc/nginx/tls/agents.example.com.key": `${directory}/agents.example.com.key`,
    "/etc/nginx/tls/agents-ca.crt": `${directory}/agents-ca.crt`,
    "include /etc/nginx/longshore-verify.conf;": `include ${directory}/longshore-verify.conf;`,
    "ssl_verify_client on;": `ssl_verify_client ${check};`,
  });
  stack.use(await startNginx({ directory, servers, port }));

  const clients = new Map<Identity | undefined, Deno.HttpClient>();
  stack.defer(() => clients.forEach((client) => client.close()));
  const ask: Stage["ask"] = async (identity, { path = "/some/where", ...init } = {}) => {
    let client = clients.get(identity);
    if (!client) {
      client = Deno.createHttpClient({ caCerts: [host.cert], ...identity });
      clients.set(identity, client);
    }
    const response = await fetch(`https://127.0.0.1:${port}${path}`, { ...init, client });
    await response.body?.cancel();
    return response.status;
  };
  const owned = stack.move();
  return {
    app,
    root,
    reached,
    verdicts,
    ask,
    stopLongshore,
    [Symbol.asyncDispose]: () => owned.disposeAsync(),
  };
}

/** The example with other paths and ports; each of them must be in it. */
function replaced(text: string, changes: Record<string, string>): string {
  for (const [from, to] of Object.entries(changes)) {
    equal(text.split(from).length, 2, `${from} is not once in deploy/nginx-mtls.conf`);
    text = text.replace(from, to);
  }
  return text;
}

/** All kinds of clients, with mTLS enforced. */
async function clientsOf({ app, root }: Stage) {
  const foreignRoot = await createAuthority("Agents");
  const [valid, revoked, disabled, expired, unknown, foreign] = await Promise.all([
    root.issue({ name: "valid", extendedKeyUsage: "clientAuth" }),
    root.issue({ name: "revoked" }),
    root.issue({ name: "disabled" }),
    root.issue({ name: "expired", from: daysFromNow(-30), to: daysFromNow(-1) }),
    root.issue({ name: "unknown" }),
    foreignRoot.issue({ name: "valid" }),
  ]);
  const now = app.clock.now().toISOString();
  const ca = await addCa(app, root.cert);
  const ids: Record<string, string> = {};
  for (const [hostname, { cert }] of Object.entries({ valid, revoked, disabled })) {
    ids[hostname] = (await addAgent(app, { hostname, certificate: cert, ca_id: ca.id })).id;
  }
  // It was valid when it was added.
  app.clock.set(daysFromNow(-10).toISOString());
  await app.call("POST", `${MTLS}/agents`, { hostname: "expired", certificate: expired.cert });
  app.clock.set(now);
  await app.call("DELETE", `${MTLS}/agents/${ids["revoked"]}`);
  await app.call("PUT", `${MTLS}/agents/${ids["disabled"]}/toggle`, { enabled: false });
  await configure(app, { enforcement_enabled: true });
  return { valid, revoked, disabled, expired, unknown, foreign, ids };
}

withNginx("behind nginx only a verified agent is admitted", async () => {
  await using it = await stage();
  const clients = await clientsOf(it);
  // nginx itself answers 400 if its own check fails.
  const statuses = {
    valid: 200,
    revoked: 403,
    disabled: 403,
    unknown: 403,
    expired: 400,
    foreign: 400,
  };
  for (const [name, status] of Object.entries(statuses)) {
    deepEqual([name, await it.ask(clients[name as keyof typeof statuses])], [name, status]);
  }
  equal(await it.ask(), 400);
  deepEqual(it.reached, [{
    path: "/some/where",
    agent: clients.ids["valid"],
    hostname: "valid",
    body: "",
  }]);
  const { body } = await it.app.call("GET", `${MTLS}/agents/${clients.ids["valid"]}`);
  equal(body.last_seen_ip, "127.0.0.1");
});

withNginx("if nginx leaves the check to Longshore, each refusal has its reason", async () => {
  await using it = await stage({ check: "optional_no_ca" });
  const clients = await clientsOf(it);
  for (
    const [name, reason] of [
      ["revoked", /^The agent was revoked at 2/],
      ["disabled", /^The agent is disabled$/],
      ["unknown", /^The certificate does not belong to an agent$/],
      ["foreign", /^The certificate does not belong to an agent$/],
      ["none", /^The client did not present a certificate$/],
    ] as const
  ) {
    const status = await it.ask(name === "none" ? undefined : clients[name]);
    deepEqual([name, status], [name, 403]);
    match(String(it.verdicts.at(-1)?.["reason"]), reason);
  }
  deepEqual(it.reached, []);
  // nginx always checks the dates; if its clock is behind, Longshore's decides.
  equal(await it.ask(clients.expired), 400);
  const { cert, key } = await it.root.issue({ name: "short", to: daysFromNow(1) });
  await addAgent(it.app, { hostname: "short", certificate: cert });
  const short = { cert, key };
  equal(await it.ask(short), 200);
  it.app.clock.advance({ days: 2 });
  equal(await it.ask(short), 403);
  match(String(it.verdicts.at(-1)?.["reason"]), /^The certificate has expired \(2/);
  equal(await it.ask(clients.valid), 200);
  deepEqual(it.verdicts.at(-1), {
    verified: true,
    agent_id: clients.ids["valid"],
    hostname: "valid",
  });
});

withNginx("on an open connection a revoked agent is refused at its next request", async () => {
  await using it = await stage();
  const { valid, ids } = await clientsOf(it);
  equal(await it.ask(valid), 200);
  await it.app.call("PUT", `${MTLS}/agents/${ids["valid"]}/toggle`);
  equal(await it.ask(valid), 403);
  await it.app.call("PUT", `${MTLS}/agents/${ids["valid"]}/toggle`);
  equal(await it.ask(valid), 200);
  await it.app.call("DELETE", `${MTLS}/agents/${ids["valid"]}`);
  equal(await it.ask(valid), 403);
  equal(it.reached.length, 2);
});

withNginx("headers that a client forges are dropped", async () => {
  await using it = await stage({ check: "optional_no_ca" });
  const { valid, unknown, disabled, ids } = await clientsOf(it);
  const { body: agent } = await it.app.call("GET", `${MTLS}/agents/${ids["valid"]}`);
  const headers = {
    "x-client-cert": encodeURIComponent(valid.cert),
    "x-client-cert-fingerprint": agent.fingerprint,
    "x-verify-secret": VERIFY_SECRET,
    "x-agent-id": ids["valid"]!,
    "x-agent-hostname": "valid",
    "x-real-ip": "203.0.113.9",
    "x-forwarded-for": "203.0.113.9",
  };
  for (const client of [undefined, unknown, disabled]) {
    equal(await it.ask(client, { headers }), 403);
  }
  // Clients cannot call the verify endpoint.
  equal(await it.ask(valid, { headers, path: "/_longshore_verify" }), 404);
  deepEqual(it.reached, []);

  await configure(it.app, { enforcement_enabled: false });
  equal(await it.ask(unknown, { headers }), 200);
  deepEqual(it.reached.map(({ agent, hostname }) => [agent, hostname]), [[null, null]]);
});

withNginx("a request with a body is verified without the body, and arrives complete", async () => {
  await using it = await stage();
  const { valid } = await clientsOf(it);
  const body = "x".repeat(300_000);
  for (
    const headers of [
      { "content-type": "application/json" },
      { "content-type": "multipart/form-data; boundary=x", "accept-encoding": "identity" },
      { authorization: "Bearer not-of-longshore", "x-request-id": "a b" },
    ] as Record<string, string>[]
  ) equal(await it.ask(valid, { method: "POST", body, headers }), 200);
  deepEqual(it.reached.map(({ body }) => body.length), [300_000, 300_000, 300_000]);
});

withNginx("if the secret is wrong or Longshore is down, every request is refused", async () => {
  await using wrong = await stage({ secret: "another-secret" });
  const { valid } = await clientsOf(wrong);
  equal(await wrong.ask(valid), 401);
  await wrong.stopLongshore();
  equal(await wrong.ask(valid), 500);
  deepEqual(wrong.reached, []);
});

withNginx("behind nginx unknown clients are recorded, each once", async () => {
  await using it = await stage({ check: "optional_no_ca" });
  const { unknown, foreign } = await clientsOf(it);
  await configure(it.app, { auto_enroll: true });
  for (const client of [unknown, foreign, unknown, foreign]) equal(await it.ask(client), 403);
  const { body } = await it.app.call("GET", `${MTLS}/agents?enabled=false`);
  const pending = body.agents.filter(({ pending }: { pending: boolean }) => pending);
  deepEqual(
    pending.map((
      { subject, ca_id }: { subject: string; ca_id: string },
    ) => [subject, ca_id !== null])
      .sort(),
    [["CN=unknown", true], ["CN=valid", false]],
  );
});
