/** Limits of mappings. @module */

import { deepEqual, equal, rejects } from "node:assert/strict";
import { openTree } from "../../../services/git/fetch/tree.ts";
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

Deno.test("a mapping follows at most 20,000 symbolic links", async () => {
  const links = Array.from({ length: 15_000 }, (_, at) => ({
    mode: "120000",
    path: `l${at}`,
    oid: "link",
    type: "blob" as const,
  }));
  const tree = openTree({
    tree: () => Promise.resolve(links),
    blob: () => Promise.resolve(new TextEncoder().encode("none")),
  }, "commit");
  const mapping = { ...MAPPING, path: "*/x.yaml" };
  deepEqual((await findStacks(tree, { mapping: [mapping], labels: {} })).stacks, []);
  await rejects(findStacks(tree, { mapping: [mapping], labels: {} }), {
    message: "The stacks need more than 20000 symbolic links, which is the limit",
  });
});
