import { deepEqual } from "node:assert/strict";
import { checkDueImages } from "../../../../services/updates/check/checker.ts";
import { changeUpdateSettings } from "../../../../services/updates/settings.ts";
import { pendingUpdates } from "../../../../services/updates/automatic/pending.ts";
import {
  digestOf,
  manifest,
  startTagServer,
  type TagServer,
  updateApp,
} from "../../../helpers/updates.ts";

const [OLD, NEW, OTHER] = ["old", "new", "other"].map(manifest) as [string, string, string];

type Step = (registry: TagServer) => unknown;

/** Steps of a registry before each daily check, and the checks that find an old update. */
const HISTORIES: Record<string, { steps: Step[]; old: number[]; level?: string }> = {
  "an image that stays": {
    steps: [leads("app:1.0.0", NEW), keeps, keeps, keeps],
    old: [3],
  },
  "an image that is away for a while": {
    steps: [
      leads("app:1.0.0", NEW),
      leads("app:1.0.0", OLD),
      keeps,
      leads("app:1.0.0", NEW),
      keeps,
      keeps,
      keeps,
    ],
    old: [6],
  },
  "a tag that is removed for a while": {
    steps: [
      leads("app:1.0.0", NEW),
      (registry) => registry.tags.delete("app:1.0.0"),
      keeps,
      leads("app:1.0.0", NEW),
      keeps,
    ],
    old: [],
  },
  "a registry that fails for a while": {
    steps: [
      leads("app:1.0.0", NEW),
      (registry) => registry.failure = { status: 500 },
      (registry) => registry.failure = undefined,
      keeps,
    ],
    old: [3],
  },
  "a version that stays": {
    steps: [leads("app:1.1.0", NEW), keeps, keeps, keeps],
    old: [3],
    level: "minor",
  },
  "a version that is removed for a while": {
    steps: [
      leads("app:1.1.0", NEW),
      (registry) => registry.tags.delete("app:1.1.0"),
      keeps,
      leads("app:1.1.0", NEW),
      keeps,
    ],
    old: [],
    level: "minor",
  },
  "a version that another one hides for a while": {
    steps: [
      leads("app:1.1.0", NEW),
      leads("app:1.2.0", OTHER),
      keeps,
      (registry) => registry.tags.delete("app:1.2.0"),
      keeps,
    ],
    old: [],
    level: "minor",
  },
};

function leads(tag: string, digest: string): Step {
  return (registry) => registry.tags.set(tag, digest);
}

function keeps(): void {}

for (const [what, { steps, old, level = "same" }] of Object.entries(HISTORIES)) {
  Deno.test(`the minimum age of ${what}`, async () => {
    await using registry = startTagServer();
    const image = { id: digestOf("a"), digests: [`${registry.address}/app@${OLD}`] };
    await using made = updateApp([image]);
    const { app } = made;
    const labels = { "longshore.update.level": level };
    made.run([{ name: "web", image: `${registry.address}/app:1.0.0`, imageId: image.id, labels }]);
    registry.tags.set("app:1.0.0", OLD);
    changeUpdateSettings(app.deps, {
      enabled: true,
      intervalHours: 1,
      policy: "auto",
      minimumAgeHours: 72,
      windows: [{ cron: "0 * * * *", timeZone: "UTC", durationMinutes: 60 }],
    });
    const found: number[] = [];
    for (const [day, step] of steps.entries()) {
      app.clock.set(`2026-01-${String(day + 1).padStart(2, "0")}T03:10:00Z`);
      step(registry);
      await checkDueImages(app.deps);
      if ((await pendingUpdates(app.deps)).length > 0) found.push(day);
    }
    deepEqual(found, old);
    const announced = made.events.filter(({ event }) => event === "image.update_available");
    deepEqual(announced.length > 0, true);
  });
}
