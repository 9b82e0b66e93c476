/**
 * The bare repository of one remote below `DATA_DIR/git`, which `isomorphic-git` reads and writes. It
 * begins with the newest commit; each fetch adds the commits since then.
 *
 * @module
 */

import { join, resolve } from "node:path";
import { nodeFs } from "../../builtins.ts";
import type { Deps } from "../../deps.ts";
import { AppError, asAppError } from "../../errors.ts";
import { isInside } from "../../text/paths.ts";
import { type Commit, COMMITS_MAX, createHistory, type Range, toCommit } from "./commits.ts";
import {
  type AnswerOptions,
  failure,
  gitHttp,
  PACK_BYTES_MAX,
  REFS_BYTES_MAX,
  type Remote,
} from "./http.ts";
import { readPack, splitTrailer } from "./pack.ts";
import { indexOf } from "./pack_index.ts";
import { takePack } from "./side_band.ts";

/** Kind of the followed ref; `head` is the default branch. */
export type RefKind = "branch" | "tag" | "commit" | "head";

export interface FollowedRef {
  kind: RefKind;
  /** Name of the branch or tag, or id of the commit; empty for `head`. */
  name: string;
}

/** The objects of a bare repository by their ids. Each rejects if it is not there. */
export interface Bare {
  commit(id: string): Promise<Commit>;
  /** As its signature covers it. */
  rawCommit(id: string): Promise<Uint8Array<ArrayBuffer>>;
  /** Compares commits. Those that were not fetched end its walk. */
  range(base: string, head: string): Promise<Range>;
  /** `undefined` for one with more entries. @param id Also of a commit. */
  tree(id: string, entriesMax: number): Promise<readonly Entry[] | undefined>;
  /** `undefined` for one with more bytes. */
  blob(id: string, bytesMax: number): Promise<Uint8Array<ArrayBuffer> | undefined>;
}

/** An entry of a directory. */
export interface Entry {
  mode: string;
  path: string;
  oid: string;
  /** `commit`: a submodule. */
  type: "blob" | "tree" | "commit";
}

/** The library, and its parameters for one repository. */
interface Store {
  git: typeof import("isomorphic-git").default;
  at: { fs: WholeFilesFs; gitdir: string; cache: object };
}

type WholeFilesFs = ReturnType<typeof wholeFilesFs>;

/** The last fetched commit has a ref of its own, which tells the server what is known. */
const FETCHED = "refs/heads/longshore-fetched";

/** Packs, and bytes of them, of a repository before it begins again. */
const PACKS_MAX = 30;
const BYTES_MAX = 2 * PACK_BYTES_MAX;

export const directoryOf = ({ config }: Pick<Deps, "config">, id: string): string =>
  join(resolve(config.dataDir), "git", id);

/** Loads the library on first use. */
const load = async () => (await import("isomorphic-git")).default;

/** Opens the repository, which need not exist yet. */
async function openStore(deps: Pick<Deps, "config">, id: string): Promise<Store> {
  const gitdir = directoryOf(deps, id);
  return { git: await load(), at: { fs: wholeFilesFs(gitdir), gitdir, cache: {} } };
}

/** Opens the objects of a repository in this thread; `openRepository()` has a worker for it. */
export async function openBare(deps: Pick<Deps, "config">, id: string): Promise<Bare> {
  const { git, at } = await openStore(deps, id);
  const read = async (oid: string) => (await git.readCommit({ ...at, oid })).commit;
  return {
    commit: async (oid) => toCommit(oid, await read(oid)),
    range: createHistory(async (oid) => (await read(oid)).parent),
    async rawCommit(oid) {
      const { object } = await git.readObject({ ...at, oid, format: "content" });
      return new Uint8Array(object as Uint8Array);
    },
    async tree(oid, entriesMax) {
      const { tree } = await git.readTree({ ...at, oid });
      return tree.length > entriesMax ? undefined : tree;
    },
    async blob(oid, bytesMax) {
      const { blob } = await git.readBlob({ ...at, oid });
      return blob.length > bytesMax ? undefined : new Uint8Array(blob);
    },
  };
}

