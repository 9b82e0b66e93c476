/** Repositories, and the stacks that follow them, from a real Git server. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { type Membership, replaceMembership } from "../../../db/fleet_membership.ts";
import { nextRetry } from "../../../services/git/retries.ts";
import { watchRepositories } from "../../../services/git/watcher.ts";
import { composeLabels } from "../../helpers/fake_containers.ts";
import { gitWorld, MAPPING, round } from "../../helpers/git_world.ts";
import { sopsBinary, sopsDotenv, sopsIdentity } from "../../helpers/sops.ts";
import { collectEvents, type TestApp } from "../../helpers/test_app.ts";

const composeOf = (tag: string, more = "") => `services:\n  web:\n    image: nginx:${tag}\n${more}`;

const gitOf = async (app: TestApp, name: string) =>
  (await app.call("GET", `/api/stacks/${name}/git`)).body.git;

const sourceOf = async (app: TestApp, name: string) =>
  (await app.call("GET", `/api/stacks/${name}/source`)).body;

const membershipOf = (given: Partial<Membership>): Membership => ({
  address: "https://hub.example.com",
  hubKey: "",
  hubNoteKey: "",
  hubName: "hub",
  hostId: "h1",
  name: "edge-7",
  isPending: false,
  challenge: null,
  challengeProof: null,
  joinedAt: "2026-01-01T12:00:00Z",
  hubTakesEvents: false,
  asksHub: false,
  labels: {},
  ...given,
});

const versionsOf = async (app: TestApp, name: string) =>
  (await app.call("GET", `/api/stacks/${name}/versions`)).body.versions;

Deno.test("commits of a repository become versions of the stacks that they change", async (t) => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const events = collectEvents(app);
  const copy = await server.create("stacks");
  const first = await copy.push({
    "stacks/shop/compose.yaml": composeOf("1", "    env_file: app.env\n"),
    "stacks/shop/.env": "TAG=1\n",
    "stacks/shop/app.env": "LEVEL=info\n",
    "stacks/shop/data/large.bin": new Uint8Array(10),
    "stacks/blog/compose.yaml": composeOf("2"),
    "stacks/Bad\x1b\u202eName/compose.yaml": composeOf("3"),
    "README.md": "x",
  }, "Add stacks");
  const repository = await add(copy.url);
  const path = `/api/git/repositories/${repository.id}`;

  await t.step("files that the Compose file names are taken", async () => {
    await round(app);
    const { compose, env, files, managed, updatedBy } = await sourceOf(app, "shop");
    deepEqual({ compose, env, files, managed, updatedBy }, {
      compose: composeOf("1", "    env_file: app.env\n"),
      env: "TAG=1\n",
      files: { "app.env": "LEVEL=info\n" },
      managed: "stored",
      updatedBy: "git",
    });
    const [{ commit }] = await versionsOf(app, "shop");
    deepEqual(commit, {
      id: first,
      author: "Ada <ada@example.org>",
      message: "Add stacks",
      committedAt: commit.committedAt,
      signer: null,
    });
    const { body } = await app.call("GET", path);
    deepEqual(body.stacks.map((each: { name: string }) => each.name), ["blog", "shop"]);
    equal(body.head.id, first);
    match(body.problems[0], /^stacks\/Bad Name\/compose\.yaml: Bad Name is not a name/);
  });

  await t.step("the same commit costs no fetch", async () => {
    server.requests.length = 0;
    await round(app);
    deepEqual(server.requests.map(({ line }) => line), [
      "GET /stacks.git/info/refs",
      "POST /stacks.git/git-upload-pack",
    ]);
    equal((await versionsOf(app, "shop")).length, 1);
  });

  await t.step("one push changes only its stacks, with one fetch", async () => {
    await copy.push({ "README.md": "y" });
    const second = await copy.push({ "stacks/blog/compose.yaml": composeOf("2.1") }, "Update");
    await round(app);
    deepEqual([(await versionsOf(app, "shop")).length, (await versionsOf(app, "blog")).length], [
      1,
      2,
    ]);
    equal((await gitOf(app, "blog")).commit.id, second);
  });

  await t.step("an edit is drift, holds new commits, and can be discarded", async () => {
    const edited = composeOf("9");
    await app.call("PUT", "/api/stacks/blog/source", { compose: edited, expectedVersion: 2 });
    await copy.push({ "stacks/blog/compose.yaml": composeOf("2.2") });
    await round(app);
    const { state, drift } = await gitOf(app, "blog");
    equal(state, "drift");
    const { body: compared } = await app.call(
      "GET",
      `/api/stacks/blog/versions/${drift.from}/diff/${drift.to}`,
    );
    match(compared.diff, /- {4}image: nginx:2\.1\n\+ {4}image: nginx:9\n/);
    equal((await sourceOf(app, "blog")).compose, edited);
    const { status, body } = await app.call("POST", "/api/stacks/blog/git/discard");
    deepEqual([status, body.state, body.drift], [200, "behind", null]);
    equal((await sourceOf(app, "blog")).compose, composeOf("2.2"));
    equal((await app.call("POST", "/api/stacks/blog/git/discard")).status, 409);
  });

  await t.step("a Compose file with errors is refused once, and the version stays", async () => {
    await copy.push({ "stacks/blog/compose.yaml": "services:\n  web:\n    imagee: x\n" });
    const before = events.length;
    await round(app);
    await round(app);
    const { state, problem } = await gitOf(app, "blog");
    equal(state, "refused");
    match(problem, /^stacks\/blog\/compose\.yaml:3:5 /);
    deepEqual(events.slice(before).map(({ event }) => event), ["git.commit_refused"]);
    equal((await sourceOf(app, "blog")).compose, composeOf("2.2"));
    await copy.push({ "stacks/blog/compose.yaml": composeOf("2.3") });
    await round(app);
    deepEqual([(await gitOf(app, "blog")).state, (await gitOf(app, "blog")).problem], [
      "behind",
      null,
    ]);
  });

  await t.step("a file that is gone orphans its stack, which stays", async () => {
    await copy.push({ "stacks/blog/compose.yaml": null });
    await round(app);
    equal((await gitOf(app, "blog")).state, "orphaned");
    equal((await sourceOf(app, "blog")).compose, composeOf("2.3"));
  });

  await t.step("a failure is reported once, and all else works on", async () => {
    server.intercept = () => new Response(null, { status: 503 });
    const before = events.length;
    await round(app);
    await round(app);
    deepEqual(events.slice(before).map(({ event }) => event), ["git.fetch_failed"]);
    const { body } = await app.call("GET", path);
    match(body.error, /answered with status 503$/);
    match((await app.call("POST", `${path}/test`)).body.error, /answered with status 503$/);
    equal((await app.call("POST", `${path}/fetch`)).status, 502);
    server.intercept = () => undefined;
    await round(app);
    equal((await app.call("GET", path)).body.error, null);
  });

  await t.step("a repository that is deleted leaves its stacks", async () => {
    equal((await app.call("DELETE", path)).status, 200);
    equal(await gitOf(app, "shop"), null);
    equal((await sourceOf(app, "shop")).version, 1);
    deepEqual(
      Array.from(Deno.readDirSync(`${app.deps.config.dataDir}/git`), ({ name }) => name),
      [],
    );
  });
});

Deno.test("a mapping applies to hosts with its labels, with its variables", async () => {
  await using all = await gitWorld([], {
    config: { fleetAllow: "admin", hostLabels: { site: "kiel" } },
  });
  const { app, server, add } = all;
  const atHub = (labels: Record<string, string>) =>
    replaceMembership(app.deps.db, membershipOf({ labels }));
  atHub({ site: "bonn", tier: "home" });
  const copy = await server.create("stacks");
  const compose = "services:\n  web:\n    image: nginx\n    environment: { D: '${DOMAIN}' }\n";
  await copy.push({
    "stacks/shop/compose.yaml": compose,
    "stacks/shop/.env": "DOMAIN=example.com\n",
    "bonn.yaml": composeOf("1"),
    "home.yaml": composeOf("1"),
  });
  const env = { DOMAIN: "kiel.example.com" };
  const { id } = await add(copy.url, {
    mapping: [
      { ...MAPPING[0], hosts: { site: "kiel" }, env },
      { path: "bonn.yaml", name: "bonn", hosts: { site: "bonn" } },
      { path: "home.yaml", name: "home", hosts: { site: "kiel", tier: "home" } },
    ],
  });
  await round(app);
  const states = async () => {
    const { body } = await app.call("GET", `/api/git/repositories/${id}`);
    return body.stacks.map(({ name, state }: Record<string, string>) => `${name} ${state}`);
  };
  deepEqual(await states(), ["home behind", "shop behind"]);
  equal((await sourceOf(app, "shop")).env, 'DOMAIN=example.com\nDOMAIN="kiel.example.com"\n');
  const { body } = await app.call("GET", "/api/git/repositories");
  deepEqual(body.labels, { site: "kiel", tier: "home" });

  // Nothing was pushed meanwhile.
  atHub({});
  await round(app);
  deepEqual(await states(), ["home orphaned", "shop behind"]);
  const attached = { repositoryId: id, path: "stacks/shop/compose.yaml" };
  equal((await app.call("PUT", "/api/stacks/shop/git", attached)).status, 200);
  match((await sourceOf(app, "shop")).env, /kiel/);
  equal((await app.call("PUT", "/api/stacks/shop/git", { ...attached, env: {} })).status, 200);
  equal((await sourceOf(app, "shop")).env, "DOMAIN=example.com\n");

  app.deps.config.fleetAllow = "operate";
  atHub({ tier: "home" });
  deepEqual((await app.call("GET", "/api/git/repositories")).body.labels, { site: "kiel" });
});

Deno.test("a mapping does not take over a stack of another origin", async () => {
  await using all = await gitWorld([
    { name: "blog-web-1", labels: composeLabels("blog", "web") },
  ]);
  const { app, server, add } = all;
  await app.call("POST", "/api/stacks", { name: "shop", deploy: false, compose: composeOf("0") });
  const copy = await server.create("stacks");
  await copy.push({
    "stacks/shop/compose.yaml": composeOf("1"),
    "stacks/blog/compose.yaml": composeOf("1"),
  });
  const { id } = await add(copy.url);
  await round(app);

  const { body } = await app.call("GET", `/api/git/repositories/${id}`);
  deepEqual(body.stacks, []);
  deepEqual(body.problems.map((text: string) => text.split(" ", 5).join(" ")), [
    "stacks/blog/compose.yaml: stack blog exists already",
    "stacks/shop/compose.yaml: stack shop exists already",
  ]);
  equal((await sourceOf(app, "shop")).compose, composeOf("0"));
});

Deno.test("a stack is attached with its variables, and detached", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const compose = "services:\n  web:\n    image: nginx:${TAG}\n    volumes: ['./data:/data']\n";
  const copy = await server.create("stacks");
  await copy.push({ "shop/compose.yaml": compose, "shop/.env": "TAG=1\n" });
  const { id } = await add(copy.url, { mapping: [] });
  const attach = (more = {}) =>
    app.call("PUT", "/api/stacks/shop/git", {
      repositoryId: id,
      path: "shop/compose.yaml",
      ...more,
    });

  const refused = await attach();
  equal(refused.status, 400);
  match(refused.body.error, /^shop\/compose\.yaml:4:/);
  const gone = await attach({ path: "shop/other.yaml" });
  match(gone.body.error, /does not have shop\/other\.yaml$/);

  const secret = 'a"$b\\c\nd';
  const { status, body } = await attach({ directory: "/srv/shop", env: { TAG: "2", S: secret } });
  deepEqual([status, body.state, body.version], [200, "behind", 1], JSON.stringify(body));
  equal((await sourceOf(app, "shop")).env, 'TAG=1\nTAG="2"\nS="a\\"\\$b\\\\c\\nd"\n');
  const validated = await app.call("POST", "/api/stacks/validate", {
    compose: "services:\n  web:\n    image: nginx:${TAG}\n    environment: { S: '${S}' }\n",
    env: (await sourceOf(app, "shop")).env,
  });
  equal(validated.body.resolved.services.web.environment.S, secret);

  await copy.push({ "shop/.env": "TAG=3\nNEW=1\n" });
  await round(app);
  match((await sourceOf(app, "shop")).env, /^TAG=3\nNEW=1\nTAG="2"\n/);
  equal((await app.call("DELETE", "/api/stacks/shop/git")).status, 200);
  equal(await gitOf(app, "shop"), null);
  equal((await sourceOf(app, "shop")).version, 2);
});

Deno.test("files that cannot be those of a stack are refused by name", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  const env = (file: string) => composeOf("1", `    env_file: ${file}\n`);
  await copy.push({
    "stacks/up/compose.yaml": env("../../common.env"),
    "stacks/root/compose.yaml": env("/etc/passwd"),
    "stacks/lfs/compose.yaml": env("a.env"),
    "stacks/lfs/a.env": "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n",
    "common.env": "A=1\n",
  });
  await add(copy.url);
  await round(app);

  for (
    const [name, problem] of [
      ["up", "common.env is not in the directory of stacks/up/compose.yaml"],
      ["root", "/etc/passwd is not in the directory of stacks/root/compose.yaml"],
      ["lfs", "stacks/lfs/a.env is stored with Git LFS, whose files are not fetched"],
    ] as const
  ) {
    const { state, problem: found } = await gitOf(app, name);
    deepEqual([state, found], ["refused", problem]);
  }
});

Deno.test("files that SOPS has encrypted are opened, and stored only encrypted", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const { identity, recipient } = await sopsIdentity();
  const copy = await server.create("stacks");
  await copy.push({
    "stacks/shop/compose.yaml": composeOf("1", "    env_file: app.env\n    secrets: [key]\n") +
      "secrets:\n  key:\n    file: tls.key\n",
    "stacks/shop/.env": await sopsDotenv(recipient, { TAG: "hunter2" }),
    "stacks/shop/app.env": await sopsDotenv(recipient, { PASSWORD: "hunter2" }),
    "stacks/shop/tls.key": await sopsBinary(recipient, "hunter2\n"),
  });
  const { id } = await add(copy.url);
  const path = `/api/git/repositories/${id}`;
  await round(app);
  const { state, problem } = await gitOf(app, "shop");
  deepEqual([state, problem], [
    "refused",
    "stacks/shop/.env is encrypted with SOPS; enter the age identity of the repository",
  ]);

  const bad = await app.call("PUT", path, { ageIdentity: `${identity}A` });
  match(bad.body.error, /^body\.ageIdentity: must be an identity/);
  const { body } = await app.call("PUT", path, { ageIdentity: identity });
  equal(body.ageIdentity, "********");
  await round(app);
  equal((await gitOf(app, "shop")).problem, null);
  const { env, files } = await sourceOf(app, "shop");
  deepEqual([env, files], ["TAG=hunter2\n", {
    "app.env": "PASSWORD=hunter2\n",
    "tls.key": "hunter2\n",
  }]);
  const versions = await versionsOf(app, "shop");
  await round(app);
  equal((await versionsOf(app, "shop")).length, versions.length);
  for (const table of ["git_repositories", "git_stacks", "stack_versions"]) {
    const rows = JSON.stringify(app.deps.db.all<object>(`SELECT * FROM ${table}`));
    ok(!rows.includes("hunter2") && !rows.includes(identity), table);
  }
  equal((await app.call("PUT", path, { ageIdentity: null })).body.ageIdentity, null);
});

Deno.test("secrets are sealed, never shown, and kept for the same server only", async () => {
  await using all = await gitWorld();
  const { app, add } = all;
  const { id, webhookSecret, ...created } = await add("https://127.0.0.1/a/b.git", {
    auth: "basic",
    username: "ada",
    secret: "hunter2",
    mapping: [],
  });
  const path = `/api/git/repositories/${id}`;
  match(webhookSecret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  equal(created.secret, "********");
  const [row] = app.deps.db.all<object>("SELECT * FROM git_repositories");
  ok(!JSON.stringify(row).includes("hunter2"));
  equal((await app.call("PUT", path, { secret: "********", name: "Other" })).body.name, "Other");
  const elsewhere = await app.call("PUT", path, { url: "https://127.0.0.2/a/b.git" });
  equal(elsewhere.body.error, "body.secret: give it again, the address changed");
  const renewed = await app.call("PUT", path, { renewWebhookSecret: true });
  ok(renewed.body.webhookSecret !== webhookSecret);
  equal((await app.call("GET", path)).body.webhookSecret, undefined);
});

Deno.test("settings that cannot work are refused with the reason", async () => {
  await using all = await gitWorld();
  const { app } = all;
  const url = "https://192.168.1.2/a/b.git";
  for (
    const [settings, error] of [
      [
        { url: "ssh://git@git.example.com:2222/ada/stacks.git" },
        "body.url: SSH needs a program, which this service may not start; use " +
        "https://git.example.com/ada/stacks.git",
      ],
      [
        { url: "git@git.example.com:ada/stacks.git" },
        "body.url: SSH needs a program, which this service may not start; use " +
        "https://git.example.com/ada/stacks.git",
      ],
      [{ url: "http://8.8.8.8/a.git" }, /^body\.url: 8\.8\.8\.8 is an address that/],
      [{ url: "https://127.0.0.9/a.git" }, undefined],
      [{ url: "https://ada:x@example.com/a.git" }, /^body\.url: contains a user name/],
      [{ auth: "token" }, "body.secret: is required for auth token"],
      [{ secret: "x" }, "body.secret: needs auth token or basic"],
      [{ auth: "basic", secret: "x" }, "body.username: is required for auth basic"],
      [{ branch: "a", tag: "b" }, "body.branch: only one of branch, tag and commit may be given"],
      [{ branch: "a..b" }, "body.branch: must be the name of a branch or tag"],
      [{ signatures: "required" }, /^body\.allowedSigners: is required/],
      [
        { allowedSigners: "ada ssh-rsa AAAA" },
        /^body\.allowedSigners: line 1 must have an Ed25519/,
      ],
      [{ mapping: [{ path: "a/*/b", name: "x" }] }, /^body\.mapping\.0\.name: must have a \*/],
      [{ mapping: [{ path: "a/b", name: "*" }] }, /^body\.mapping\.0\.name: must not have a \*/],
      [{ mapping: [{ path: "../b", name: "x" }] }, /must be a relative path without \.\.$/],
      [{ caCertificate: "x" }, /^body\.caCertificate: must be certificates/],
    ] as const
  ) {
    const given = { name: "A", url, ...settings };
    const { status, body } = await app.call("POST", "/api/git/repositories", given);
    if (error === undefined) continue;
    equal(status, 400, JSON.stringify(settings));
    if (typeof error === "string") equal(body.error, error);
    else match(body.error, error);
  }
});

