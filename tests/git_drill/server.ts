/**
 * The program and a Git server behind nginx: credentials, a large repository, slow and cut answers, and
 * a flood of webhooks.
 *
 * @module
 */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { type GitNginx, gitNginx } from "../helpers/git_nginx.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { processorSeconds, residentMib } from "../helpers/process_figures.ts";
import { until } from "../helpers/until.ts";

const MIB = 1024 * 1024;
const COMPOSE = "services:\n  web:\n    image: nginx:1\n";
const MAPPING = [{ path: "stacks/*/compose.yaml", name: "*" }];

/** Growth that a repository may cause for good, in MiB. */
const GROWTH_MAX = 50;

const FLOOD = 5_000;

/** Header of requests that get the real answer. */
const DIRECT = "x-direct";

export async function followServer(): Promise<void> {
  await using git = await gitNginx();
  await using engine = fakeEngine(simulateContainers([]));
  await using service = await startLongshore({
    engineSocket: engine.socketPath,
    env: { OUTBOUND_ALLOW: "127.0.0.1" },
  });
  const world: World = { git, service };
  await checkCredentials(world);
  await checkLarge(world);
  await checkSlow(world);
  await checkCut(world);
  await checkFlood(world);
}

interface World {
  git: GitNginx;
  service: Longshore;
}

async function add({ git, service }: World, name: string, more = {}) {
  const { status, body } = await service.call("POST", "/api/git/repositories", {
    name,
    url: `${git.url}/${name}.git`,
    caCertificate: git.caCertificate,
    auth: "token",
    secret: "t0ken",
    pollMinutes: 0,
    mapping: MAPPING.map((each) => ({ ...each, name: `${name}-*` })),
    ...more,
  });
  equal(status, 201, JSON.stringify(body));
  const path = `/api/git/repositories/${body.id}`;
  return {
    ...body,
    path,
    fetch: () => service.call("POST", `${path}/fetch`),
  };
}

async function checkCredentials(world: World): Promise<void> {
  const copy = await world.git.server.create("plain");
  const head = await copy.push({ "stacks/shop/compose.yaml": COMPOSE });
  const { path, fetch } = await add(world, "plain");
  const { service } = world;
  for (
    const change of [
      { auth: "token", secret: "t0ken" },
      { auth: "basic", username: "ada", secret: "s3cret" },
    ]
  ) {
    equal((await service.call("PUT", path, change)).status, 200);
    const { status, body } = await fetch();
    deepEqual([status, body.head?.id], [200, head], JSON.stringify(body));
  }
  await service.call("PUT", path, { secret: "other" });
  match((await fetch()).body.error, /does not accept the credentials \(401\)/);
  await service.call("PUT", path, { auth: "none" });
  match((await fetch()).body.error, /needs credentials/);
  await service.call("PUT", path, { auth: "token", secret: "t0ken", caCertificate: null });
  match((await fetch()).body.error, /the certificate is not trusted/);
  console.log("TLS of a private authority, token and password behind nginx: as expected");
}

/** Bytes that cannot be compressed. */
function noise(mib: number): Uint8Array {
  const bytes = new Uint8Array(mib * MIB);
  for (let at = 0; at < bytes.length; at += 65_536) {
    crypto.getRandomValues(bytes.subarray(at, at + 65_536));
  }
  return bytes;
}

async function checkLarge(world: World): Promise<void> {
  const { git, service: { pid } } = world;
  const copy = await git.server.create("large");
  await copy.push({ "stacks/shop/compose.yaml": COMPOSE, "data.bin": noise(55) });
  const before = await residentMib(pid);
  const { fetch } = await add(world, "large");
  const { status, body } = await fetch();
  equal(status, 200, JSON.stringify(body));
  const growth = async () => await residentMib(pid) - before;
  await until("the memory is given back", async () => await growth() < GROWTH_MAX);
  const peak = await residentMib(pid, "VmHWM");
  console.log(
    `a repository of 55 MiB: ${before} MiB before, ${peak} MiB at most, ${await growth()} MiB more ` +
      "afterwards",
  );
}

