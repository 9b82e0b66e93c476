/** Limits of mappings. @module */

import { deepEqual, equal } from "node:assert/strict";
import { findStacks } from "../../../services/git/mapping.ts";

/** A tree with one directory of 20,000 entries, and how often all of them were looked through. */
function treeOf(type: "blob" | "tree") {
  const names = Array.from({ length: 20_000 }, (_, at) => `s${at}.yaml`);
  const entries = new Map(names.map((path) => [path, { mode: "", path, oid: "", type }]));
  const looks = { count: 0 };
  entries.keys = () => {
    looks.count++;
    return Map.prototype.keys.call(entries);
  };
  return { list: () => Promise.resolve(entries), read: () => Promise.resolve(""), looks };
}

const MAPPING = {
  deploy: "auto" as const,
  profiles: null,
  directory: null,
  hosts: {},
  env: {},
  path: "*.yaml",
  name: "*",
};
const REPOSITORY = { mapping: [MAPPING], labels: {} };

Deno.test("directories that are named like files cost one look", async () => {
  const tree = treeOf("tree");
  deepEqual((await findStacks(tree, REPOSITORY)).stacks, []);
  equal(tree.looks.count, 1);
});

Deno.test("a mapping makes at most 500 stacks, and reports one more", async () => {
  const { stacks, problems } = await findStacks(treeOf("blob"), REPOSITORY);
  deepEqual([stacks.length, problems], [500, [
    "s500.yaml: the repository has more than 500 stacks, which is the limit",
  ]]);
});
