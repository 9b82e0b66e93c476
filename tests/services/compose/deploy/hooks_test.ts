import { deepEqual, rejects } from "node:assert/strict";
import { runHooks } from "../../../../services/compose/deploy/hooks.ts";
import { type FakeAnswer, fakeEngine } from "../../../helpers/fake_engine.ts";

const signal = new AbortController().signal;

/** A container in which every program ends with the code that its name is. */
const answers = (bodies: unknown[], isRunning = true): Record<string, FakeAnswer> => ({
  "GET /containers/c1/json": () =>
    Response.json({ Id: "c1", Name: "/shop-web-1", State: { Running: isRunning } }),
  "POST /containers/c1/exec": ({ body }) => {
    bodies.push(body);
    return Response.json({ Id: body.Cmd[0] }, { status: 201 });
  },
  "POST /exec/*/start": () => new Response(),
  "GET /exec/*/json": ({ parts: [code] }) =>
    Response.json({ Running: false, ExitCode: Number(code) }),
});

Deno.test("hooks have their user, directory, variables and privileges", async () => {
  const bodies: unknown[] = [];
  await using fake = fakeEngine(answers(bodies));

  await runHooks(
    fake,
    {
      post_start: [
        {
          command: ["0", "a b"],
          user: "1000",
          privileged: true,
          working_dir: "/srv",
          environment: { A: "1", UNSET: null },
        },
        { command: ["0"] },
      ],
    },
    "post_start",
    "c1",
    signal,
  );

  const streams = { AttachStdin: false, AttachStdout: true, AttachStderr: true, Tty: false };
  deepEqual(bodies, [
    {
      ...streams,
      Cmd: ["0", "a b"],
      Env: ["A=1"],
      User: "1000",
      Privileged: true,
      WorkingDir: "/srv",
    },
    { ...streams, Cmd: ["0"], Env: [] },
  ]);
});

Deno.test("a hook that fails is named, and those behind it do not run", async () => {
  const bodies: unknown[] = [];
  await using fake = fakeEngine(answers(bodies));
  const hooks = { post_start: [{ command: ["0"] }, { command: ["3"] }, { command: ["0"] }] };

  await rejects(() => runHooks(fake, hooks, "post_start", "c1", signal), {
    code: "conflict",
    message: "shop-web-1 failed: post_start[1] exited with code 3",
  });
  deepEqual(bodies.length, 2);
});

Deno.test("the engine's refusal of a hook does not show its variables", async () => {
  await using fake = fakeEngine({
    ...answers([]),
    "POST /containers/c1/exec": () =>
      Response.json({ message: "bad value s3cret-value" }, { status: 400 }),
  });
  const hooks = { post_start: [{ command: ["0"], environment: { KEY: "s3cret-value" } }] };

  await rejects(() => runHooks(fake, hooks, "post_start", "c1", signal), {
    message: "shop-web-1 failed: post_start[0] could not be run: bad value ********",
  });
});

Deno.test("pre_stop does not run in a container that is stopped or gone", async () => {
  const bodies: unknown[] = [];
  await using fake = fakeEngine(answers(bodies, false));
  const hooks = { pre_stop: [{ command: ["0"] }] };

  await runHooks(fake, hooks, "pre_stop", "c1", signal);
  await runHooks(fake, hooks, "pre_stop", "c2", signal);

  deepEqual(bodies, []);
});