Deno.test("a problem does not repeat the value of a variable", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({
    "stacks/shop/compose.yaml": "services:\n  web:\n    image: ${NOPE:?$PASSWORD}\n",
    "stacks/shop/.env": "PASSWORD=hunter2\n",
  });
  await add(copy.url);
  await round(app);
  match((await gitOf(app, "shop")).problem, /^stacks\/shop\/compose\.yaml:3:.*\*{8}/);
});

Deno.test("a change during a fetch ends its round, and the next one has the new settings", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  const { id } = await add(copy.url);
  const path = `/api/git/repositories/${id}`;
  server.intercept = () => {
    server.intercept = () => undefined;
    return app.call("PUT", path, { mapping: [{ ...MAPPING[0], name: "x-*" }] })
      .then(() => undefined) as unknown as Promise<Response>;
  };
  await round(app);
  const { body } = await app.call("GET", path);
  deepEqual([body.head, body.stacks, body.error, body.checkedAt], [null, [], null, null]);
  await round(app);
  deepEqual((await app.call("GET", path)).body.stacks.map(({ name }: { name: string }) => name), [
    "x-shop",
  ]);
  const scope = { permissions: ["git:read", "git:write"] };
  equal((await app.call("DELETE", path, undefined, { scope })).status, 403);
});

