/**
 * Calls every endpoint of a host with every kind of caller, directly and through its hub: the statuses
 * are the same, but for what is never done through a link.
 *
 * @module
 */

import { equal, ok } from "node:assert/strict";
import { everyRoute } from "../../../routes/editions.ts";
import type { Endpoint } from "../../../routes/contract/endpoint.ts";
import { everyEndpoint, rightRequest, type Walked } from "../../acceptance/endpoint_walk.ts";
import { setContainers, simulateContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { testFleet } from "../../helpers/fleet.ts";
import { type CallOptions, type TestApp, testApp } from "../../helpers/test_app.ts";

const CALLERS: Record<string, CallOptions> = {
  "an operator": { role: "operator" },
  "an admin": { role: "admin" },
  "a limited token": {
    role: "admin",
    scope: { permissions: ["containers:read", "containers:stop"], containers: ["web"] },
  },
};

/** Accounts, tokens, identity, license and the fleet; also what anyone may call. */
const OWN =
  /^\w+ (\/api\/(account|users|sessions|settings|setup|tokens|identity|fleet)\b|\/api\/ext\/service-enterprise\/(roles|users|sso|ip-allowlist|mtls|encryption|compliance)\b|\/api\/edition\/)/;

/** WebSockets, which need a handshake, requests to other systems, and a stream without end. */
const SKIPPED = /\/(terminal|attach|feed)$|\/(test|check|poll)$/;

const walkedOf = async (app: TestApp): Promise<(Walked & { endpoint: Endpoint })[]> => {
  const endpoints = new Map<string, Endpoint>();
  for (const { prefix, endpoints: all } of await everyRoute(app.deps)) {
    for (const each of all) endpoints.set(`${each.method} ${prefix}${each.path}`, each);
  }
  return (await everyEndpoint(app.deps)).flatMap((walked) => {
    const endpoint = endpoints.get(`${walked.method.toLowerCase()} ${walked.pattern}`);
    return endpoint && walked.pattern.startsWith("/api/") ? [{ ...walked, endpoint }] : [];
  });
};

async function statusOf(answering: Promise<Response>): Promise<number> {
  const response = await answering;
  await response.body?.cancel();
  return response.status;
}

Deno.test("every endpoint treats a caller of the hub as one with the same rights", async () => {
  await using engines = new AsyncDisposableStack();
  const engine = () => engines.use(fakeEngine(simulateContainers([{ name: "web" }]))).engine;
  const config = { fleetTerminal: "on", terminal: "admin" } as const;
  const dataDir = await Deno.makeTempDir({ prefix: "longshore-twin-" });
  engines.defer(() => Deno.remove(dataDir, { recursive: true }));
  using twin = testApp({ engine: engine(), edition: "enterprise", config: { ...config, dataDir } });
  await using fleet = await testFleet({
    hub: { config },
    member: { engine: engine(), edition: "enterprise", config },
  });
  for (const app of [twin, fleet.member]) setContainers(app, { name: "web" });

  const different: string[] = [];
  let own = 0;
  for (const walked of await walkedOf(twin)) {
    const { body, headers, method, path } = rightRequest(walked);
    if (SKIPPED.test(path)) continue;
    const target = path.replace(/:\w+/g, "web");
    for (const [name, options] of Object.entries(CALLERS)) {
      const direct = await statusOf(
        twin.fetch(method, target, body, { ...options, headers: { ...headers } }),
      );
      const passed = await statusOf(fleet.pass(method, target, body, {
        ...options,
        headers: { ...headers },
      }));
      const { loginOnly, role } = walked.endpoint;
      const isOwn = OWN.test(`${method} ${path}`) || loginOnly ||
        role === "public" && path !== "/api/health";
      if (isOwn) own++;
      const expected = isOwn ? 403 : direct;
      if (passed !== expected) different.push(`${method} ${path} by ${name}: ${direct}, ${passed}`);
    }
  }
  equal(different.join("\n"), "");
  ok(own > 100, `${own} refusals`);
});
