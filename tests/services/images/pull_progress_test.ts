import { deepEqual } from "node:assert/strict";
import { createPullProgress } from "../../../services/images/pull_progress.ts";

/** The progress after each message: status, id, current, total. */
function progressOf(...messages: [string, string?, number?, number?][]) {
  const read = createPullProgress();
  return messages.map(([status, id, current, total]) =>
    read({
      status,
      ...(id !== undefined && { id }),
      progressDetail: {
        ...(current !== undefined && { current }),
        ...(total !== undefined && { total }),
      },
    })
  );
}

Deno.test("a pull sums the downloaded bytes of its layers", () => {
  const seen = progressOf(
    ["Pulling from library/nginx", "1.27"],
    ["Pulling fs layer", "aa"],
    ["Pulling fs layer", "bb"],
    ["Downloading", "aa", 10, 100],
    ["Downloading", "bb", 5, 50],
    ["Download complete", "aa"],
    ["Extracting", "aa", 1, 100],
    ["Pull complete", "aa"],
    ["Already exists", "cc"],
    ["Pull complete", "bb"],
    ["Status: Downloaded newer image for nginx:1.27"],
  );
  deepEqual(seen.map(({ current, total, message }) => [current, total, message]), [
    [0, null, null],
    [0, null, "0 of 1 layers complete"],
    [0, null, "0 of 2 layers complete"],
    [10, 100, "0 of 2 layers complete"],
    [15, 150, "0 of 2 layers complete"],
    [105, 150, "0 of 2 layers complete"],
    [105, 150, "0 of 2 layers complete"],
    [105, 150, "1 of 2 layers complete"],
    [105, 150, "2 of 3 layers complete"],
    [150, 150, "3 of 3 layers complete"],
    [150, 150, "3 of 3 layers complete"],
  ]);
});

Deno.test("an engine that invents layers cannot fill the memory", () => {
  const read = createPullProgress();
  let last = read({});
  for (let n = 0; n < 5_000; n++) last = read({ status: "Waiting", id: `layer ${n}` });
  deepEqual(last.message, "0 of 1000 layers complete");
});
