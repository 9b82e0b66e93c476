import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineError, EngineProtocolError } from "../../engine/errors.ts";
import { imageInspect, imagePrune, imageRemove } from "../../engine/images.ts";
import { imagePull } from "../../engine/image_pull.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";

const sha = `sha256:${"0123456789abcdef".repeat(4)}`;

for (
  const [reference, query] of [
    ["nginx", "fromImage=nginx&tag=latest"],
    ["localhost:5000/app:v1", "fromImage=localhost%3A5000%2Fapp&tag=v1"],
    [`nginx:1@${sha}`, `fromImage=nginx&tag=${encodeURIComponent(sha)}`],
  ] as const
) {
  Deno.test(`imagePull() of ${reference} requests one image only`, async () => {
    await using fake = fakeEngine({ "POST /images/create": () => new Response("") });
    await imagePull(fake.engine, reference);
    deepEqual(fake.requests, [`POST /images/create?${query}`]);
  });
}

Deno.test("imagePull() reports its progress and ends with the pull", async () => {
  const messages = [
    { status: "Pulling from library/nginx", id: "latest" },
    { status: "Downloading", id: "abc", progressDetail: { current: 1, total: 2 } },
    { status: "Status: Downloaded newer image" },
  ];
  await using fake = fakeEngine({
    "POST /images/create": () =>
      new Response(messages.map((message) => `${JSON.stringify(message)}\r\n`).join("")),
  });
  const seen: unknown[] = [];
  await imagePull(fake.engine, "nginx", { onProgress: (progress) => seen.push(progress) });
  deepEqual(seen, messages);
});

for (
  const { text, status } of [
    { text: "manifest for nope:latest not found: manifest unknown", status: 404 },
    { text: "pull access denied for nope, repository does not exist or may require", status: 404 },
    { text: 'Get "https://r.example/v2/": dial tcp: lookup r.example: no such host', status: 502 },
    { text: "tls: failed to verify: x509: certificate not found in the store", status: 502 },
    { text: "unauthorized: authentication required", status: 502 },
    { text: "toomanyrequests: You have reached your pull rate limit", status: 502 },
    { text: "write /var/lib/docker/x: no space left on device", status: 507 },
  ]
) {
  Deno.test(`imagePull() that ends in "${text}" is ${status}`, async () => {
    const stream = JSON.stringify({ status: "Pulling" }) +
      JSON.stringify({ errorDetail: { message: text }, error: text });
    await using fake = fakeEngine({ "POST /images/create": () => new Response(stream) });
    await rejects(imagePull(fake.engine, "nope"), { name: "EngineError", status, message: text });

    fake.answers["POST /images/create"] = () => Response.json({ message: text }, { status: 500 });
    await rejects(imagePull(fake.engine, "nope"), { name: "EngineError", status, message: text });
  });
}

Deno.test("imagePull() fails on a broken stream", async () => {
  await using fake = fakeEngine({ "POST /images/create": () => new Response('{"status":') });
  await rejects(imagePull(fake.engine, "nginx"), EngineProtocolError);
});

Deno.test("image names may contain slashes, but cannot reach other paths", async () => {
  await using fake = fakeEngine({
    "GET /images/localhost%3A5000/team/app%3Av1/json": () => Response.json({ Id: "i1" }),
    "DELETE /images/team/app": () => Response.json([{ Untagged: "team/app:latest" }]),
  });
  equal((await imageInspect(fake.engine, "localhost:5000/team/app:v1")).Id, "i1");
  deepEqual(await imageRemove(fake.engine, "team/app", { force: true }), [
    { Untagged: "team/app:latest" },
  ]);
  const asked = fake.requests.length;
  for (const name of ["", "..", "a/../../containers/x", "a//b", "/a", "a/"]) {
    await rejects(
      async () => await imageInspect(fake.engine, name),
      (error) => error instanceof EngineError && error.status === 404,
    );
  }
  equal(fake.requests.length, asked);
});

Deno.test("imagePrune() removes only untagged images", async () => {
  await using fake = fakeEngine({
    "POST /images/prune": ({ query }) =>
      Response.json({ ImagesDeleted: [{ Deleted: query.get("filters") }], SpaceReclaimed: 7 }),
  });
  deepEqual(await imagePrune(fake.engine), {
    deleted: [{ Deleted: '{"dangling":["true"]}' }],
    spaceReclaimed: 7,
  });
});
