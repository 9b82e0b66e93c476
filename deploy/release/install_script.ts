/** The installer of a release: `install.sh` with its version, its address and the release keys. @module */

import { ReleaseError } from "./programs.ts";

/** Values that the template is filled with. */
export interface Installer {
  version: string;
  /** Directory of the release's files; the word `VERSION` in it stands for the version. */
  url: string;
  /** Public keys, each as in a `.pub` file. */
  keys: readonly string[];
}

const TEMPLATE = new URL("./install.sh", import.meta.url);

/** Two words of a `.pub` file; its comment is left out. */
const KEY = /^ssh-ed25519 [A-Za-z0-9+/]+=*(?= |$)/;

const VERSION = /^[\w.-]+$/;

/** Characters that a shell does not interpret. */
const ADDRESS = /^(https?:\/\/[\w.:/~%-]+)?$/;

/**
 * Fills the template of `install.sh`.
 *
 * @throws {ReleaseError} If a value does not fit into a shell script as it stands.
 */
export async function installScript({ version, url, keys }: Installer): Promise<string> {
  if (!VERSION.test(version)) throw new ReleaseError(`${version} is not a version`);
  if (!ADDRESS.test(url)) throw new ReleaseError(`${url} is not an address of a release`);
  const lines = keys.map((key) => {
    const found = KEY.exec(key.trim())?.[0];
    if (found === undefined) {
      throw new ReleaseError(`Not an Ed25519 public key: ${key.slice(0, 80)}`);
    }
    return found;
  });
  const template = await Deno.readTextFile(TEMPLATE);
  return template
    .replaceAll("@VERSION@", version)
    .replaceAll("@URL@", url)
    .replaceAll("@KEYS@", lines.join("\n"));
}
