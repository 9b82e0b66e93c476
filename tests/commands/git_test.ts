import { deepEqual, equal, match } from "node:assert/strict";
import { runHere, temporaryDirectory } from "../helpers/command.ts";
import { simulateContainers } from "../helpers/fake_containers.ts";
import { fakeEngine } from "../helpers/fake_engine.ts";
import { gitServer } from "../helpers/git_server.ts";
import { type Longshore, startLongshore } from "../helpers/longshore.ts";
import { sopsDotenv, sopsIdentity } from "../helpers/sops.ts";
import { createKey } from "../helpers/ssh_keys.ts";
import { until } from "../helpers/until.ts";

Deno.test("git add and git status show the stacks, and a crash makes no version twice", async () => {
  await using server = await gitServer();
  await using engine = fakeEngine(simulateContainers([]));
  using data = temporaryDirectory();
  server.intercept = ({ headers }) =>
    headers.get("authorization") === `Basic ${btoa("ada:s3cret")}`
      ? undefined
      : new Response(null, { status: 401 });
  const copy = await server.create("stacks");
  const push = (tag: string) =>
    copy.push({ "stacks/shop/compose.yaml": `services:\n  web:\n    image: nginx:${tag}\n` });
  const head = await push("1");
  const start = () =>
    startLongshore({
      dataDir: data.path,
      engineSocket: engine.socketPath,
      env: { OUTBOUND_ALLOW: "127.0.0.1" },
    });
  const run = (service: Longshore, args: string[], stdin = "") =>
    runHere(["git", ...args], {
      env: { LONGSHORE_URL: service.baseUrl, API_KEY: service.apiKey },
      stdin,
    });
  const versionsOf = async (service: Longshore) =>
    (await service.call("GET", "/api/stacks/shop/versions")).body.versions ?? [];

  const service = await start();
  const wrong = await run(service, ["add", "git@example.com:ada/stacks.git"]);
  equal(wrong.code, 1);
  match(wrong.stderr, /use https:\/\/example\.com\/ada\/stacks\.git/);
  const addAda = (secret: string, ...more: string[]) =>
    run(service, [
      ...["add", copy.url, "--path", "stacks/*/compose.yaml", "--username", "ada", "--secret"],
      ...more,
    ], `${secret}\n`);
  // Nothing is left of a failed attempt.
  const refused = await addAda("wrong");
  equal(refused.code, 1);
  match(refused.stderr, /does not accept the credentials \(401\)/);
  equal(refused.stdout, "");
  const signers = `${data.path}/allowed_signers`;
  await Deno.writeTextFile(signers, `ada@example.org ${(await createKey(data.path)).publicKey}`);
  const unsigned = await addAda("s3cret", "--name", "signed", "--signers", signers);
  equal(unsigned.code, 1);
  match(unsigned.stderr, /signed: Commit \w{10} is refused: it is not signed/);
  const { body: { repositories } } = await service.call("GET", "/api/git/repositories");
  deepEqual(repositories.map(({ name }: { name: string }) => name), ["signed"]);
  await service.call("DELETE", `/api/git/repositories/${repositories[0].id}`);
  const added = await addAda("s3cret");
  equal(added.code, 0, added.stderr);
  match(added.stdout, /^Webhook: \/hooks\/git\/[\w-]{24}\nSecret: whsec_[^\n]+\n/);
  match(added.stdout, new RegExp(`stacks +${head.slice(0, 10)} +Ada <.*> +shop +behind`));
  const shown = await run(service, ["status"]);
  match(shown.stdout, /shop +behind\n$/);

  // Each start fetches what is due; a kill at any time leaves one version for each commit.
  await service.kill9();
  await push("2");
  for (const killAfter of ["POST /stacks.git/git-upload-pack", "GET /stacks.git/info/refs"]) {
    server.requests.length = 0;
    await using again = await start();
    const { body } = await again.call("GET", "/api/git/repositories");
    void again.call("POST", `/api/git/repositories/${body.repositories[0].id}/fetch`)
      .catch(() => {});
    await until("it fetches", () => server.requests.some(({ line }) => line === killAfter));
    await again.kill9();
  }
  await using last = await start();
  const { body } = await last.call("GET", "/api/git/repositories");
  const fetched = await last.call("POST", `/api/git/repositories/${body.repositories[0].id}/fetch`);
  equal(fetched.status, 200, JSON.stringify(fetched.body));
  equal((await versionsOf(last)).length, 2);

  const { identity, recipient } = await sopsIdentity();
  await copy.push({ "stacks/shop/.env": await sopsDotenv(recipient, { TAG: "3" }) });
  const path = `/api/git/repositories/${body.repositories[0].id}`;
  equal((await last.call("PUT", path, { ageIdentity: identity })).status, 200);
  equal((await last.call("POST", `${path}/fetch`)).status, 200);
  equal((await last.call("GET", "/api/stacks/shop/source")).body.env, "TAG=3\n");
});
