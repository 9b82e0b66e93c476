import { deepEqual } from "node:assert/strict";
import { lasting } from "../../ui/base/lasting.ts";

const begin = (key: string) => ({ problem: { key, phase: "begin" } as const });
const end = (key: string) => ({ problem: { key, phase: "end" } as const });
const news = {};

Deno.test("lasting() leaves out problems that have ended, but not those that began again", () => {
  deepEqual(lasting([end("edge-7"), begin("edge-8"), news, begin("edge-7")]), [
    begin("edge-8"),
    news,
  ]);
  deepEqual(lasting([begin("edge-7"), end("edge-7"), begin("edge-7")]), [begin("edge-7")]);
  const removed = { problem: { ...end("down").problem, alsoEnds: ["ill"] } };
  deepEqual(lasting([removed, begin("ill"), begin("down")]), []);
});
