/** Limits of mappings. @module */

import { deepEqual } from "node:assert/strict";
import { findStacks } from "../../../services/git/mapping.ts";

Deno.test("a mapping makes at most 500 stacks, and reports one more", async () => {
  const entries = Array.from({ length: 20_000 }, (_, at) => ({
    mode: "100644",
    path: `s${at}.yaml`,
    oid: "",
    type: "blob" as const,
  }));
  const tree = { list: () => Promise.resolve(entries), read: () => Promise.resolve("") };
  const rest = { deploy: "auto" as const, profiles: null, directory: null, hosts: {}, env: {} };
  const mapping = [{ ...rest, path: "*.yaml", name: "*" }];
  const { stacks, problems } = await findStacks(tree, { mapping, labels: {} });
  deepEqual([stacks.length, problems], [500, [
    "s500.yaml: the repository has more than 500 stacks, which is the limit",
  ]]);
});
