/** Files of a repository that SOPS has encrypted for age. @module */

import { posix } from "node:path";
import { AppError } from "../../errors.ts";
import { parseDotenv } from "./dotenv.ts";
import type { SopsFile } from "./file.ts";
import { parseJson, parseWrapped, parseYaml } from "./documents.ts";
import { createOpener, SopsError } from "./values.ts";

/** Largest encrypted data key, with all recipients; usual ones have 400 characters. */
const KEY_MAX = 8_192;

const TOO_DEEP = "is encrypted with SOPS, and nested too deeply";

/** The parser's error about those of the metadata. */
const ALIASES = "has aliases, which SOPS does not write";

/** Loaded on first use, because few repositories have encrypted files. */
const load = () => import("age-encryption");

/**
 * Opens a file if SOPS has encrypted it; another one is returned as it is.
 *
 * @param path Shown in errors; its end says whether wrapped files are meant as JSON.
 * @throws {AppError} `conflict` for a file that cannot be opened, or was changed since.
 */
export async function openSops(
  path: string,
  text: string,
  identity: string | null,
): Promise<string> {
  try {
    const file = await parse(path, text);
    if (!file) return text;
    const opener = createOpener(await dataKeyOf(file, identity), file.isOnlyEncrypted);
    const opened = file.open(opener);
    opener.verify(file.mac, file.lastModified);
    return opened;
  } catch (error) {
    if (error instanceof RangeError) throw new AppError("conflict", `${path} ${TOO_DEEP}`);
    if (error instanceof ReferenceError) throw new AppError("conflict", `${path} ${ALIASES}`);
    if (!(error instanceof SopsError)) throw error;
    throw new AppError("conflict", `${path} ${error.message}`, { cause: error });
  }
}

/** @returns `undefined` for a file that is not encrypted. */
async function parse(path: string, text: string): Promise<SopsFile | undefined> {
  if (/^sops_mac=/m.test(text)) return parseDotenv(text);
  if (/^sops:/m.test(text)) return await parseYaml(text);
  if (/^\[sops\]/m.test(text)) throw new SopsError("is encrypted with SOPS as INI; use dotenv");
  if (!text.trimStart().startsWith("{") || !text.includes('"sops"')) return undefined;
  const given = parseObject(text);
  if (typeof Object(given?.sops).mac !== "string") return undefined;
  const isWrapped = Object.keys(given!).sort().join() === "data,sops" &&
    posix.extname(path) !== ".json";
  return isWrapped ? parseWrapped(given!) : await parseJson(text);
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

async function dataKeyOf({ age }: SopsFile, identity: string | null): Promise<Uint8Array> {
  if (identity === null) {
    throw new SopsError("is encrypted with SOPS; enter the age identity of the repository");
  }
  const { Decrypter, armor, identityToRecipient } = await load();
  const recipient = await identityToRecipient(identity);
  const enc = age.find((each) => each.recipient === recipient)?.enc;
  if (enc === undefined || enc.length > KEY_MAX) {
    throw new SopsError(
      `is not encrypted for the age identity of the repository; add the recipient ${recipient}`,
    );
  }
  try {
    const decrypter = new Decrypter();
    decrypter.addIdentity(identity);
    return await decrypter.decrypt(armor.decode(enc.trim()));
  } catch (cause) {
    throw new SopsError("has a data key that the age identity does not open", { cause });
  }
}

/** Whether a text is an identity as `age-keygen` makes it. */
export async function isIdentity(text: string): Promise<boolean> {
  const { identityToRecipient } = await load();
  return await identityToRecipient(text).then(() => true, () => false);
}
