import { deepEqual, equal, match } from "node:assert/strict";
import { insertFleetHost, type StoredHost } from "../../../db/fleet_hosts.ts";
import { toText } from "../../../services/fleet/enrolment/keys.ts";
import { decodeToken } from "../../../services/fleet/enrolment/token.ts";
import { VERSION } from "../../../services/version.ts";
import { type TestApp, testApp } from "../../helpers/test_app.ts";

const NOW = "2026-01-01T12:00:00.000Z";

function hubApp() {
  return testApp({ now: NOW, config: { serviceBaseUrl: "https://hub.example.com" } });
}

function addHost({ deps }: TestApp, change: Partial<StoredHost> = {}): StoredHost {
  const host: StoredHost = {
    id: change.name ?? "h1",
    name: "edge-7",
    labels: {},
    linkKey: toText(crypto.getRandomValues(new Uint8Array(32))),
    noteKey: toText(new Uint8Array(32)),
    machine: "edge-7, Linux x86_64",
    version: "0.1.0",
    address: "192.0.2.7",
    inviteId: null,
    dialAddress: null,
    isPending: false,
    challenge: 3,
    joinedAt: NOW,
    lastSeenAt: null,
    isConnected: false,
    isReportedAway: false,
    leftAt: null,
    ...change,
  };
  insertFleetHost(deps.db, host);
  deps.fleet.refresh();
  return host;
}

Deno.test("an admin creates an invite, whose token is shown once; a viewer reads the list", async () => {
  using app = hubApp();
  const given = { name: "edge-7", labels: { site: "kiel" } };
  const { status, body } = await app.call("POST", "/api/fleet/invites", given);
  equal(status, 201);
  const { token, command, installCommand, ...listed } = body;
  equal(command, `longshore join ${token}`);
  equal(installCommand, `curl -fsSL RELEASE/install.sh | sudo sh -s -- --join ${token}`);
  deepEqual(listed, {
    id: listed.id,
    name: "edge-7",
    pattern: null,
    labels: { site: "kiel" },
    address: "https://hub.example.com",
    usesMax: 1,
    uses: 0,
    acceptsAtOnce: false,
    createdBy: "key",
    createdAt: NOW,
    expiresAt: "2026-01-01T12:30:00.000Z",
  });
  const { inviteId, address } = decodeToken(token);
  deepEqual({ inviteId, address }, { inviteId: listed.id, address: listed.address });

  const viewer = { role: "viewer" } as const;
  const list = await app.call("GET", "/api/fleet/invites", undefined, viewer);
  deepEqual(list.body, { invites: [listed] });
  equal((await app.call("POST", "/api/fleet/invites", given, viewer)).status, 403);
  equal((await app.call("DELETE", `/api/fleet/invites/${listed.id}`)).status, 200);
  equal((await app.call("DELETE", `/api/fleet/invites/${listed.id}`)).status, 404);
});

for (
  const { wrong, given, status, error } of [
    {
      wrong: "plain HTTP",
      given: { address: "http://10.0.0.1" },
      status: 400,
      error: /FLEET_INSECURE/,
    },
    {
      wrong: "no address",
      given: { address: "hub" },
      status: 400,
      error: /body\.address: must be/,
    },
    {
      wrong: "a name for two",
      given: { name: "a", count: 2 },
      status: 400,
      error: /body\.name: is for/,
    },
    {
      wrong: "a name with a slash",
      given: { name: "a/b" },
      status: 400,
      error: /body\.name: must have/,
    },
    {
      wrong: "a label with a space",
      given: { labels: { "a b": "" } },
      status: 400,
      error: /body\.labels\.a b/,
    },
    {
      wrong: "a name in use",
      given: { name: "edge-7" },
      status: 409,
      error: /has the name edge-7/,
    },
    {
      wrong: "a name in use with another case",
      given: { name: "EDGE-7" },
      status: 409,
      error: /has the name edge-7/,
    },
    {
      wrong: "a name that looks like an id",
      given: { name: "0b5d1c2e-8a1f-4c3d-9e2a-7f60a1b2c3d4" },
      status: 400,
      error: /body\.name: must .* not be an id/,
    },
    { wrong: "a year", given: { expiresMinutes: 525_600 }, status: 400, error: /expiresMinutes/ },
  ]
) {
  Deno.test(`POST /api/fleet/invites refuses ${wrong}`, async () => {
    using app = hubApp();
    addHost(app);
    const answer = await app.call("POST", "/api/fleet/invites", given);
    equal(answer.status, status);
    match(answer.body.error, error);
  });
}

