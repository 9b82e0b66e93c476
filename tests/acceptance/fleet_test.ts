/** Two real programs: a hub passes requests on to a member over a real link. @module */

import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { runCommand, runHere } from "../helpers/command.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { joinFleet, stateOfHost } from "../helpers/joined_host.ts";
import { startLongshore } from "../helpers/longshore.ts";
import { sseClient } from "../helpers/sse_client.ts";
import { openTerminal } from "../helpers/terminal_client.ts";
import { until } from "../helpers/until.ts";
import { plantedSecrets } from "./planted_secrets.ts";
import { engineOf } from "./planted_service.ts";

const AT_HOST = "/api/fleet/hosts/edge-7/api";

/** An engine with a shell that greets. */
const engine = () =>
  fakeEngine({
    ...engineOf(plantedSecrets()),
    "POST /containers/*/exec": () => Response.json({ Id: "exec1" }, { status: 201 }),
    "POST /exec/*/start": () =>
      new Response(
        new ReadableStream({
          start: (controller) => controller.enqueue(new TextEncoder().encode("welcome $ ")),
        }),
      ),
    "GET /exec/*/json": () => Response.json({ Running: true, Pid: 42, ExitCode: null }),
    "POST /exec/*/resize": () => new Response(null),
  });

Deno.test("a hub passes requests, streams and terminals on to a member, and says when it is away", async () => {
  await using fake = engine();
  const insecure = { FLEET_INSECURE: "on", TERMINAL: "admin" };
  await using hub = await startLongshore({ env: insecure });
  const ofMember = {
    engineSocket: fake.socketPath,
    env: { ...insecure, FLEET_ALLOW: "admin", FLEET_TERMINAL: "on" },
  };
  await using member = await startLongshore(ofMember);
  equal(await exists(`${member.dataDir}/fleet.sock`), false, "without a fleet, no socket");
  await joinFleet(hub, member);

  const list = await hub.call("GET", `${AT_HOST}/containers`);
  equal(list.status, 200, JSON.stringify(list.body));
  match(JSON.stringify(list.body), /"name":"web"/);
  const webhook = { name: "x", url: "https://example.org/x", events: ["container.down"] };
  equal((await hub.call("POST", `${AT_HOST}/webhooks`, webhook)).status, 201);
  const { entries } = (await member.call("GET", "/api/audit?action=webhooks")).body;
  deepEqual(entries.map(({ hub }: { hub: { user: string } }) => hub.user), ["API key"]);
  equal((await hub.call("POST", `${AT_HOST}/tokens`, {})).status, 403);
  const { mode } = await Deno.stat(`${member.dataDir}/fleet.sock`);
  equal((mode! & 0o777).toString(8), "600");

  const headers = { authorization: `Bearer ${await hub.token()}` };
  const opening = await hub.call("POST", `${AT_HOST}/containers/web/terminal/ticket`, {
    cols: 80,
    rows: 24,
  });
  equal(opening.status, 200, JSON.stringify(opening.body));
  const url = `${hub.baseUrl}${AT_HOST}/containers/web/terminal?ticket=${opening.body.ticket}`;
  const terminal = await openTerminal(url.replace("http:", "ws:"));
  await terminal.shows("welcome $ ");

  // More than the window of a stream, and than what a note has the digest of.
  const compose = "services: {}\n# ".padEnd(1.5 * 1024 * 1024, "x");
  const upload = await hub.call("POST", `${AT_HOST}/stacks`, { name: "shop", compose });
  equal(upload.status, 400);
  match(upload.body.error, /^body\.compose/);

  const streamed = await fetch(`${hub.baseUrl}${AT_HOST}/stream`, { headers });
  const stream = sseClient(streamed.body!);
  equal((await stream.next())?.type, "metrics");
  await member.kill9();
  await until("the host is away", async () => await stateOfHost(hub) === "away");
  await terminal.end();
  await rejects(stream.rest());
  const away = await hub.call("GET", `${AT_HOST}/containers`);
  equal(away.status, 503);
  match(away.body.error, /^Host edge-7 is away since \d{4}-/);

  // A request that is left reaches the host on a stick and through its link, and runs once.
  const later = { name: "later", compose: "services: { web: { image: app:1 } }", deploy: false };
  equal((await hub.call("POST", `${AT_HOST}/stacks?later=1h`, later)).status, 202);
  const exported = await runCommand(["fleet", "export", "--host", "edge-7"], {
    env: { DATA_DIR: hub.dataDir, ...insecure },
  });
  equal(exported.code, 0, exported.stderr);
  const box = `${member.dataDir}/box`;
  await Deno.writeTextFile(box, "\n");
  const env = { DATA_DIR: member.dataDir, ...insecure };
  const empty = await runHere(["fleet", "import", box], { env });
  deepEqual([empty.code, empty.stderr], [1, `longshore: ${box} has no boxes\n`]);
  await Deno.writeTextFile(box, exported.stdout);
  const imported = await runCommand(["fleet", "import", box], { env });
  equal(imported.stdout, "POST /api/stacks of API key: running\n", imported.stderr);
  await using _back = await startLongshore({ ...ofMember, dataDir: member.dataDir });
  await until("the request has succeeded", async () => {
    const { pending } = (await hub.call("GET", "/api/fleet/pending")).body;
    return pending[0].state === "succeeded";
  });
  const { versions } = (await hub.call("GET", `${AT_HOST}/stacks/later/versions`)).body;
  equal(versions.length, 1);
});

const exists = (path: string): Promise<boolean> => Deno.stat(path).then(() => true, () => false);