Deno.test("fetches, an attachment and a deletion at the same time leave nothing behind", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  const { id } = await add(copy.url, { mapping: [] });
  await round(app);
  await copy.push({ "stacks/shop/compose.yaml": composeOf("2") });
  const path = `/api/git/repositories/${id}`;
  const attached = { repositoryId: id, path: "stacks/shop/compose.yaml" };
  const answers = await Promise.all([
    app.call("POST", `${path}/fetch`),
    app.call("PUT", "/api/stacks/shop/git", attached),
    app.call("DELETE", path),
    app.call("POST", `${path}/fetch`),
    app.call("PUT", "/api/stacks/blog/git", attached),
    watchRepositories(app.deps),
  ]);
  const statuses = answers.flatMap((answer) => answer ? [answer.status] : []);
  equal(statuses[2], 200);
  deepEqual(statuses.filter((status) => ![200, 404, 409].includes(status)), []);
  deepEqual(app.deps.db.all("SELECT * FROM git_stacks"), []);
  deepEqual([...Deno.readDirSync(`${app.deps.config.dataDir}/git`)], []);
});

Deno.test("a fetch that failed is tried again, also if only a webhook requests fetches", async () => {
  await using all = await gitWorld();
  const { app, server, add } = all;
  const copy = await server.create("stacks");
  await copy.push({ "stacks/shop/compose.yaml": composeOf("1") });
  const { id } = await add(copy.url, { pollMinutes: 0 });
  equal(app.deps.git.isNewDelivery(`${id} 1`), true);
  server.intercept = () => new Response(null, { status: 503 });
  await round(app);
  equal(app.deps.git.isNewDelivery(`${id} 1`), true);
  const repository = async () => (await app.call("GET", `/api/git/repositories/${id}`)).body;
  const waits: number[] = [];
  for (let seconds = 0; waits.length < 3; seconds += 30) {
    const { error, checkedAt, retryAt } = await repository();
    match(error, /503$/);
    const wait = (Date.parse(retryAt) - Date.parse(checkedAt)) / 60_000;
    if (wait !== waits.at(-1)) waits.push(wait);
    app.clock.advance({ seconds: 30 });
    await watchRepositories(app.deps);
  }
  deepEqual(waits, [1, 2, 4]);
  const at = (minutes: number) => new Date(minutes * 60_000).toISOString();
  equal(nextRetry({ checkedAt: at(0), retryAt: at(45) }, new Date(0)), at(60));
  server.intercept = () => undefined;
  await round(app);
  deepEqual([(await repository()).error, (await repository()).retryAt], [null, null]);
  server.requests.length = 0;
  await round(app);
  await round(app);
  deepEqual(server.requests, []);
});

Deno.test("git:write alone neither maps nor attaches stacks", async () => {
  await using all = await gitWorld();
  const { app } = all;
  const call = (method: string, path: string, body: object) =>
    app.call(method, path, body, { scope: { permissions: ["git:read", "git:write"] } });
  const given = { name: "A", url: "https://192.168.1.2/a/b.git" };
  const mapped = await call("POST", "/api/git/repositories", { ...given, mapping: MAPPING });
  equal(mapped.status, 403);
  const plain = await call("POST", "/api/git/repositories", given);
  equal(plain.status, 201);
  const attached = { repositoryId: plain.body.id, path: "compose.yaml" };
  equal((await call("PUT", "/api/stacks/shop/git", attached)).status, 403);
  const limited = { scope: { permissions: null, stacks: ["shop"] } };
  equal((await app.call("POST", "/api/git/repositories", given, limited)).status, 404);
});
