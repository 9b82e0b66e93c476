import { deepEqual, equal, throws } from "node:assert/strict";
import {
  defaultMode,
  isExcluded,
  type Labelled,
  ownHooksOf,
} from "../../../services/snapshots/modes.ts";

const LABEL = "longshore.backup";

const web = (
  labels: Record<string, string>,
  imageLabels: Labelled["imageLabels"] = {},
  image = "app",
): Labelled & { name: string } => ({
  name: "web",
  image,
  labels: { ...imageLabels, ...labels },
  imageLabels,
});

for (
  const { what, writers, mode } of [
    { what: "a container without labels", writers: [web({})], mode: "stop" },
    { what: "recognized databases", writers: [web({}, {}, "postgres:17")], mode: "hooks" },
    {
      what: "labels that differ",
      writers: [web({ [LABEL]: "live" }), web({ [LABEL]: "pause" })],
      mode: "pause",
    },
    { what: "live of the image", writers: [web({}, { [LABEL]: "live" })], mode: "stop" },
    { what: "live of an image that is gone", writers: [gone({ [LABEL]: "live" })], mode: "stop" },
    {
      what: "hooks of the image",
      writers: [web({}, { "longshore.backup.pre": "true" })],
      mode: "stop",
    },
    {
      what: "hooks of the container",
      writers: [web({ "longshore.backup.pre": "true" })],
      mode: "hooks",
    },
    {
      what: "SQLite databases of the container",
      writers: [web({ "longshore.backup.sqlite": "/data/app.db" })],
      mode: "hooks",
    },
    {
      what: "stop of the image of a database",
      writers: [web({}, { [LABEL]: "stop" }, "postgres:17")],
      mode: "stop",
    },
    {
      what: "live of the container, stop of its image",
      writers: [web({ [LABEL]: "live" }, { [LABEL]: "stop" })],
      mode: "live",
    },
  ] as const
) {
  Deno.test(`the mode of a backup with ${what} is ${mode}`, () => {
    equal(defaultMode(writers), mode);
  });
}

Deno.test("only a label of the container itself excludes it from schedules", () => {
  equal(isExcluded(web({ [LABEL]: "off" })), true);
  equal(isExcluded(web({}, { [LABEL]: "off" })), false);
  equal(isExcluded(gone({ [LABEL]: "off" })), false);
});

Deno.test("hooks of an image do not replace those of the container, nor a database's dump", () => {
  const pre = "longshore.backup.pre";
  const image = { [pre]: "true" };
  const dump = ownHooksOf(web({}, {}, "postgres:17"));
  equal(dump?.dumps?.length, 1);
  deepEqual(ownHooksOf(web({}, image, "evil/postgres:17")), dump);
  deepEqual(ownHooksOf(gone({ ...image, "longshore.backup.sqlite": "/x" })), {
    ...ownHooksOf(web({ ...image, "longshore.backup.sqlite": "/x" })),
  });
  deepEqual(ownHooksOf(web({ [pre]: "own" }, image, "postgres:17")), { pre: "own" });
  deepEqual(ownHooksOf(web({}, image)), { pre: "true" });
});

function gone(labels: Record<string, string>): ReturnType<typeof web> {
  return { ...web(labels), imageLabels: undefined };
}

Deno.test("the setting of a stack counts where no label of a container does", () => {
  equal(defaultMode([web({}, {}, "postgres:17")], "pause"), "pause");
  equal(defaultMode([web({ [LABEL]: "live" })], "pause"), "live");
  equal(defaultMode([web({}, { [LABEL]: "stop" })], "live"), "stop");
});

Deno.test("a label that is not a mode is refused, but not one of the image", () => {
  throws(
    () => defaultMode([web({ [LABEL]: "of" })]),
    /^AppError: Container web has the label longshore.backup=of; it must be one of stop, pause, hooks, live, off$/,
  );
  equal(defaultMode([web({}, { [LABEL]: "of" })]), "stop");
  equal(defaultMode([web({ [LABEL]: "" })]), "stop");
});
