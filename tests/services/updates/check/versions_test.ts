import { deepEqual, equal } from "node:assert/strict";
import { newerVersions } from "../../../../services/updates/check/versions.ts";

function newer(current: string, tags: readonly string[]) {
  const versions = newerVersions(current);
  tags.forEach((tag) => versions?.add(tag));
  return versions?.list() ?? [];
}

for (
  const { current, tags, newer: expected } of [
    {
      current: "1.27.3-alpine",
      tags: ["1.27.4-alpine", "1.28.0-alpine", "1.28.0", "2.0.0-alpine", "1.27.2-alpine"],
      newer: ["2.0.0-alpine major", "1.28.0-alpine minor", "1.27.4-alpine patch"],
    },
    {
      current: "1.27",
      tags: ["1.28", "1.28.0", "2", "1.9", "1.27", "latest", ""],
      newer: ["1.28 minor"],
    },
    { current: "15", tags: ["16", "17.1", "9", "20240101", "16-alpine"], newer: ["16 major"] },
    {
      current: "v1.9.0",
      tags: ["v1.10.0", "1.11.0", "v1.10.0-rc.1", "v1.9.0-1"],
      newer: ["v1.10.0 minor"],
    },
    {
      current: "2.0.0-rc.1",
      tags: ["2.0.0-rc.2", "2.0.0", "2.0.0-beta.9", "2.0.0-rc.10", "2.1.0-alpha", "1.9.9"],
      newer: ["2.1.0-alpha minor", "2.0.0 patch", "2.0.0-rc.10 patch", "2.0.0-rc.2 patch"],
    },
    {
      current: "3.0b1-slim",
      tags: ["3.0b2-slim", "3.0-slim", "3.0b2"],
      newer: [
        "3.0-slim patch",
        "3.0b2-slim patch",
      ],
    },
    {
      current: "2024.10.1",
      tags: ["2024.12.0", "2025.1.0", "2024.9.9"],
      newer: [
        "2025.1.0 major",
        "2024.12.0 minor",
      ],
    },
    { current: "20240101", tags: ["20240201", "3"], newer: ["20240201 major"] },
    {
      current: "4.0.1.99-ls5",
      tags: ["4.0.1.100-ls5", "4.0.1.100-ls6"],
      newer: [
        "4.0.1.100-ls5 patch",
      ],
    },
    { current: "latest", tags: ["1.0", "2.0"], newer: [] },
    { current: "bookworm", tags: ["trixie"], newer: [] },
  ]
) {
  Deno.test(`newer than ${current}: ${expected.join(", ") || "none"}`, () => {
    deepEqual(newer(current, tags).map(({ tag, level }) => `${tag} ${level}`), expected);
  });
}

Deno.test("many newer versions of one level do not hide those of another", () => {
  const majors = Array.from({ length: 5_000 }, (_, at) => `${at + 2}.0.0`);
  for (const tags of [["1.0.1", ...majors], [...majors.toReversed(), "1.0.1", "1.0.1"]]) {
    const found = newer("1.0.0", tags);
    deepEqual([found.length, found[0]!.tag, found.at(-1)!.tag], [21, "5001.0.0", "1.0.1"]);
    equal(found[19]!.tag, "4982.0.0");
  }
});