/** Removes the repository with all objects. */
export async function removeBare(deps: Pick<Deps, "config">, id: string): Promise<void> {
  await nodeFs().promises.rm(directoryOf(deps, id), { recursive: true, force: true });
}

/**
 * Asks the server for the commit of a ref in this thread; `readNewest()` has a worker for long answers.
 *
 * @returns The id of the commit; `undefined` if the ref does not exist.
 * @throws {AppError} `bad_gateway`
 */
export async function readRemoteCommit(
  deps: Pick<Deps, "config">,
  remote: Remote,
  ref: FollowedRef,
  options: AnswerOptions = {},
): Promise<string | undefined> {
  if (ref.kind === "commit") return ref.name;
  const git = await load();
  const name = fullName(ref);
  const refs = await described(() =>
    git.listServerRefs({
      http: gitHttp(deps, remote, { bytesMax: REFS_BYTES_MAX, ...options }),
      url: remote.url,
      prefix: name,
      peelTags: true,
    })
  );
  const found = refs.find((each) => each.ref === name);
  const id = found?.peeled ?? found?.oid;
  if (id !== undefined && !ID.test(id)) throw failure(NOT_GIT);
  return id;
}

/** The library takes longer texts with 40 digits in them. */
const ID = /^[0-9a-f]{40}$/;

const NOT_GIT = "The server did not answer as a Git server does";

const fullName = ({ kind, name }: FollowedRef): string =>
  kind === "head" ? "HEAD" : kind === "branch" ? `refs/heads/${name}` : `refs/tags/${name}`;

/**
 * Fetches the newest commit of a ref with its tree, and the commits since the last fetch.
 *
 * @param options.isAgain Whether there was a commit before, also if its objects are gone.
 * @returns The id of the commit.
 * @throws {AppError} `bad_gateway`; `not_found` for a ref that does not exist.
 */
export async function fetchCommit(
  deps: Pick<Deps, "config">,
  id: string,
  remote: Remote,
  ref: FollowedRef,
  { signal, isAgain = false }: { signal?: AbortSignal | undefined; isAgain?: boolean } = {},
): Promise<string> {
  const gitdir = directoryOf(deps, id);
  const isKnown = await isThere(gitdir);
  if (isKnown && !await isLarge(gitdir)) {
    try {
      return await fetchInto(deps, await openStore(deps, id), remote, ref, undefined, signal);
    } catch (error) {
      // Something is missing here, e.g. after a crash: it begins again.
      if (asAppError(error)) throw error;
    }
  }
  await removeBare(deps, id);
  try {
    const store = await openStore(deps, id);
    const { git, at } = store;
    await git.init({ ...at, bare: true, defaultBranch: "longshore" });
    await git.addRemote({ ...at, remote: "origin", url: remote.url });
    const depth = isAgain || isKnown ? COMMITS_MAX : 1;
    return await described(() => fetchInto(deps, store, remote, ref, depth, signal), ref);
  } catch (error) {
    await removeBare(deps, id);
    throw error;
  }
}

/** @throws Errors of the library, unless the server causes them. */
async function fetchInto(
  deps: Pick<Deps, "config">,
  { git, at }: Store,
  remote: Remote,
  ref: FollowedRef,
  depth: number | undefined,
  signal: AbortSignal | undefined,
): Promise<string> {
  const fetch = (depth?: number) =>
    git.fetch({
      ...at,
      http: gitHttp(deps, remote, { signal, filter: (answer) => storePack(at, answer) }),
      url: remote.url,
      remote: "origin",
      ref: FETCHED,
      remoteRef: ref.kind === "commit" ? ref.name : fullName(ref),
      singleBranch: true,
      tags: false,
      ...(depth !== undefined && { depth }),
    });
  const { fetchHead } = await fetch(depth).catch((error) => {
    // A server without shallow fetches sends all commits, within the limits.
    if (depth !== undefined && codeOf(error) === "RemoteCapabilityError") return fetch();
    throw REASONS[codeOf(error) ?? ""] === undefined ? error : describeError(error);
  });
  if (fetchHead === null) throw missing(ref);
  if (!ID.test(fetchHead)) throw failure(NOT_GIT);
  const { oid } = await git.readCommit({ ...at, oid: fetchHead }).catch((error) => {
    // Not the code of a ref that does not exist.
    throw codeOf(error) === "NotFoundError"
      ? Object.assign(new Error("The commit is missing", { cause: error }), { code: NOT_SENT })
      : error;
  });
  await git.writeRef({ ...at, ref: FETCHED, value: oid, force: true });
  return oid;
}

