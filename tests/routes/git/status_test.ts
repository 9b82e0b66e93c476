/** Status of commits, against a server that answers as the documentation of each forge says. @module */

import { deepEqual, equal, match, ok } from "node:assert/strict";
import { insertJob, type Job } from "../../../db/jobs.ts";
import { continueStacks } from "../../../services/git/deploys.ts";
import { statusRequest } from "../../../services/git/status/request.ts";
import { gitWorld, round } from "../../helpers/git_world.ts";
import { deliverDue } from "../../helpers/outbox_delivery.ts";
import type { TestApp } from "../../helpers/test_app.ts";

const COMPOSE = "services:\n  web:\n    image: nginx:1\n";

type Kind = "github" | "gitlab" | "gitea";

/** Path of the API, address of statuses below it, header with the token, and words for states. */
const FORGES: Record<Kind, {
  api: string;
  repository: string;
  statuses: RegExp;
  header: [name: string, value: string];
  states: string[];
}> = {
  github: {
    api: "/api/v3",
    repository: "ada/shop",
    statuses: /^\/api\/v3\/repos\/ada\/shop\/statuses\/([0-9a-f]{40})$/,
    header: ["authorization", "Bearer t0ken"],
    states: ["error", "failure", "pending", "success"],
  },
  gitea: {
    api: "/api/v1",
    repository: "ada/shop",
    statuses: /^\/api\/v1\/repos\/ada\/shop\/statuses\/([0-9a-f]{40})$/,
    header: ["authorization", "token t0ken"],
    states: ["pending", "success", "error", "failure", "warning"],
  },
  gitlab: {
    api: "/api/v4",
    repository: "group/part/shop",
    statuses: /^\/api\/v4\/projects\/group%2Fpart%2Fshop\/statuses\/([0-9a-f]{40})$/,
    header: ["private-token", "t0ken"],
    states: ["pending", "running", "success", "failed", "canceled", "skipped"],
  },
};

interface Received {
  commit: string;
  state: string;
  context: string;
  description: string;
  target_url?: string;
}

function forge(kind: Kind) {
  const { api, statuses, header: [name, value], states } = FORGES[kind];
  const received: Received[] = [];
  const answers: number[] = [];
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen() {} }, async (request) => {
    const [, commit] = statuses.exec(new URL(request.url).pathname) ?? [];
    const answer = answers.shift();
    if (answer !== undefined) return new Response(null, { status: answer });
    if (request.method !== "POST" || commit === undefined) {
      return new Response(null, { status: 404 });
    }
    if (request.headers.get(name) !== value) return new Response(null, { status: 401 });
    const { state, ...body } = await request.json();
    if (!states.includes(state)) return new Response(null, { status: 422 });
    received.push({ commit, state, ...body });
    return Response.json({}, { status: 201 });
  });
  return {
    apiUrl: `http://127.0.0.1:${server.addr.port}${api}`,
    answers,
    take: () => received.splice(0),
    [Symbol.asyncDispose]: () => server.shutdown(),
  };
}

const deliver = (app: TestApp) => deliverDue(app.deps, { signal: new AbortController().signal });

const deployed = (id: string, fields: Pick<Job, "status" | "error" | "createdAt">): Job => ({
  id,
  kind: "stack.deploy",
  targetType: "stack",
  target: "shop",
  stack: null,
  progress: null,
  steps: [],
  input: { version: 1, services: null },
  result: null,
  createdBy: "git",
  tokenId: null,
  startedAt: fields.createdAt,
  endedAt: fields.createdAt,
  ...fields,
});

for (const [kind, { repository }] of Object.entries(FORGES)) {
  Deno.test(`${kind} gets pending, failure and success of a commit, also after an outage`, async () => {
    await using own = forge(kind as Kind);
    await using all = await gitWorld([], {
      config: { serverName: "host-1", serviceBaseUrl: "https://longshore.example.com" },
    });
    const { app, server, add } = all;
    const copy = await server.create(repository);
    const commit = await copy.push({ "compose.yaml": COMPOSE });
    const { id, status } = await add(copy.url, {
      mapping: [{ path: "compose.yaml", name: "shop" }],
      status: { kind, apiUrl: own.apiUrl, token: "t0ken" },
    });
    deepEqual(status, { kind, apiUrl: own.apiUrl, token: "********" });
    const row = JSON.stringify(app.deps.db.all<object>("SELECT * FROM git_repositories"));
    ok(!row.includes("t0ken"));
    const failed = kind === "gitlab" ? "failed" : "failure";
    const common = {
      commit,
      context: "Longshore / host-1 / shop",
      target_url: "https://longshore.example.com/stacks/shop",
    };

    own.answers.push(503);
    await round(app);
    await deliver(app);
    deepEqual(own.take(), []);
    const at = app.deps.now().toISOString();
    const error = `web: image ${"x".repeat(200)}\nsecret`;
    insertJob(app.deps.db, deployed("first", { status: "failed", error, createdAt: at }));
    await continueStacks(app.deps);
    app.clock.advance({ minutes: 1 });
    await deliver(app);
    const ofJob = (id: string) => ({ target_url: `${common.target_url}?job=${id}` });
    deepEqual(own.take(), [
      { ...common, state: "pending", description: "Version 1 is not deployed yet" },
      {
        ...common,
        ...ofJob("first"),
        state: failed,
        description: `web: image ${"x".repeat(126)}...`,
      },
    ]);

    const later = app.deps.now().toISOString();
    insertJob(
      app.deps.db,
      deployed("next", { status: "succeeded", error: null, createdAt: later }),
    );
    await continueStacks(app.deps);
    await continueStacks(app.deps);
    await deliver(app);
    deepEqual(own.take(), [{
      ...common,
      ...ofJob("next"),
      state: "success",
      description: "Version 1 is deployed",
    }]);

    const bad = await copy.push({ "compose.yaml": "services: 1\n" });
    await round(app);
    await deliver(app);
    const [refused] = own.take();
    deepEqual([refused?.commit, refused?.state], [bad, failed]);
    match(refused!.description, /^compose\.yaml:1:/);

    const change = (given: object) =>
      app.call("PUT", `/api/git/repositories/${id}`, {
        status: { kind, apiUrl: own.apiUrl, token: "********", ...given },
      });
    equal((await change({})).status, 200);
    const elsewhere = await change({ apiUrl: "https://127.0.0.2/api" });
    equal(elsewhere.body.error, "body.status.token: give it again, the address changed");
    equal((await change({ apiUrl: "http://8.8.8.8/api", token: "x" })).status, 400);

    // A wrong token is refused once, and not tried again.
    equal((await change({ token: "wrong" })).status, 200);
    await copy.push({ "compose.yaml": COMPOSE.replace(":1", ":2") });
    await round(app);
    await deliver(app);
    equal((await change({ token: "t0ken" })).status, 200);
    app.clock.advance({ days: 1 });
    await deliver(app);
    deepEqual(own.take(), []);
  });
}

Deno.test("a path with escapes of another encoding is sent as it is", () => {
  const settings = {
    kind: "gitlab",
    apiUrl: "https://git.example.com/api/v4",
    token: "t",
  } as const;
  const status = {
    ...{ commit: "c", state: "pending", context: "x", description: "y", link: null } as const,
  };
  equal(
    statusRequest(settings, "https://git.example.com/a%E0/b.git", status).url,
    "https://git.example.com/api/v4/projects/a%25E0%2Fb/statuses/c",
  );
});
