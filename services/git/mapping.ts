/** Mappings: the files of a repository that become stacks. @module */

import { posix } from "node:path";
import type { GitRepository } from "../../db/git_repositories.ts";
import type { GitStack } from "../../db/git_stacks.ts";
import { createYield } from "../waiting.ts";
import type { Tree } from "./fetch/tree.ts";
import { isForHost } from "./labels.ts";

/** A stack that a mapping makes. */
export type MappedStack = Pick<
  GitStack,
  "stack" | "path" | "deploy" | "profiles" | "directory" | "mappedEnv"
>;

/** Limit of the stacks of a repository, and of the files that a mapping finds. */
const STACKS_MAX = 500;

const NAME = /^[a-z0-9][a-z0-9_-]{0,99}$/;

/**
 * Finds the Compose files that the mappings for this host name. Of two for the same stack, the first
 * one counts.
 *
 * @returns The stacks by name, and what is wrong.
 */
export async function findStacks(
  tree: Tree,
  { mapping, labels }: Pick<GitRepository, "mapping" | "labels">,
): Promise<{ stacks: MappedStack[]; problems: string[] }> {
  const stacks = new Map<string, MappedStack>();
  const problems: string[] = [];
  for (const each of mapping.filter((each) => isForHost(each, labels))) {
    const { name, env: mappedEnv, deploy, profiles } = each;
    for (const { path, text } of await findFiles(tree, each.path)) {
      const stack = name.replaceAll("*", () => text);
      const known = stacks.get(stack);
      if (!known && stacks.size >= STACKS_MAX) {
        problems.push(
          `${path}: the repository has more than ${STACKS_MAX} stacks, which is the limit`,
        );
        break;
      }
      if (known) problems.push(`${path}: ${known.path} is the stack ${stack} already`);
      else if (!NAME.test(stack)) {
        problems.push(
          `${path}: ${stack} is not a name for a stack, which has lowercase letters, digits, ` +
            "dashes and underscores only",
        );
      } else {
        const directory = each.directory?.replaceAll("*", () => text) ?? null;
        stacks.set(stack, { stack, path, deploy, profiles, directory, mappedEnv });
      }
    }
  }
  const sorted = [...stacks.values()].sort((a, b) => a.stack < b.stack ? -1 : 1);
  return { stacks: sorted, problems };
}

/** @returns The paths that match, with the text of `*`. */
async function findFiles(tree: Tree, path: string): Promise<{ path: string; text: string }[]> {
  const parts = path.split("/");
  const at = parts.findIndex((part) => part.includes("*"));
  if (at < 0) return await isFile(tree, path) ? [{ path, text: "" }] : [];
  const [before, behind] = parts[at]!.split("*") as [string, string];
  const parent = parts.slice(0, at).join("/");
  const found: { path: string; text: string }[] = [];
  const pause = createYield();
  for (const name of (await tree.list(parent)).keys()) {
    await pause();
    // One more, which is reported.
    if (found.length > STACKS_MAX) break;
    if (name.length < before.length + behind.length) continue;
    if (!name.startsWith(before) || !name.endsWith(behind)) continue;
    const file = posix.join(parent, name, ...parts.slice(at + 1));
    const text = name.slice(before.length, name.length - behind.length);
    if (await isFile(tree, file)) found.push({ path: file, text });
  }
  return found;
}

async function isFile(tree: Tree, path: string): Promise<boolean> {
  const directory = await tree.list(posix.dirname(path));
  return directory.get(posix.basename(path))?.type === "blob";
}
