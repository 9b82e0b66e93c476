/** The files of a commit. Everything that cannot be a text of a stack is refused by its name. @module */

import { posix } from "node:path";
import { AppError } from "../../errors.ts";
import type { Bare, Entry } from "./bare.ts";

/** Limit of the entries of directories that are read. */
const ENTRIES_MAX = 20_000;

/** Largest file, in bytes. */
const FILE_BYTES_MAX = 1024 * 1024;

/** Limit of symbolic links that are followed for all files; each is read on its own. */
const LINKS_READ_MAX = 20_000;

/** Limit of symbolic links from a path to its file, as that of most systems. */
const LINKS_MAX = 40;

/** Longest target of a symbolic link, as that of most systems, in bytes. */
const LINK_BYTES_MAX = 4096;

const LINK = "120000";
const LFS_POINTER = "version https://git-lfs.github.com/spec/v1\n";

/** Entries of a directory by name. */
type Directory = ReadonlyMap<string, Entry>;

/** The files of one commit; paths are relative to the root, without `./`. */
export interface Tree {
  /** Entries of a directory; none if it is not one. */
  list(directory: string): Promise<Directory>;
  /**
   * The text of a file; `undefined` if it does not exist.
   *
   * @throws {AppError} `conflict` for a path or a link out of the repository, a submodule, an LFS
   * pointer, a directory, and for anything but a text within the limit.
   */
  read(path: string): Promise<string | undefined>;
}

const refuse = (path: string, problem: string) => new AppError("conflict", `${path} ${problem}`);

export function openTree(bare: Pick<Bare, "tree" | "blob">, commit: string): Tree {
  const directories = new Map<string, Promise<Directory>>();
  let entries = 0;
  let linksRead = 0;

  const readDirectory = async (oid: string): Promise<Directory> => {
    const tree = await bare.tree(oid, ENTRIES_MAX - entries);
    if (!tree) {
      throw new AppError(
        "conflict",
        `The directories of the stacks have more than ${ENTRIES_MAX} entries, which is the limit`,
      );
    }
    entries += tree.length;
    return new Map(tree.map((entry) => [entry.path, entry]));
  };
  const list = (oid: string) => {
    const known = directories.get(oid) ?? readDirectory(oid);
    directories.set(oid, known);
    return known;
  };

  /** Follows symbolic links. */
  const locate = async (path: string): Promise<Entry | undefined> => {
    let rest = namesOf(path, path);
    let at = "";
    let entry: Entry = { mode: "40000", path: "", oid: commit, type: "tree" };
    let links = 0;
    for (let name = rest.shift(); name !== undefined; name = rest.shift()) {
      if (entry.type === "commit") throw refuse(at, "is a submodule, which is not fetched");
      if (entry.type !== "tree") return undefined;
      const found = (await list(entry.oid)).get(name);
      if (!found) return undefined;
      const next = posix.join(at, name);
      if (found.mode !== LINK) {
        [entry, at] = [found, next];
        continue;
      }
      if (++linksRead > LINKS_READ_MAX) {
        throw new AppError(
          "conflict",
          `The stacks need more than ${LINKS_READ_MAX} symbolic links, which is the limit`,
        );
      }
      const bytes = await bare.blob(found.oid, LINK_BYTES_MAX);
      if (!bytes) throw refuse(next, "is a symbolic link that is too long");
      const target = new TextDecoder().decode(bytes);
      const resolved = posix.join(at, target);
      if (target.startsWith("/") || isOutside(resolved) || ++links > LINKS_MAX) {
        throw refuse(next, "is a symbolic link that leads out of the repository");
      }
      rest = [...namesOf(resolved, next), ...rest];
      [entry, at] = [{ mode: "40000", path: "", oid: commit, type: "tree" }, ""];
    }
    return entry;
  };

  return {
    async list(directory) {
      const entry = await locate(directory);
      return entry?.type === "tree" ? await list(entry.oid) : new Map();
    },
    async read(path) {
      const entry = await locate(path);
      if (!entry) return undefined;
      if (entry.type === "commit") throw refuse(path, "is a submodule, which is not fetched");
      if (entry.type === "tree") throw refuse(path, "is a directory");
      return decode(path, await bare.blob(entry.oid, FILE_BYTES_MAX));
    },
  };
}

const isOutside = (path: string) => path === ".." || path.startsWith("../");

/** @throws {AppError} `conflict` for a path out of the repository. */
function namesOf(path: string, shown: string): string[] {
  const names = posix.normalize(path).split("/").filter((name) => name !== "" && name !== ".");
  if (names.includes("..")) throw refuse(shown, "leads out of the repository");
  return names;
}

/** @param bytes `undefined` beyond the limit. */
function decode(path: string, bytes: Uint8Array | undefined): string {
  if (!bytes) throw refuse(path, "is larger than 1 MiB");
  let text: string;
  try {
    text = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("conflict", `${path} is not text in UTF-8`, { cause });
  }
  if (text.startsWith(LFS_POINTER)) {
    throw refuse(path, "is stored with Git LFS, whose files are not fetched");
  }
  return text;
}
