/**
 * Files as SOPS writes them for age, by its documented format, because Debian does not have the
 * program.
 *
 * @module
 */

import { armor, Encrypter, generateX25519Identity, identityToRecipient } from "age-encryption";
import { Buffer } from "node:buffer";
import { createCipheriv, createHash, randomBytes } from "node:crypto";
import { stringify } from "yaml";

const MODIFIED = "2026-01-01T12:00:00Z";

export type SopsTree = { [key: string]: SopsLeaf | SopsTree | SopsTree[] | SopsLeaf[] };
type SopsLeaf = string | number | boolean | null;

export interface SopsOptions {
  /** Keys of values that stay in clear. */
  clear?: (key: string) => boolean;
  macOnlyEncrypted?: boolean;
  /** Changes the code over all values. */
  mac?: (mac: string) => string;
}

/** An identity with the recipient for which files are encrypted. */
export async function sopsIdentity() {
  const identity = await generateX25519Identity();
  return { identity, recipient: await identityToRecipient(identity) };
}

/** The tree with its values encrypted, and the metadata. */
async function encryptTree(
  recipient: string,
  tree: SopsTree,
  { clear = () => false, macOnlyEncrypted = false, mac = (same) => same }: SopsOptions,
) {
  const key = randomBytes(32);
  const hash = createHash("sha512");
  if (macOnlyEncrypted) {
    hash.update("8a3fd2ad54ce66527b1034f3d147be0b0b975b3bf44f72c6fdadec8176f27d69", "hex");
  }
  const walk = (value: unknown, keys: string[]): unknown => {
    if (value === null) return null;
    if (Array.isArray(value)) return value.map((each) => walk(each, keys));
    if (typeof value === "object") {
      return Object.fromEntries(
        Object.entries(value!).map(([name, each]) => [name, walk(each, [...keys, name])]),
      );
    }
    const isClear = keys.some(clear);
    const text = textOf(value as SopsLeaf);
    if (!isClear || !macOnlyEncrypted) hash.update(text);
    return isClear || text === "" ? value : seal(key, text, typeOf(value), `${keys.join(":")}:`);
  };
  const data = walk(tree, []) as Record<string, unknown>;
  const encrypter = new Encrypter();
  encrypter.addRecipient(recipient);
  const enc = `${armor.encode(await encrypter.encrypt(new Uint8Array(key))).trim()}\n`;
  return {
    data,
    sops: {
      age: [{ recipient, enc }],
      lastmodified: MODIFIED,
      mac: seal(key, mac(hash.digest("hex").toUpperCase()), "str", MODIFIED),
      unencrypted_suffix: "_unencrypted",
      ...(macOnlyEncrypted && { mac_only_encrypted: true }),
      version: "3.9.0",
    },
  };
}

const textOf = (value: SopsLeaf) =>
  typeof value === "boolean"
    ? value ? "True" : "False"
    : typeof value === "number" && !Number.isInteger(value)
    ? value.toFixed(20).replace(/0+$/, "")
    : `${value}`;

const typeOf = (value: unknown) =>
  typeof value === "number"
    ? Number.isInteger(value) ? "int" : "float"
    : typeof value === "boolean"
    ? "bool"
    : "str";

function seal(key: Uint8Array, text: string, type: string, context: string): string {
  const iv = randomBytes(32);
  const cipher = createCipheriv("aes-256-gcm", key, iv).setAAD(Buffer.from(context));
  const data = Buffer.concat([cipher.update(text), cipher.final()]);
  const [d, i, t] = [data, iv, cipher.getAuthTag()].map((bytes) => bytes.toString("base64"));
  return `ENC[AES256_GCM,data:${d},iv:${i},tag:${t},type:${type}]`;
}

export async function sopsYaml(recipient: string, tree: SopsTree, options: SopsOptions = {}) {
  const { data, sops } = await encryptTree(recipient, tree, options);
  return stringify({ ...data, sops }, { indent: 4, lineWidth: 0 });
}

/** With tabs, as SOPS does. */
export async function sopsJson(recipient: string, tree: SopsTree, options: SopsOptions = {}) {
  const { data, sops } = await encryptTree(recipient, tree, options);
  return `${JSON.stringify({ ...data, sops }, null, "\t")}\n`;
}

export const sopsBinary = (recipient: string, data: string) => sopsJson(recipient, { data });

export async function sopsDotenv(
  recipient: string,
  variables: Record<string, string>,
  options: SopsOptions = {},
) {
  const { data, sops: { age: [age], ...sops } } = await encryptTree(recipient, variables, options);
  const metadata = {
    age__list_0__map_enc: age!.enc,
    age__list_0__map_recipient: age!.recipient,
    ...sops,
  };
  return [
    ...Object.entries(data),
    ...Object.entries(metadata).map(([name, value]) => [`sops_${name}`, value]),
  ].map(([name, value]) => `${name}=${`${value}`.replaceAll("\n", "\\n")}\n`).join("");
}
