/** Files in YAML and JSON that SOPS has encrypted, and those that it has wrapped into JSON. @module */

import type { Document, Node, YAMLMap } from "yaml";
import type { SopsFile } from "./file.ts";
import { SopsError, type SopsOpener, type SopsValue } from "./values.ts";

type Yaml = typeof import("yaml");
type Open = SopsOpener["open"];

/** Largest file in UTF-16 units, except for a wrapped one. */
const UNITS_MAX = 256 * 1024;

/** Words and signs of a file, which take 10 µs each, and brackets within each other. */
const TOKENS_MAX = 60_000;
const DEPTH_MAX = 100;

const SYNTAX = "is encrypted with SOPS, but has errors of syntax";

const METADATA = "sops";

export async function parseYaml(text: string): Promise<SopsFile> {
  const yaml = await load();
  const documents = parse(yaml, withoutComments(text));
  return {
    ...metadataOf(documents[0]!),
    open: ({ open }) => {
      for (const document of documents) openDocument(yaml, document, open);
      return documents.map(String).join("");
    },
  };
}

/** Encrypted comments are not restored. */
const withoutComments = (text: string) =>
  text.split("\n").filter((line) => !line.trimStart().startsWith("#ENC[")).join("\n");

/** @param text An object. Numbers of keys stay in their order, unlike with `JSON.parse()`. */
export async function parseJson(text: string): Promise<SopsFile> {
  const yaml = await load();
  const [document] = parse(yaml, text.replace(/^\t+/gm, " "));
  return {
    ...metadataOf(document!),
    open: ({ open }) => {
      openDocument(yaml, document!, open);
      return `${JSON.stringify(document!.toJS(), null, 2)}\n`;
    },
  };
}

/** Any file as the only value of an object. */
export const parseWrapped = (given: Record<string, unknown>): SopsFile => ({
  ...checkMetadata(given[METADATA]),
  open: ({ open }) => `${open(`${given.data}`, ["data"])}`,
});

/** Loaded on first use, because few files are encrypted. */
const load = () => import("yaml");

function parse(yaml: Yaml, text: string): Document[] {
  if (text.length > UNITS_MAX) throw new SopsError("is larger than 256 KiB, the limit with SOPS");
  assertFewTokens(yaml, text);
  // Comparing each key with all others takes quadratic time; `openMap()` does it.
  const options = { uniqueKeys: false };
  const documents = [...yaml.parseAllDocuments(text, options) as Iterable<Document>];
  if (documents.length === 0 || documents.some(({ errors }) => errors.length > 0)) {
    throw new SopsError(SYNTAX);
  }
  return documents;
}

/** Before they are parsed, which a commit must not let take seconds. */
function assertFewTokens({ Lexer }: Yaml, text: string): void {
  let count = 0;
  let depth = 0;
  for (const token of new Lexer().lex(text)) {
    if (token === "[" || token === "{") depth++;
    else if (token === "]" || token === "}") depth--;
    if (depth > DEPTH_MAX) throw new SopsError("is encrypted with SOPS, and nested too deeply");
    if (++count <= TOKENS_MAX) continue;
    throw new SopsError(`has more than ${TOKENS_MAX} words and signs, the limit with SOPS`);
  }
}

function metadataOf(document: Document) {
  const metadata = document.get(METADATA) as Node | undefined;
  return checkMetadata(metadata?.toJS(document));
}

function checkMetadata(given: unknown): Omit<SopsFile, "open"> {
  const { age, lastmodified, mac, mac_only_encrypted } = Object(given) as Record<string, unknown>;
  return {
    age: (Array.isArray(age) ? age : []).map((each) => ({
      recipient: `${Object(each).recipient}`,
      enc: `${Object(each).enc}`,
    })),
    lastModified: `${lastmodified ?? ""}`,
    mac: `${mac ?? ""}`,
    isOnlyEncrypted: mac_only_encrypted === true,
  };
}

function openDocument(yaml: Yaml, document: Document, open: Open): void {
  const { contents } = document;
  if (!yaml.isMap(contents)) throw new SopsError("is not a map");
  document.delete(METADATA);
  openMap(yaml, document, contents, [], open);
}

function openMap(
  yaml: Yaml,
  document: Document,
  map: YAMLMap,
  keys: readonly string[],
  open: Open,
): void {
  const known = new Set<string>();
  for (const pair of map.items) {
    const key = yaml.isScalar(pair.key) ? `${pair.key.value}` : "";
    if (known.has(key)) throw new SopsError(SYNTAX);
    known.add(key);
    pair.value = openNode(yaml, document, pair.value as Node | null, [...keys, key], open);
  }
}

/** Elements of lists have the keys of their list. */
function openNode(
  yaml: Yaml,
  document: Document,
  node: Node | null,
  keys: readonly string[],
  open: Open,
): Node | null {
  if (yaml.isAlias(node)) throw new SopsError("has aliases, which SOPS does not write");
  if (yaml.isMap(node)) openMap(yaml, document, node as YAMLMap, keys, open);
  else if (yaml.isSeq(node)) {
    node.items = node.items.map((item) => openNode(yaml, document, item as Node, keys, open));
  } else if (yaml.isScalar(node) && node.value !== null) {
    const before = node.value as SopsValue;
    const after = open(before, keys);
    if (after !== before) return document.createNode(after);
  }
  return node;
}
