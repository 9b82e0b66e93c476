/** The sources of a stack in the files of a commit. @module */

import { posix } from "node:path";
import type { GitStack } from "../../db/git_stacks.ts";
import { readSources } from "../compose/disk_sources.ts";
import { ENV_FILE } from "../compose/load/compose_file.ts";
import type { DiskPlace, LoaderDeps, StoredSources } from "../compose/validate.ts";
import { AppError } from "../errors.ts";
import { isInside } from "../text/paths.ts";
import type { Tree } from "./fetch/tree.ts";
import { openSops } from "./sops/open.ts";

/** Location of the repository for the loader, in place of a directory on the host. */
const ROOT = "/repository";

export type FollowedFile = Pick<GitStack, "path" | "directory" | "profiles">;

/**
 * Reads the Compose file and the files that it names.
 *
 * @param values Text of variables behind those of `.env`, which therefore win; identity that opens
 * what SOPS has encrypted.
 * @param base Location on the host that the stack has already, for relative paths and labels.
 * @returns `undefined` if the Compose file does not exist.
 * @throws {AppError} `conflict` for a file that cannot be read.
 */
export async function readStackSources(
  deps: LoaderDeps,
  tree: Tree,
  { path, directory, profiles }: FollowedFile,
  { env, ageIdentity }: { env: string | null; ageIdentity: string | null },
  base?: DiskPlace,
): Promise<StoredSources | undefined> {
  const own = base ?? placeIn(directory, path);
  const virtual = posix.join(ROOT, posix.dirname(path));
  const place = { directory: virtual, configFiles: [posix.join(ROOT, path)] };
  const read = async (absolute: string) => {
    if (!isInside(absolute, virtual)) {
      const name = isInside(absolute, ROOT) ? absolute.slice(ROOT.length + 1) : absolute;
      throw new AppError("conflict", `${name} is not in the directory of ${path}`);
    }
    const name = absolute.slice(ROOT.length + 1);
    const found = await tree.read(name);
    // The Compose file is shown to those who may not see secrets.
    const text = found === undefined || name === path
      ? found
      : await openSops(name, found, ageIdentity);
    return absolute === posix.join(virtual, ENV_FILE) ? withEnv(text, env) : text;
  };
  if (await tree.read(path) === undefined) return undefined;
  const { place: _, outside: __, ...sources } = await readSources(deps, { read }, place, {
    profiles: profiles ?? undefined,
    isCopied: own === undefined,
    hidesValues: true,
  });
  return { ...sources, ...(own && { base: own }) };
}

const placeIn = (directory: string | null, path: string): DiskPlace | undefined =>
  directory === null
    ? undefined
    : { directory, configFiles: [posix.join(directory, posix.basename(path))] };

function withEnv(text: string | undefined, env: string | null): string | undefined {
  if (env === null) return text;
  return text === undefined ? env : `${text.replace(/\n?$/, "\n")}${env}`;
}

const ESCAPED: Readonly<Record<string, string>> = {
  "\\": "\\\\",
  '"': '\\"',
  "$": "\\$",
  "\n": "\\n",
  "\r": "\\r",
};

/** Variables as lines of `.env`. */
export const envText = (variables: Record<string, string>): string =>
  Object.entries(variables).map(([name, value]) =>
    `${name}="${value.replace(/[\\"$\n\r]/g, (char) => ESCAPED[char]!)}"\n`
  ).join("");
