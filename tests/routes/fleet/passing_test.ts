import { deepEqual, equal, match } from "node:assert/strict";
import { setContainers } from "../../helpers/fake_containers.ts";
import { type TestFleet, testFleet } from "../../helpers/fleet.ts";

// deno-lint-ignore no-explicit-any
async function answer(response: Response): Promise<{ status: number; body: any }> {
  const text = await response.text();
  return { status: response.status, body: text === "" ? undefined : JSON.parse(text) };
}

const entriesAt = async ({ member }: TestFleet) =>
  (await member.call("GET", "/api/audit")).body.entries;

Deno.test("a request to a host is answered by the host as its hub's user", async () => {
  await using fleet = await testFleet();
  setContainers(fleet.member, { name: "web" });
  const read = await answer(await fleet.pass("GET", "/api/containers?name=web"));
  equal(read.status, 200, JSON.stringify(read.body));
  deepEqual([read.status, read.body.containers?.length ?? read.body.length], [200, 1]);
  const hub = await answer(await fleet.hub.fetch("GET", "/api/containers"));
  equal(JSON.stringify(hub.body).includes("web"), false);

  const body = { name: "ready", url: "https://example.org/hook", events: ["container.down"] };
  const created = await answer(await fleet.pass("POST", "/api/webhooks", body));
  equal(created.status, 201, JSON.stringify(created.body));
  const [entry] = await entriesAt(fleet);
  deepEqual(
    [entry.action, entry.actor, entry.role, entry.hub],
    ["POST /api/webhooks", `hub/fingerprint-of-the-hub/key`, "admin", {
      id: "fingerprint-of-the-hub",
      name: "hub-1",
      user: "API key",
    }],
  );
  const [own] = (await fleet.hub.call("GET", "/api/audit")).body.entries;
  deepEqual([own.target, own.command], ["edge-7", "POST /api/webhooks"]);
});

Deno.test("an unknown host is 404, and one that is away is 503 with its state at once", async () => {
  await using fleet = await testFleet();
  const unknown = await fleet.hub.fetch("GET", "/api/fleet/hosts/other/api/containers");
  equal((await answer(unknown)).status, 404);
  fleet.link = undefined;
  deepEqual(await answer(await fleet.pass("GET", "/api/containers")), {
    status: 503,
    body: { error: "Host edge-7 is away since 2026-01-01T00:00:00.000Z" },
  });
});

Deno.test("a path that leads out of /api/ is not passed on", async () => {
  await using fleet = await testFleet();
  for (const path of ["/api/../auth/users", "/api/%2e%2e/livez"]) {
    const request = new Request("http://longshore.test/", {
      headers: { authorization: "Made-Up admin" },
    });
    Object.defineProperty(request, "url", {
      value: `http://longshore.test/api/fleet/hosts/edge-7${path}`,
    });
    equal((await fleet.hub.app(request, "192.0.2.1")).status, 404, path);
  }
});
