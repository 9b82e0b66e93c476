import { deepEqual, equal, match, rejects } from "node:assert/strict";
import { createLogSearch } from "../../../../services/updates/run/log_pattern.ts";
import { verify } from "../../../../services/updates/run/verify.ts";
import { composeLabels, simulateContainers } from "../../../helpers/fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "../../../helpers/fake_engine.ts";
import { fakeLog } from "../../../helpers/fake_log.ts";
import { testApp } from "../../../helpers/test_app.ts";

const FOUND = "logged a line that must not appear";

const TASK = {
  Id: "n1",
  Name: "/web",
  Config: {},
  HostConfig: {},
  State: { Status: "exited", Running: false, Restarting: false, ExitCode: 0, StartedAt: "1" },
};

/** An engine with a task that has completed, and its log. */
const engineWith = (log: FakeAnswer) =>
  fakeEngine({
    "GET /containers/n1/json": () => Response.json(TASK),
    "GET /containers/n1/logs": log,
  });

async function verifyTask(log: FakeAnswer): Promise<string> {
  await using fake = engineWith(log);
  using app = testApp({ engine: fake.engine });
  const pair = { name: "web", newId: "n1", ran: true, ports: [] };
  return await verify(app.deps, [pair], {
    watched: [],
    logPattern: "^FATAL",
    defaultStableSeconds: 1,
    signal: new AbortController().signal,
    onProgress() {},
  });
}

for (const status of [409, 500, 501]) {
  Deno.test(`a log that the engine refuses with ${status} fails the update`, async () => {
    const refuse = () => Response.json({ message: "does not support reading" }, { status });
    await rejects(verifyTask(refuse), {
      code: "conflict",
      message:
        "web has a log that cannot be read, so that logPatternMustNotAppear cannot be checked",
    });
  });
}

Deno.test("a line before more than 10 000 others fails the update", async () => {
  const log = fakeLog();
  log.write("FATAL");
  for (let line = 0; line < 12_000; line++) log.write("fine");
  await rejects(verifyTask(log.answer), { message: `web ${FOUND}` });
});

Deno.test("the last line of a task that ends after the search fails the update", async () => {
  const log = fakeLog();
  log.write("fine");
  const writeLater: FakeAnswer = (request) => {
    const answer = log.answer(request);
    log.write("FATAL");
    return answer;
  };
  await rejects(verifyTask(writeLater), { message: `web ${FOUND}` });
  match(await verifyTask(fakeLog().answer), /^web completed/);
});

Deno.test("a search goes on where the one before ended, also after many lines", async () => {
  const log = fakeLog();
  await using fake = engineWith(log.answer);
  const { signal } = new AbortController();
  const search = await createLogSearch(fake.engine, "n1", { text: "^FATAL", signal });
  for (let line = 0; line < 5; line++) log.write("fine");
  equal(await search(), undefined);
  equal(await search(), undefined);
  log.write("FATAL", { stream: "stderr" });
  for (let line = 0; line < 12_000; line++) log.write("fine");
  equal(await search(), FOUND);
});

Deno.test("lines that rotation removed before they were searched fail the update", async () => {
  const log = fakeLog();
  await using fake = engineWith(log.answer);
  const { signal } = new AbortController();
  const search = await createLogSearch(fake.engine, "n1", { text: "^FATAL", signal });
  for (let line = 0; line < 5; line++) log.write("fine");
  equal(await search(), undefined);
  for (let line = 0; line < 5; line++) log.write("fine");
  log.rotate(2);
  match(await search() ?? "", /^lost lines of its log by rotation, so that logPattern/);
});

Deno.test("a log that does not end in time fails the update, a cancelled job is none", async () => {
  const endless: FakeAnswer = () => new Response(new ReadableStream());
  await using fake = engineWith(endless);
  const cancelled = new AbortController();
  const options = { text: "x", signal: cancelled.signal, searchMs: 1 };
  const search = await createLogSearch(fake.engine, "n1", options);
  match(await search() ?? "", /^has a log that cannot be searched within 0.001 s, so that/);
  cancelled.abort(new Error("Cancelled"));
  await rejects(search(), { message: "Cancelled" });
});

for (
  const { type, config, isRefused } of [
    { type: "none", config: {}, isRefused: true },
    { type: "syslog", config: { "cache-disabled": "true" }, isRefused: true },
    { type: "syslog", config: {}, isRefused: false },
    { type: "json-file", config: { "cache-disabled": "true" }, isRefused: false },
  ]
) {
  const what = `${type} ${JSON.stringify(config)}`;
  Deno.test(`a pattern is ${isRefused ? "refused" : "possible"} with log driver ${what}`, async () => {
    const answers = simulateContainers([{ name: "web", labels: composeLabels("shop", "web") }]);
    const inspect = answers["GET /containers/*/json"]!;
    await using fake = fakeEngine({
      ...answers,
      "GET /info": () => Response.json({}),
      "GET /containers/*/json": async (request) => {
        const found = await (await inspect(request)).json();
        const LogConfig = { Type: type, Config: config };
        return Response.json({ ...found, HostConfig: { ...found.HostConfig, LogConfig } });
      },
    });
    using app = testApp({ engine: fake.engine });
    const body = { pull: "never", logPatternMustNotAppear: "FATAL" };

    const plan = await app.call("POST", "/api/containers/web/update?plan=1", body);
    const messages = plan.body.obstacles.map(({ message }: { message: string }) => message)
      .filter((message: string) => message.includes("log driver"));
    const message = `The log of web cannot be read with its log driver ${type}, ` +
      "so that logPatternMustNotAppear cannot be checked";
    deepEqual(messages, isRefused ? [message] : []);
    if (!isRefused) return;
    const update = await app.call("POST", "/api/containers/web/update", { ...body, force: true });
    deepEqual([update.status, update.body.error.includes(message)], [409, true]);
  });
}
