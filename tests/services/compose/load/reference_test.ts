/** Compares the loader with docker-compose 1.29 on the files of `samples/`. */

import { deepEqual, ok } from "node:assert/strict";
import { basename } from "node:path";
import { type LoadedProject, loadProject } from "../../../../services/compose/load/load.ts";

const SAMPLES = new URL("../samples/", import.meta.url).pathname;

/** Keys that docker-compose 1.29 does not know. */
const NEWER = ["immich.yaml"];

Deno.test("await loadProject() reads every sample like docker-compose 1.29", async (t) => {
  const names = [...Deno.readDirSync(SAMPLES)].map(({ name }) => name)
    .filter((name) => name.endsWith(".yaml")).sort();
  ok(names.length >= 60);
  const printedBy = await composeConfig(names.map((name) => SAMPLES + name));
  deepEqual(names.filter((name) => !(name in printedBy)), NEWER);

  for (const name of names) {
    await t.step(name, async () => {
      const ours = await load(Deno.readTextFileSync(SAMPLES + name));
      deepEqual(ours.errors, []);
      const printed = printedBy[name];
      if (printed === undefined) return;
      // docker-compose itself does not read what it prints for volumes_from.
      const reference = await load(printed.replaceAll("- service:", "- "));
      deepEqual(comparable(ours), comparable(reference));
    });
  }
});

const load = (compose: string) =>
  loadProject({
    compose,
    name: "samples",
    directory: SAMPLES,
    profiles: ["*"],
    readFile: (path) => {
      try {
        return Deno.readTextFileSync(SAMPLES + basename(path));
      } catch {
        return undefined;
      }
    },
  });

/** By the names of the files. */
async function composeConfig(files: string[]): Promise<Record<string, string>> {
  const script = new URL("../reference.py", import.meta.url).pathname;
  // Debian's Python has the module of docker-compose.
  const { stdout } = await new Deno.Command("/usr/bin/python3", {
    args: [script, ...files],
    stderr: "null",
  }).output();
  return JSON.parse(new TextDecoder().decode(stdout));
}

const ORDERED = new Set(["command", "entrypoint", "test"]);

/** Without differences of form: the order of lists, a mode, disabled health checks. */
function comparable({ project, errors }: LoadedProject): unknown {
  deepEqual(errors, []);
  return JSON.parse(JSON.stringify(project), (key, value) => {
    if (key === "healthcheck" && value.disable) return { test: ["NONE"] };
    if (key === "volumes_from") return value.map((from: string) => from.replace(/:rw$/, ""));
    if (!Array.isArray(value) || ORDERED.has(key)) return value;
    return value.toSorted((a, b) => sortKey(a) < sortKey(b) ? -1 : 1);
  });
}

const sortKey = (item: unknown) =>
  JSON.stringify(item instanceof Object ? Object.entries(item).sort() : item);
