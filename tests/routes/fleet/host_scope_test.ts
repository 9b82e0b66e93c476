/**
 * Callers who are limited to hosts of the fleet: API tokens, and logins by their custom roles. They are
 * walked over every endpoint of the hub and of its hosts.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import { insertRoleAssignment } from "../../../db/enterprise/role_assignments.ts";
import { everyEndpoint, rightRequest } from "../../acceptance/endpoint_walk.ts";
import { scriptHost, sendText, type TestFleet } from "../../helpers/fleet.ts";
import { OF_HUB, OTHER_HOST, scopedFleet } from "../../helpers/scoped_fleet.ts";
import type { CallOptions } from "../../helpers/test_app.ts";

/** WebSockets, which need a handshake, requests to other systems, and streams without end. */
const SKIPPED = /\/(terminal|attach|feed|stream)$|\/(test|check|poll|load)$|\/:path$/;

const EDGE: CallOptions = { role: "admin", scope: { hosts: ["edge-*"] } };

const namesOf = async ({ hub }: TestFleet, path: string, options: CallOptions) => {
  const { status, body } = await hub.call("GET", `/api/fleet/${path}`, undefined, options);
  return status === 200 ? body.hosts.map(({ name }: { name: string }) => name) : status;
};

Deno.test("a token limited to hosts sees nothing of the hub and no other host", async () => {
  await using fleet = await scopedFleet();
  const wrong: string[] = [];
  let refused = 0;
  for (const walked of await everyEndpoint(fleet.hub.deps)) {
    const { body, headers, method, path } = rightRequest(walked);
    if (!path.startsWith("/api/") || SKIPPED.test(path)) continue;
    const options = { ...EDGE, headers: { ...headers } };

    const target = path.replace(/:\w+/g, OF_HUB);
    const response = await fleet.hub.fetch(method, target, body, options);
    const text = await response.text();
    const isRefused = response.status === 403 || response.status === 404;
    if (isRefused) refused++;
    else if (/zqhub|shop-1/.test(text)) wrong.push(`${method} ${path}: ${text.slice(0, 200)}`);

    const there = path.replace(/:\w+/g, "web");
    const other = await fleet.hub.fetch(
      method,
      `/api/fleet/hosts/${OTHER_HOST}${there}`,
      body,
      options,
    );
    await other.body?.cancel();
    if (other.status !== 404) wrong.push(`${method} ${path} at ${OTHER_HOST}: ${other.status}`);
  }
  deepEqual(wrong, []);
  ok(refused > 100, `${refused} refusals`);
});

Deno.test("names and labels of hosts limit a token together, and other limits count at the host", async () => {
  await using fleet = await scopedFleet();
  const limitedTo = (scope: CallOptions["scope"]) => ({ role: "admin", scope }) as const;
  deepEqual(await namesOf(fleet, "hosts", limitedTo({ hosts: ["*"] })), ["edge-7", "shop-1"]);
  deepEqual(await namesOf(fleet, "hosts", EDGE), ["edge-7"]);
  deepEqual(await namesOf(fleet, "overview", EDGE), ["edge-7"]);
  deepEqual(await namesOf(fleet, "hosts", limitedTo({ hostLabels: ["site=bonn"] })), ["shop-1"]);
  const none = limitedTo({ hosts: ["edge-*"], hostLabels: ["site=bonn"] });
  deepEqual(await namesOf(fleet, "hosts", none), []);
  const refused = await fleet.pass("GET", "/api/containers", undefined, none);
  await refused.body?.cancel();
  equal(refused.status, 404);
  deepEqual(await namesOf(fleet, "hosts", limitedTo({ containers: ["web"] })), 404);

  for (const [containers, expected] of [[["web"], ["web"]], [["db"], []]]) {
    const scope = { hosts: ["edge-*"], containers: containers! };
    const listed = await fleet.pass("GET", "/api/containers", undefined, limitedTo(scope));
    const { containers: found } = await listed.json();
    deepEqual(found.map(({ name }: { name: string }) => name), expected);
  }
});

