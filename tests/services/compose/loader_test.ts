import { deepEqual, equal, rejects } from "node:assert/strict";
import {
  composeWorkerScript,
  createComposeLoader,
  type ProjectRunner,
  RunawayError,
  startWorker,
} from "../../../services/compose/loader.ts";
import { until } from "../../helpers/until.ts";
import { type LoadedTexts, loadTexts } from "../../../services/compose/load/texts.ts";

const sources = {
  compose: "services: {web: {image: nginx, env_file: app.env}}",
  files: { "app.env": "LEVEL=info" },
};
const SOURCES = JSON.stringify(sources);

Deno.test("a worker loads projects, and reports the files that they name", async () => {
  const loader = createComposeLoader(async () => await startWorker(await composeWorkerScript()));
  try {
    const { project, asked }: LoadedTexts = JSON.parse(await loader.load(SOURCES));
    deepEqual(project?.services.web?.environment, { LEVEL: "info" });
    deepEqual(asked, [".env", "app.env"]);
    const missing = await loader.load(JSON.stringify({ ...sources, files: {} }));
    deepEqual(JSON.parse(missing).errors, [{
      path: "services.web.env_file[0]",
      file: null,
      line: 1,
      column: 32,
      message: "file ./app.env does not exist",
    }]);
  } finally {
    loader.close();
  }
});

Deno.test("a worker beyond its deadline is refused", async () => {
  const worker = await startWorker(await composeWorkerScript(), { deadlineMs: 0 });
  try {
    await rejects(worker.run(SOURCES), RunawayError);
  } finally {
    worker.close();
  }
});

Deno.test("a project beyond the limits is refused, and the next one is loaded", async () => {
  const closed: string[] = [];
  const runners: ProjectRunner[] = [
    { run: () => Promise.reject(new RunawayError("")), close: () => closed.push("first") },
    { run: loadTexts, close: () => closed.push("second") },
  ];
  const loader = createComposeLoader(() => Promise.resolve(runners.shift()!));
  await rejects(loader.load(SOURCES), { code: "invalid" });
  deepEqual(closed, ["first"]);
  equal(JSON.parse(await loader.load(SOURCES)).errors.length, 0);
  loader.close();
  deepEqual(closed, ["first", "second"]);
});

Deno.test("checks beyond the queue are refused, and leave room for others", async () => {
  const started: { name: string; end: () => void }[] = [];
  const loader = createComposeLoader(() =>
    Promise.resolve({
      run: (job) =>
        new Promise((resolve) =>
          started.push({ name: JSON.parse(job).name, end: () => resolve(loadTexts(job)) })
        ),
      close() {},
    })
  );
  const named = (name: string) => JSON.stringify({ ...sources, name });
  const check = (at: number) => loader.check({ userId: `u${at}` }, named("check"));
  const all = Array.from({ length: 33 }, (_, at) => check(at));
  await rejects(check(33), { code: "unavailable" });
  all.push(loader.load(named("load")));
  let isEnd = false;
  const end = Promise.all(all).then(() => isEnd = true);
  await until("two loads run", () => started.length === 2);
  deepEqual(started.map(({ name }) => name), ["check", "load"]);
  while (!isEnd) {
    started.shift()?.end();
    await new Promise((resolve) => setTimeout(resolve));
  }
  await end;
  loader.close();
});
