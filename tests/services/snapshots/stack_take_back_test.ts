import { deepEqual, equal, match, rejects } from "node:assert/strict";
import type { Deps } from "../../../services/deps.ts";
import { JobEnd } from "../../../services/jobs/kind.ts";
import { deployStep, type StackRestoreInput } from "../../../services/snapshots/stack/job.ts";
import { restoreStack } from "../../../services/snapshots/stack/run.ts";
import { composeLabels, setContainers } from "../../helpers/fake_containers.ts";
import { fakeEngine } from "../../helpers/fake_engine.ts";
import { resumedJob } from "../../helpers/resumed_job.ts";
import { testApp } from "../../helpers/test_app.ts";

const input = {
  volumes: [],
  anonymousVolumes: [],
  directories: [],
  networks: [],
  created: ["/srv/shop"],
  to: "replace",
  place: "This host",
  affected: [],
  images: [],
  warnings: [],
} as unknown as StackRestoreInput;

/** Ends a job that has the results of these steps, and has begun these ones. */
async function ended(
  deps: Deps,
  results: Record<string, unknown>,
  begun: string[],
  given = input,
): Promise<{ status: string; message: string; steps: string[] }> {
  const { job, steps } = resumedJob({ target: "shop", input: given }, {
    results: {
      plan: { held: { mode: "stop", containers: [] }, version: null },
      names: [],
      images: { images: [], warnings: [] },
      ...results,
    },
    begun,
  });
  let end: JobEnd | undefined;
  await rejects(restoreStack(deps, job), (error) => {
    if (error instanceof JobEnd) end = error;
    return end !== undefined;
  });
  return { status: end!.status, message: end!.message, steps };
}

Deno.test("a restored stack stays if its deploy fails after the commit has begun", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const written = { bytes: 0, skippedCount: 0 };
  const results = { write: written, sources: 1, "deploy read": [] };
  const { status, message, steps } = await ended(app.deps, results, [deployStep("commit")]);
  equal(status, "needs_attention");
  match(message, /^shop is restored, but /);
  deepEqual(steps, []);
});

Deno.test("a stack is not deployed without a volume that was removed since it was restored", async () => {
  await using fake = fakeEngine({
    "GET /volumes": () => Response.json({ Volumes: [{ Name: "data", Labels: {} }] }),
    "GET /volumes/data": () => Response.json({ Name: "data", Labels: {} }),
    "GET /networks": () => Response.json([]),
    "DELETE /volumes/data": () => new Response(null, { status: 204 }),
  });
  using app = testApp({ engine: fake.engine });
  setContainers(app);
  const written = { bytes: 0, skippedCount: 0 };
  const volumes = [{ name: "data", isNew: true }];
  const { message, steps } = await ended(app.deps, { write: written, sources: 1 }, [], {
    ...input,
    to: "new",
    volumes,
  } as unknown as StackRestoreInput);
  match(message, /^Volume data was removed meanwhile/);
  equal(steps.some((step) => step.startsWith(deployStep(""))), false);
});

Deno.test("nothing is deleted under a new container that a failed deploy has left", async () => {
  await using fake = fakeEngine();
  using app = testApp({ engine: fake.engine });
  setContainers(app, {
    name: "shop-db-2",
    labels: composeLabels("shop", "db"),
    state: "restarting",
  });
  const failure = { reason: "It failed", hasWritten: true, evidence: [] };
  const { status, message } = await ended(app.deps, { failure }, []);
  equal(status, "needs_attention");
  match(message, /^It failed\. Taking it back failed: shop-db-2 still uses/);
  deepEqual(fake.requests, []);
});