Deno.test("hosts of a custom role narrow the base role, and its permissions count only there", async () => {
  await using fleet = await scopedFleet();
  const { hub } = fleet;
  const ROLES = "/api/ext/service-enterprise/roles";
  const viewer: CallOptions = { role: "viewer" };
  const pass = async (method: string, path: string, options: CallOptions) => {
    const { body, status } = await fleet.pass(method, path, undefined, options);
    await body?.cancel();
    return status;
  };
  const stop = (options: CallOptions) => pass("POST", "/api/containers/web/stop", options);
  equal(await stop(viewer), 403);

  const { body: role } = await hub.call("POST", ROLES, {
    name: "Edge",
    permissions: [{ resource: "containers", actions: ["stop"] }],
    hosts: ["edge-*"],
  });
  deepEqual([role.hosts, role.host_labels], [["edge-*"], null]);
  const { body: ofShop } = await hub.call("POST", ROLES, {
    ...{ name: "Shop", permissions: [{ resource: "containers", actions: ["restart"] }] },
    hosts: ["shop-*"],
  });
  // Otherwise no admin could manage this server.
  equal((await hub.call("POST", `${ROLES}/${role.id}/users`, { user_id: "key" })).status, 409);
  const assign = (roleId: string) =>
    insertRoleAssignment(hub.deps.db, {
      ...{ user_id: "key", role_id: roleId, assigned_by: "key" },
      assigned_at: "2026-01-01T00:00:00.000Z",
    });
  assign(role.id);
  deepEqual(await namesOf(fleet, "hosts", viewer), ["edge-7"]);
  deepEqual((await hub.call("GET", "/api/containers")).body.containers, []);
  for (
    const path of [
      ...["/api/overview", "/api/system/metrics", "/api/metrics/history", "/metrics"],
      "/api/compose/keys",
    ]
  ) equal((await hub.call("GET", path)).status, 404, path);
  equal((await hub.call("GET", "/api/audit")).status, 404);
  equal((await hub.call("GET", "/api/tokens", undefined, viewer)).status, 200);
  equal((await hub.call("GET", "/api/tokens?all=true")).status, 403);
  equal(await stop(viewer), 200);
  equal(await pass("GET", "/api/containers", { role: "admin" }), 200);
  // A token of the account is limited as well.
  deepEqual(await namesOf(fleet, "hosts", { role: "admin", scope: {} }), ["edge-7"]);

  assign(ofShop.id);
  deepEqual(await namesOf(fleet, "hosts", viewer), ["edge-7", "shop-1"]);
  // Permissions for other hosts do not count here.
  equal(await pass("POST", "/api/containers/web/restart", viewer), 403);
  equal(await stop(viewer), 200);
});

Deno.test("a scraper finds the hosts it may see, and reads their metrics through the link", async () => {
  await using fleet = await scopedFleet();
  const { hub } = fleet;
  const { body: targets } = await hub.call("GET", "/api/fleet/targets", undefined, EDGE);
  deepEqual(targets.map(({ labels }: { labels: unknown }) => labels), [{
    __scheme__: "http",
    __metrics_path__: "/metrics/federate",
    __param_host: "edge-7",
    instance: "edge-7",
    host_site: "kiel",
  }]);
  const scrape = async (host: string) => {
    const response = await hub.fetch("GET", `/metrics/federate?host=${host}`, undefined, EDGE);
    return [response.status, (await response.text()).includes("longshore_")];
  };
  deepEqual(await scrape("edge-7"), [200, true]);
  deepEqual(await scrape(OTHER_HOST), [404, false]);
});

Deno.test("a scraper learns which version of a host sends no metrics", async () => {
  await using fleet = await scopedFleet();
  for (
    const [head, error] of [
      // Of the first versions of members, and of what may come.
      ["401 Unauthorized\r\nLongshore-Note-Refused: other_path", "lacks"],
      ["404 Not Found", "lacks"],
      ["401 Unauthorized\r\nLongshore-Note-Refused: expired", "refused the request: The note has"],
      ["500 No", "does not send its metrics (status 500)"],
    ] as const
  ) {
    scriptHost(
      fleet,
      (stream) => sendText(stream, `HTTP/1.1 ${head}\r\nContent-Length: 0\r\n\r\n`),
    );
    const answer = await fleet.hub.call("GET", "/metrics/federate?host=edge-7", undefined, EDGE);
    equal(answer.status, 502);
    const expected = error === "lacks"
      ? "does not have GET /metrics; it runs version 0.1.0"
      : error;
    ok(answer.body.error.startsWith(`Host edge-7 ${expected}`), answer.body.error);
  }
});

Deno.test("the hub's own metrics have the state of each host, for callers without limits", async () => {
  await using fleet = await scopedFleet();
  const scrape = async (options: CallOptions) =>
    await (await fleet.hub.fetch("GET", "/metrics", undefined, options)).text();
  const text = await scrape({ role: "admin" });
  ok(text.includes('longshore_fleet_hosts{state="never"} 2'), text.slice(0, 500));
  ok(text.includes('longshore_fleet_host_up{host="edge-7"} 0'));
  ok(!(await scrape({ role: "admin", scope: { stacks: ["*"] } })).includes("longshore_fleet"));
});