async function checkSlow(world: World): Promise<void> {
  const { git } = world;
  const [slow, quick] = [await git.server.create("slow"), await git.server.create("quick")];
  await slow.push({ "stacks/shop/compose.yaml": COMPOSE, "data.bin": noise(2) });
  const head = await quick.push({ "stacks/shop/compose.yaml": COMPOSE });
  const repository = await add(world, "slow", { url: `${git.url}/slow/slow.git` });
  const start = performance.now();
  const fetched = repository.fetch();
  equal((await (await add(world, "quick")).fetch()).body.head.id, head);
  const quickMs = performance.now() - start;
  equal((await fetched).status, 200);
  const slowMs = performance.now() - start;
  ok(quickMs < slowMs);
  console.log(`a slow server took ${Math.round(slowMs)} ms, another ${Math.round(quickMs)} ms`);
}

async function checkCut(world: World): Promise<void> {
  const { server } = world.git;
  const copy = await server.create("cut");
  const head = await copy.push({ "stacks/shop/compose.yaml": COMPOSE, "data.bin": noise(1) });
  const { fetch } = await add(world, "cut");
  server.intercept = (request) =>
    request.method === "POST" && !request.headers.has(DIRECT)
      ? cutAnswer(request, server.url)
      : undefined;
  const { status, body } = await fetch();
  equal(status, 502, JSON.stringify(body));
  server.intercept = () => undefined;
  equal((await fetch()).body.head.id, head);
  console.log(`an answer that is cut in the middle: ${body.error}`);
}

/** The real answer, which breaks off after half a mebibyte. Only the pack has as much. */
async function cutAnswer(request: Request, origin: string): Promise<Response> {
  const { pathname, search } = new URL(request.url);
  const real = await Deno.makeTempFile();
  const { headers } = request;
  const answer = await new Deno.Command("curl", {
    args: [
      ...["-s", "-o", real, "--data-binary", "@-", "-H", `${DIRECT}: 1`],
      ...["content-type", "git-protocol", "accept"].flatMap((name) =>
        headers.has(name) ? ["-H", `${name}: ${headers.get(name)}`] : []
      ),
      origin + pathname + search,
    ],
    stdin: "piped",
  }).spawn();
  const input = answer.stdin.getWriter();
  await input.write(new Uint8Array(await request.arrayBuffer()));
  await input.close();
  await answer.status;
  const bytes = await Deno.readFile(real);
  await Deno.remove(real);
  const type = "application/x-git-upload-pack-result";
  if (bytes.length < MIB / 2) return new Response(bytes, { headers: { "content-type": type } });
  return new Response(
    new ReadableStream({
      start(controller) {
        controller.enqueue(bytes.subarray(0, MIB / 2));
        queueMicrotask(() => controller.error(new Error("cut")));
      },
    }),
    { headers: { "content-type": type } },
  );
}

async function checkFlood(world: World): Promise<void> {
  const { service } = world;
  const { webhookPath } = await add(world, "flood", { mapping: [] });
  const post = async (body: BodyInit) => {
    const response = await fetch(service.baseUrl + webhookPath, {
      method: "POST",
      body,
      headers: { "content-type": "application/json", "x-hub-signature-256": "sha256=00" },
    });
    await response.body?.cancel();
    return response.status;
  };
  equal(await post(new Uint8Array(10 * MIB)), 413);
  const before = await processorSeconds(service.pid);
  const start = performance.now();
  const statuses = new Set<number>();
  const one = async () => {
    for (let at = 0; at < FLOOD / 50; at++) statuses.add(await post("{}"));
  };
  await Promise.all(Array.from({ length: 50 }, one));
  const seconds = (performance.now() - start) / 1000;
  const processor = await processorSeconds(service.pid) - before;
  deepEqual([...statuses].sort(), [401, 429]);
  const logged = service.stderr().split("\n").filter((line) => line.includes("webhook refused"));
  ok(logged.length <= 1 + seconds / 60, `${logged.length} lines`);
  console.log(
    `${FLOOD} webhooks with a wrong signature: ${Math.round(FLOOD / seconds)} per second, ` +
      `${(processor / FLOOD * 1000).toFixed(2)} ms of processor time each, ${logged.length} lines`,
  );
}