/** Stores the pack of an answer with its index. @returns The rest of the answer, without a pack. */
async function storePack(
  { fs: { promises: fs }, gitdir }: Store["at"],
  answer: Uint8Array,
): Promise<Uint8Array[]> {
  const { pack, rest } = takePack(answer);
  if (pack.length === 0) return rest;
  const objects = readPack(pack);
  if (objects.length === 0) return rest;
  const name = join(gitdir, "objects", "pack", `pack-${splitTrailer(pack).trailer.toHex()}`);
  await fs.writeFile(`${name}.pack`, pack);
  await fs.writeFile(`${name}.idx`, indexOf(pack, objects));
  return rest;
}

const missing = ({ kind, name }: FollowedRef) =>
  new AppError(
    "not_found",
    kind === "head"
      ? "The repository has no commits"
      : `The repository does not have the ${kind} ${name}`,
  );

const codeOf = (error: unknown) => (Object(error) as { code?: string }).code;

/** Translates errors of the library, whose texts repeat what the server sent. */
async function described<Result>(
  work: () => Promise<Result>,
  ref?: FollowedRef,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    throw describeError(error, ref);
  }
}

function describeError(error: unknown, ref?: FollowedRef): unknown {
  const code = codeOf(error);
  if (asAppError(error)) return error;
  if (code === "NotFoundError" && ref) return missing(ref);
  return failure(REASONS[code ?? ""] ?? NOT_GIT, error);
}

const NOT_SENT = "CommitNotSent";

/** By the code of the library's errors, and our own one. */
const REASONS: Readonly<Record<string, string>> = {
  [NOT_SENT]: "The server did not send the commit",
  SmartHttpError: "The server does not answer as a Git server does; check the address",
  ParseError: NOT_GIT,
  EmptyServerResponseError: "The server closed the connection without an answer",
  ObjectTypeError: "The ref is not a commit",
};

async function isThere(path: string): Promise<boolean> {
  return await nodeFs().promises.stat(join(path, FETCHED)).then(() => true, () => false);
}

/** Each fetch adds a pack, and none is removed. */
async function isLarge(gitdir: string): Promise<boolean> {
  const { readdir, stat } = nodeFs().promises;
  const directory = join(gitdir, "objects", "pack");
  const packs = (await readdir(directory).catch(() => [])).filter((name) => name.endsWith(".pack"));
  const sizes = await Promise.all(
    packs.map(async (name) => (await stat(join(directory, name))).size),
  );
  return packs.length > PACKS_MAX || sizes.reduce((sum, size) => sum + size, 0) > BYTES_MAX;
}

/** The file system for the library: a file is there as a whole, and none is outside of the repository. */
function wholeFilesFs(gitdir: string) {
  const { readFile, writeFile, mkdir, rmdir, unlink, stat, lstat, readdir, readlink, symlink, rm } =
    nodeFs().promises;
  let writes = 0;
  const write = async (...given: Parameters<typeof writeFile>) => {
    const [path, content, options] = given;
    // Servers choose the names of refs.
    if (!isInside(resolve(path as string), gitdir)) throw failure(NOT_GIT);
    // Not beside the file, where a rest would be read as a ref after a crash.
    const written = join(gitdir, `writing-${writes++}`);
    await writeFile(written, content, options);
    await nodeFs().promises.rename(written, path as string);
  };
  return {
    promises: {
      readFile,
      writeFile: write,
      mkdir,
      rmdir,
      unlink,
      stat,
      lstat,
      readdir,
      readlink,
      symlink,
      rm,
    },
  };
}