Deno.test("the line that installs a host has the release of this version, and settings that it needs", async () => {
  using app = testApp({
    config: { releaseUrl: "https://example.com/vVERSION", fleetInsecure: "on" },
  });
  const address = "http://192.168.1.5:3000";
  const { body } = await app.call("POST", "/api/fleet/invites", { address });
  equal(
    body.installCommand,
    `curl -fsSL https://example.com/v${VERSION}/install.sh | sudo sh -s -- ` +
      `--set FLEET_INSECURE=on --join ${body.token}`,
  );
});

Deno.test("POST /api/fleet/invites needs an address where SERVICE_BASE_URL is not set", async () => {
  using app = testApp();
  const { status, body } = await app.call("POST", "/api/fleet/invites", {});
  equal(status, 400);
  match(body.error, /SERVICE_BASE_URL is not set/);
  const { body: created } = await app.call("POST", "/api/fleet/invites", {
    address: "https://a.b",
  });
  equal(created.address, "https://a.b");
});

Deno.test("an admin renames, labels, accepts and removes a host; a viewer reads it", async () => {
  using app = hubApp();
  addHost(app, { isPending: true, id: "h1" });
  addHost(app, { name: "shop", id: "h2", leftAt: NOW });
  const viewer = { role: "viewer" } as const;
  const { body } = await app.call("GET", "/api/fleet/hosts", undefined, viewer);
  deepEqual(
    body.hosts.map(({ name, state, since }: StoredHost & { state: string; since: string }) => [
      name,
      state,
      since,
    ]),
    [["edge-7", "pending", null], ["shop", "left", NOW]],
  );
  equal((await app.call("PUT", "/api/fleet/hosts/h1", { name: "x" }, viewer)).status, 403);

  const taken = await app.call("PUT", "/api/fleet/hosts/h1", { name: "shop" });
  deepEqual([taken.status, taken.body.error], [409, "Another host has the name shop"]);
  const change = { name: "edge-8", labels: { site: "kiel" } };
  const changed = await app.call("PUT", "/api/fleet/hosts/h1", change);
  deepEqual([changed.body.name, changed.body.labels], ["edge-8", { site: "kiel" }]);
  const accepted = await app.call("POST", "/api/fleet/hosts/h1/accept");
  equal(accepted.body.state, "never");
  deepEqual((await app.call("GET", "/api/fleet/hosts/h1")).body, accepted.body);
  equal((await app.call("POST", "/api/fleet/hosts/h2/accept")).status, 409);

  equal((await app.call("DELETE", "/api/fleet/hosts/h1")).status, 200);
  for (const [method, path] of [["GET", ""], ["PUT", ""], ["DELETE", ""], ["POST", "/accept"]]) {
    const given = method === "PUT" ? {} : undefined;
    const answer = await app.call(method!, `/api/fleet/hosts/h1${path}`, given);
    deepEqual([answer.status, answer.body.error], [404, "Host h1 does not exist"]);
  }
});

Deno.test("GET /fleet/link is 404 without a fleet, and 400 without a WebSocket handshake", async () => {
  using app = hubApp();
  const anonymous = { role: "public" } as const;
  equal((await app.call("GET", "/fleet/link", undefined, anonymous)).status, 404);
  addHost(app);
  const { status, body } = await app.call("GET", "/fleet/link", undefined, anonymous);
  deepEqual([status, body.error], [400, "The request must be a WebSocket handshake"]);
});

Deno.test("an installation without a fleet has no keys and no rows of one", async () => {
  using app = hubApp();
  await app.call("GET", "/api/fleet/hosts");
  await app.call("GET", "/api/fleet/invites");
  for (const table of ["keys", "hosts", "invites", "membership", "listening"]) {
    const { count } = app.deps.db.get<{ count: number }>(
      `SELECT count(*) AS count FROM fleet_${table}`,
    )!;
    deepEqual([table, count], [table, 0]);
  }
});

Deno.test("a request that is not a handshake of a WebSocket takes no place of a host", async () => {
  using app = hubApp();
  addHost(app);
  for (const headers of [{}, { upgrade: "websocket" }]) {
    for (let count = 0; count < 70; count++) {
      app.clock.advance({ ms: 100 });
      equal((await app.fetch("GET", "/fleet/link", undefined, { headers })).status, 400);
    }
  }
});
