import { deepEqual, equal, rejects } from "node:assert/strict";
import { EngineUnreachableError } from "../../../engine/errors.ts";
import { createRepository } from "../../../services/backup/restic/repository.ts";
import { createBrokenCalls } from "../../../services/jobs/broken_calls.ts";
import { volumePart } from "../../../services/backup/trees/part.ts";
import {
  keepReplaced,
  keptBy,
  type Replacement,
  replaceOrTakeBack,
} from "../../../services/snapshots/replacement.ts";
import type { RestoreInput } from "../../../services/snapshots/restore/job.ts";
import { restoreParts } from "../../../services/snapshots/restore/run.ts";
import { setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { createMemoryStorage } from "../../helpers/memory_storage.ts";
import {
  description,
  entriesOf,
  joinRepository,
  newRepository,
  optionsOf,
  signal,
} from "../../helpers/repository.ts";
import { resumedJob } from "../../helpers/resumed_job.ts";
import { testApp } from "../../helpers/test_app.ts";

const held = { mode: "stop" as const, containers: [] };

const input: RestoreInput = {
  targetId: "1",
  place: "This host",
  snapshot: "a".repeat(64),
  files: null,
  parts: [{ from: "volumes/data", to: volumePart("data") }],
  to: "replace",
  stableSeconds: 1,
  images: [],
  affected: [],
};

Deno.test("what was written before a restart is kept, also if that was interrupted", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const { job, steps } = resumedJob({ target: "shop", input }, {
    results: { keep: { snapshot: "first", stoppedAt: 0 } },
    begun: ["keep again", "write"],
  });
  const replacement: Replacement = {
    held,
    operation: Symbol("restore"),
    parts: [],
    findUsers: () => Promise.resolve([]),
  };
  const repository = await newRepository(createMemoryStorage());
  const store = () => Promise.resolve("second");
  await keepReplaced(app.deps, job, replacement, { repository, store });
  deepEqual(steps, ["keep again"]);
  equal(keptBy(job), "second");
});

Deno.test("a restore waits for a prune before it stops anything", async () => {
  const storage = createMemoryStorage();
  const options = { ...optionsOf(storage), retryMs: 1 };
  const repository = await createRepository(options, signal);
  const { snapshot } = await repository.backup(entriesOf([]), description, signal);
  const [isHeld, isOver] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const other = await joinRepository({
    ...storage,
    async remove(kind, name, signal) {
      if (kind === "snapshots") isHeld.resolve();
      if (kind === "snapshots") await isOver.promise;
      await storage.remove(kind, name, signal);
    },
  });
  const removal = other.removeSnapshots([snapshot.id], signal);
  await isHeld.promise;

  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const seen: string[] = [];
  const { job } = resumedJob({ target: "shop", input }, {});
  job.progress = ({ message }) => {
    seen.push(message!.replace(/ by process .*/, ""));
    isOver.resolve();
  };
  const replacement: Replacement = {
    held,
    operation: Symbol("restore"),
    parts: [],
    findUsers() {
      seen.push("stopped");
      return Promise.resolve([]);
    },
  };
  const store = () => {
    seen.push("stored");
    return Promise.resolve("first");
  };
  await keepReplaced(app.deps, job, replacement, { repository, store });
  await removal;
  deepEqual([...new Set(seen)], ["Repository is exclusively locked", "stopped", "stored"]);
});

Deno.test("a restore that has not changed anything puts nothing back", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const { job, steps } = resumedJob({ target: "shop", input }, {
    results: { plan: held, keep: { snapshot: "first", stoppedAt: 0 } },
    begun: ["write"],
  });
  await rejects(restoreParts(app.deps, job), { status: "rolled_back" });
  deepEqual(steps, ["failure", "start again"]);
});

Deno.test("a call that breaks does not end the taking back, also after others have failed the work", async () => {
  await using fake = fakeEngine({ "GET /containers/json": () => Response.json([]) });
  using app = testApp({ engine: fake.engine });
  const replacement = { held } as unknown as Replacement;
  const { job, steps } = resumedJob({ target: "shop", input }, {});
  const deps = {
    ...app.deps,
    brokenCalls: createBrokenCalls(app.deps.eventStream, () => steps.length),
  };
  let calls = 0;
  const breakUntil = (last: number) => {
    if (++calls <= last) throw new EngineUnreachableError("The connection broke");
    return Promise.resolve();
  };
  // Each repeats the job, as the engine may have been restarted.
  const run = () =>
    replaceOrTakeBack(deps, job, replacement, {
      work: () => breakUntil(5),
      takeBack: () => breakUntil(5),
    });
  for (const _ of [1, 2, 3, 4]) await rejects(run(), { name: "EngineUnreachableError" });
  await rejects(run(), { status: "rolled_back", message: "The connection broke" });
  equal(calls, 6);
});

Deno.test("what was written after a restore is kept before the rest comes back", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const failure = { reason: "It failed", hasWritten: true, evidence: [] };
  const { job, steps } = resumedJob({ target: "shop", input }, {
    results: { plan: held, release: 0, failure },
  });
  await rejects(restoreParts(app.deps, job), { status: "needs_attention" });
  deepEqual(steps, ["keep written"]);
});

Deno.test("nothing is put back under a container that was started meanwhile", async () => {
  const volume = { Name: "data", Mountpoint: "/volumes/data" };
  await using fake = fakeEngine({ "GET /volumes": () => Response.json({ Volumes: [volume] }) });
  using app = testApp({ engine: fake.engine });
  setContainers(app, { name: "shop-db-1", state: "running", volumes: ["data"] });
  const { job } = resumedJob({ target: "shop", input }, {
    results: { plan: held, failure: { reason: "It failed", hasWritten: true, evidence: [] } },
  });
  await rejects(restoreParts(app.deps, job), {
    status: "needs_attention",
    message: /^It failed\. Taking it back failed: shop-db-1 still uses/,
  });
});
