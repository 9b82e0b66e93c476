import { deepEqual, equal, throws } from "node:assert/strict";
import {
  finishReplacement,
  isPlanned,
  type Plan,
  replaceFiles,
} from "../../commands/replacement.ts";
import { contentOf, temporaryDirectory } from "../helpers/command.ts";

const plan: Plan = {
  staged: "restore-1",
  replaced: "replaced-1",
  names: ["state", "key"],
  retired: ["state-wal", "metrics", "none"],
};

const BEFORE = { state: "old", "state-wal": "old", metrics: "old", license: "stays" };

const AFTER = {
  state: "new",
  key: "new",
  license: "stays",
  "replaced-1/state": "old",
  "replaced-1/state-wal": "old",
  "replaced-1/metrics": "old",
};

function prepared() {
  const directory = temporaryDirectory();
  const write = (name: string, text: string) =>
    Deno.writeTextFileSync(`${directory.path}/${name}`, text);
  for (const [name, text] of Object.entries(BEFORE)) write(name, text);
  Deno.mkdirSync(`${directory.path}/restore-1`);
  for (const name of plan.names) write(`restore-1/${name}`, "new");
  return directory;
}

Deno.test("files are replaced and the old ones kept", () => {
  using directory = prepared();
  replaceFiles(directory.path, plan);
  deepEqual(contentOf(directory.path), AFTER);
  equal(isPlanned(directory.path), false);
  equal(finishReplacement(directory.path), false);
});

// Five renames: three old files away, two new ones in.
for (let steps = 0; steps < 5; steps++) {
  Deno.test(`a replacement that is interrupted after ${steps} steps is completed later`, () => {
    using directory = prepared();
    let done = 0;
    const cutShort = (from: string, to: string) => {
      if (done++ === steps) throw new Error("power cut");
      Deno.renameSync(from, to);
    };
    throws(() => replaceFiles(directory.path, plan, cutShort), /power cut/);
    equal(isPlanned(directory.path), true);

    // And interrupted again, a step further.
    done = steps - 1;
    try {
      finishReplacement(directory.path, cutShort);
    } catch { /* as meant */ }
    finishReplacement(directory.path);
    deepEqual(contentOf(directory.path), AFTER);
  });
}

Deno.test("a plan with paths outside the directory is refused", () => {
  using directory = prepared();
  for (const name of ["../state", "..", "", "a/b"]) {
    Deno.writeTextFileSync(
      `${directory.path}/restore.json`,
      JSON.stringify({ ...plan, names: [name] }),
    );
    throws(() => finishReplacement(directory.path), /outside of the directory/);
  }
});
