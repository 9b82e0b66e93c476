import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { setContainers } from "../../helpers/fake_containers.ts";
import { openNote } from "../../../services/fleet/notes/note.ts";
import { scriptHost, sendText, type TestFleet, testFleet } from "../../helpers/fleet.ts";
import { until } from "../../helpers/until.ts";

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
    ["POST /api/webhooks", `hub/key-of-the-hub/key`, "admin", {
      id: "key-of-the-hub",
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

Deno.test("without a link or a share, the body of a request is not read", async () => {
  await using fleet = await testFleet();
  fleet.link = undefined;
  let pulled = 0;
  const body = new ReadableStream({
    pull: (controller) => void (pulled++, controller.enqueue(new Uint8Array(1))),
  }, { highWaterMark: 0 });
  const request = new Request("http://longshore.test/api/fleet/hosts/edge-7/api/webhooks", {
    method: "POST",
    headers: { authorization: "Made-Up admin", "content-type": "application/json" },
    body,
  });
  equal((await fleet.hub.app(request, "192.0.2.1")).status, 503);
  equal(pulled, 0);
});

Deno.test("reads that the host audits are in the audit log of the hub as well", async () => {
  await using fleet = await testFleet();
  const stack = { name: "blog", compose: "services: { web: { image: nginx } }", deploy: false };
  equal((await answer(await fleet.pass("POST", "/api/stacks", stack))).status, 201);
  for (const path of ["/api/stacks/blog/source", "/api/stacks/blog/versions"]) {
    const read = await fleet.pass("GET", path);
    deepEqual([read.status, read.headers.get("longshore-audited")], [200, null]);
    await read.body?.cancel();
  }
  const { entries } = (await fleet.hub.call("GET", "/api/audit?action=GET")).body;
  deepEqual(
    entries.map(({ target, command }: Record<string, string>) => [target, command]),
    [["edge-7", "GET /api/stacks/blog/source"]],
  );
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

/** Requests that the host refuses as too much for its hub. */
const ROLES = {
  read: ["POST /api/updates/check", "DELETE /api/webhooks/x", "GET /api/webhooks"],
  operate: ["DELETE /api/webhooks/x", "GET /api/webhooks"],
  admin: [],
} as const;

for (const [fleetAllow, refused] of Object.entries(ROLES)) {
  Deno.test(`FLEET_ALLOW=${fleetAllow} limits an admin of the hub`, async () => {
    await using fleet = await testFleet({
      member: { config: { fleetAllow: fleetAllow as keyof typeof ROLES } },
    });
    setContainers(fleet.member);
    const found: string[] = [];
    for (const request of ROLES.read) {
      const [method, path] = request.split(" ") as [string, string];
      if ((await answer(await fleet.pass(method, path))).status === 403) found.push(request);
    }
    deepEqual(found, refused);
  });
}

Deno.test("a role of the hub that is lower than FLEET_ALLOW stays", async () => {
  await using fleet = await testFleet();
  const refused = await fleet.pass("GET", "/api/webhooks", undefined, { role: "operator" });
  equal((await answer(refused)).status, 403);
});

Deno.test("a host passes nothing on for its hub, so that two hubs of each other form no loop", async () => {
  await using fleet = await testFleet();
  fleet.member.deps.passing.hub = fleet.hub.deps.passing.hub;
  for (const method of ["GET", "POST", "PUT", "DELETE"]) {
    const passed = await fleet.pass(method, "/api/fleet/hosts/edge-7/api/containers");
    const { status, body } = await answer(passed);
    deepEqual([method, status], [method, 403]);
    match(body.error, /^Not available through a hub/);
  }
  equal(fleet.open, 0);
});

Deno.test("credentials and headers of the client end at the hub, and those of a browser at the host", async () => {
  await using fleet = await testFleet();
  const heads = scriptHost(fleet, (stream) =>
    sendText(
      stream,
      [
        "HTTP/1.1 201 Created",
        "Content-Type: text/html",
        "Content-Security-Policy: script-src *",
        "Set-Cookie: a=b",
        "Clear-Site-Data: *",
        "Access-Control-Allow-Origin: *",
        'ETag: "1"',
        "Location: /api/jobs/7",
        "Content-Length: 8",
        "",
        "<script>",
      ].join("\r\n"),
    ));
  const response = await fleet.pass("POST", "/api/jobs?ticket=secret&a=%20b", "{}", {
    headers: {
      cookie: "session=1",
      "x-forwarded-for": "198.51.100.7",
      "longshore-note": "forged",
      "longshore-stream": "1",
      "accept-language": "de",
      origin: "https://evil.example",
    },
  });
  await response.body?.cancel();
  const [line, ...sent] = heads[0]!.toLowerCase().split("\r\n");
  equal(line, "post /api/jobs?a=+b http/1.1");
  const names = sent.map((each) => each.split(":")[0]!);
  for (const name of ["authorization", "cookie", "x-forwarded-for", "origin", "longshore-stream"]) {
    equal(names.includes(name), false, name);
  }
  equal(sent.includes("accept-language: de"), true);
  equal(sent.some((each) => each.includes("forged")), false);
  const got = Object.fromEntries(response.headers);
  deepEqual([got.etag, got.location], ['"1"', "/api/fleet/hosts/host-7/api/jobs/7"]);
  deepEqual([got["set-cookie"], got["clear-site-data"]], [undefined, undefined]);
  equal(got["access-control-allow-origin"], undefined);
  match(got["content-security-policy"]!, /^default-src 'none'.*sandbox$/);
});

Deno.test("a host that sends garbage, closes the stream or stops in a body harms only its response", async () => {
  await using fleet = await testFleet();
  for (
    const [text, status, error] of [
      ["garbage\r\n\r\n", 502, "Host edge-7 sent an invalid response"],
      ["x".repeat(70_000), 502, "Host edge-7 sent an invalid response"],
      ["HTTP/1.1 101 Switching Protocols\r\n\r\n", 502, "Host edge-7 sent an invalid response"],
      ["", 503, "The link to host edge-7 has ended"],
    ] as const
  ) {
    scriptHost(fleet, async (stream) => {
      await sendText(stream, text);
      await stream.closeWrite();
    });
    deepEqual(await answer(await fleet.pass("GET", "/api/containers")), {
      status,
      body: { error },
    });
  }
  scriptHost(fleet, async (stream) => {
    await sendText(stream, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nshort");
    await stream.closeWrite();
  });
  const response = await fleet.pass("GET", "/api/containers");
  equal(response.status, 200);
  await rejects(response.text());
  equal(fleet.hub.deps.passing.passages.size, 0);
});

Deno.test("a Location leads to the API of the host only, and no redirect, 401 or odd status passes", async () => {
  await using fleet = await testFleet();
  for (
    const [location, passed] of [
      ["/api/jobs/../jobs/7?a=1", "/api/fleet/hosts/host-7/api/jobs/7?a=1"],
      ["/api/../../../../../api/users/1", "/api/fleet/hosts/host-7/api/users/1"],
      ["/api/%2e%2e/%2E./login", null],
      ["/api/..\\login", null],
      ["//evil.example/api/", null],
    ] as const
  ) {
    scriptHost(
      fleet,
      (stream) => sendText(stream, `HTTP/1.1 204 No Content\r\nLocation: ${location}\r\n\r\n`),
    );
    const response = await fleet.pass("GET", "/api/jobs");
    deepEqual([response.status, response.headers.get("location")], [204, passed], location);
  }
  for (const status of [205, 301, 307, 308, 401, 600, 999]) {
    scriptHost(
      fleet,
      (stream) => sendText(stream, `HTTP/1.1 ${status} X\r\nContent-Length: 1\r\n\r\nx`),
    );
    deepEqual(await answer(await fleet.pass("PUT", "/api/jobs/7", {})), {
      status: 502,
      body: { error: `Host edge-7 answered ${status}` },
    });
  }
  equal(fleet.hub.deps.passing.passages.size, 0);
});

Deno.test("a refused note is the host's failure, and no reason to log in again", async () => {
  await using fleet = await testFleet();
  fleet.link!.clock.offset = 60_000;
  deepEqual(await answer(await fleet.pass("GET", "/api/containers")), {
    status: 502,
    body: {
      error:
        "Host edge-7 refused the request: The note is from the future; compare the clocks of " +
        "the hub and the host",
    },
  });
  // The note is valid if the clocks differ as measured.
  fleet.member.clock.advance({ minutes: 1 });
  equal((await answer(await fleet.pass("GET", "/api/webhooks"))).status, 200);
});

Deno.test("requests to a host that does not answer are limited, and others are answered", async () => {
  await using fleet = await testFleet();
  const { link } = fleet;
  const { passages } = fleet.hub.deps.passing;
  scriptHost(fleet, () => {});
  const leaving = new AbortController();
  const waiting = Array.from({ length: 200 }, () => passRequest(fleet, leaving.signal));
  await until("a share is reached", () => passages.size === 128);
  const refused = await Promise.race(waiting);
  equal(refused.status, 429);
  fleet.host = { ...fleet.host, id: "host-8" };
  fleet.link = link;
  equal((await answer(await fleet.pass("GET", "/api/webhooks"))).status, 200);
  leaving.abort();
  const statuses = (await Promise.all(waiting)).map(({ status }) => status);
  equal(statuses.filter((status) => status === 429).length, 72);
  await until("every passage has ended", () => passages.size === 0);
});

/** A request whose client leaves with the signal. */
function passRequest({ hub }: TestFleet, signal: AbortSignal): Promise<Response> {
  const url = "http://longshore.test/api/fleet/hosts/edge-7/api/containers";
  const headers = { authorization: "Made-Up admin" };
  return hub.app(new Request(url, { headers, signal }), "192.0.2.1");
}

Deno.test("an event stream passes, and ends when its caller loses the role", async () => {
  await using fleet = await testFleet();
  const response = await fleet.pass("GET", "/api/stream");
  equal(response.headers.get("content-type"), "text/event-stream");
  const reader = response.body!.getReader();
  const first = await reader.read();
  match(new TextDecoder().decode(first.value), /^(:|id|event|retry)/m);
  equal(fleet.member.deps.stream.count, 1);
  fleet.hub.deps.accounts.roleOf = () => "viewer";
  fleet.hub.deps.passing.passages.check();
  await rejects(async () => {
    while (!(await reader.read()).done);
    throw new Error("ended without an error, as if it were complete");
  });
  await until("the host has ended it, too", () => fleet.member.deps.stream.count === 0);
});

Deno.test("an upload of any size passes at the pace of the host, with the note of its stream", async () => {
  await using fleet = await testFleet();
  let received = 0;
  const heads = scriptHost(fleet, async (stream, head, reader) => {
    const length = Number(/^content-length: (\d+)/im.exec(head)?.[1]);
    while (received < length) received += (await reader.readSome(1024 * 1024))!.length;
    await sendText(stream, "HTTP/1.1 204 No Content\r\n\r\n");
  });
  const size = 5 * 1024 * 1024;
  const headers = { "content-type": "application/x-tar", "content-length": String(size) };
  const response = await fleet.pass("POST", "/api/images/load", new Uint8Array(size), { headers });
  deepEqual([response.status, received], [204, size]);
  const { note } = openNote(/^longshore-note: (.*)$/im.exec(heads[0]!)![1]!)!;
  deepEqual([note.digest, note.stream], [null, "1"]);
});

Deno.test("a ticket passes for event streams and downloads only", async () => {
  await using fleet = await testFleet();
  for (
    const [header, status] of [
      ["Content-Type: application/json", 401],
      ["Content-Type: text/event-stream", 200],
      ["Content-Disposition: attachment", 200],
    ] as const
  ) {
    scriptHost(
      fleet,
      (stream) => sendText(stream, `HTTP/1.1 200 OK\r\n${header}\r\nContent-Length: 2\r\n\r\n{}`),
    );
    const { ticket } = (await fleet.hub.call("POST", "/api/stream/ticket")).body;
    const options = { role: "public" } as const;
    const path = `/api/webhooks?ticket=${ticket}`;
    const response = await fleet.pass("GET", path, undefined, options);
    await response.text();
    equal(response.status, status, header);
  }
  equal(fleet.hub.deps.passing.passages.size, 0);
});

Deno.test("the password of a new backup repository does not leave the host", async () => {
  await using fleet = await testFleet();
  const created = await answer(await fleet.pass("POST", "/api/backup/targets", { name: "local" }));
  deepEqual([created.status, created.body.newPassword], [201, null], JSON.stringify(created.body));
});
