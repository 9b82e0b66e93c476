/**
 * YAML as a tree of nodes with positions: aliases and merge keys are resolved, numbers are read as
 * Compose reads them.
 *
 * @module
 */

import {
  type Alias,
  Composer,
  type CST,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  Lexer,
  LineCounter,
  type Node as YamlNode,
  type Pair,
  Parser,
  Scalar,
  type ScalarTag,
  type Schema,
  type YAMLMap,
  type YAMLParseError,
  type YAMLSeq,
  type YAMLWarning,
} from "yaml";
import {
  fail,
  type Loading,
  LoadStopped,
  NAME_MAX,
  type Position,
  quote,
  spend,
  unitsOf,
} from "./scope.ts";
import type { ListNode, MapNode, Mark, Node, ScalarNode } from "./nodes.ts";

/** The tags of Compose: how a value of an override changes that of the file before. */
const MARKS: Readonly<Record<string, Mark>> = { "!reset": "reset", "!override": "override" };

/** Maximum size of one file, in bytes. */
export const FILE_BYTES_MAX = 1024 * 1024;
const DEPTH_MAX = 100;
const ALIASES_MAX = 1_000;

/** About 9,000 lines, which take 0.2 s of one processor; a file of 30 services takes 0.02 s. */
const TOKENS_MAX = 60_000;

const TOO_DEEP = `must not be nested deeper than ${DEPTH_MAX} levels`;

/** YAML 1.1 octal numbers, which Compose reads as such (`mode: 0440`). */
const OCTAL = /^[-+]?0[0-7]+$/;

/** YAML 1.2 would read these as decimal numbers, Compose reads them as text. */
const LEADING_ZERO = /^[-+]?0[0-9]+$/;

/** Integers that are text in YAML 1.2 and numbers for Compose: with underscores, and binary ones. */
const OLDER_INTEGER = /^[-+]?(?:0x[0-9A-Fa-f_]+|0b[01_]+|[0-9][0-9_]*)$/;

/** @returns The root; `undefined` for an empty file, and after an error. */
export async function parseYaml(
  text: string,
  file: string | null,
  loading: Loading,
): Promise<Node | undefined> {
  const start = { file, line: 1, column: 1 };
  if (text.length > FILE_BYTES_MAX || new TextEncoder().encode(text).length > FILE_BYTES_MAX) {
    return fail(loading, "", "must have at most 1 MiB", start);
  }
  const lines = new LineCounter();
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const tokens = await tokensOf(text, lines, loading);
  if (typeof tokens === "string") return fail(loading, "", tokens, start);
  // An included file may have many, and few nodes.
  spend(loading, tokens.count, "", start);
  const composer = new Composer({
    version: "1.2",
    schema: "core",
    // Comparing each key with all others takes quadratic time; readMap() does it.
    uniqueKeys: false,
  });
  const [document, second] = composer.compose(tokens.tokens, true, text.length);
  if (!document) return undefined;
  // Warnings are about tags and directives that would be ignored.
  const [problem] = [...document.errors, ...document.warnings].filter((each) => !isMark(each));
  if (problem) {
    const message = problem.code === TAG_PROBLEM
      ? `has a tag that is not supported: ${quote(problem.message.replace("Unresolved tag: ", ""))}`
      : `is not valid YAML: ${problem.message}`;
    return fail(loading, "", message, positionAt(problem.pos[0]));
  }
  if (second) {
    const at = positionAt(second.range[0]);
    return fail(loading, "", "must be one YAML document, and another one starts here", at);
  }
  if (document.contents === null) return undefined;
  await loading.pause();
  return new TreeReader(loading, positionAt, document.schema).read(document.contents, "", 0);
}

const TAG_PROBLEM = "TAG_RESOLVE_FAILED";

/** Whether the parser's complaint is about a tag that has a meaning in Compose. */
const isMark = ({ code, message }: YAMLParseError | YAMLWarning) =>
  code === TAG_PROBLEM && Object.keys(MARKS).some((tag) => message === `Unresolved tag: ${tag}`);

/** Tokens between two pauses: about 1 ms. */
const TOKENS_PER_STEP = 256;

/**
 * Parses the text, unless that would take long (10 µs per token) or exhaust the stack.
 *
 * @returns The reason if it is refused.
 */
async function tokensOf(
  text: string,
  lines: LineCounter,
  loading: Loading,
): Promise<{ tokens: CST.Token[]; count: number } | string> {
  const tokens: CST.Token[] = [];
  const parser = new Parser(lines.addNewLine);
  lines.addNewLine(0);
  let count = 0;
  let brackets = 0;
  let dashes = 0;
  for (const token of new Lexer().lex(text)) {
    if (++count > TOKENS_MAX) return `must have at most ${TOKENS_MAX} words and signs`;
    if (token === "[" || token === "{") brackets++;
    else if (token === "]" || token === "}") brackets--;
    else if (token === "-" || token === "?") dashes++;
    else if (token === "\n") dashes = 0;
    if (brackets + dashes > DEPTH_MAX) return TOO_DEEP;
    tokens.push(...parser.next(token));
    if (count % TOKENS_PER_STEP === 0) await loading.pause();
  }
  tokens.push(...parser.end());
  return { tokens, count };
}

interface AnchoredNode {
  read: Node;
  /** The work that it took, see {@linkcode spend}. */
  size: number;
  /** Levels below it. */
  height: number;
}

/** Converts the parser's nodes. A class because it protects the anchors and the count of aliases. */
class TreeReader {
  readonly #anchors = new Map<string, YamlNode>();
  /** The target of each alias: an anchor's name may be used again further down. */
  readonly #targets = new Map<Alias, YamlNode>();
  /** Results for anchored nodes, because aliases would multiply the work. */
  readonly #read = new Map<YamlNode, AnchoredNode>();
  /** The anchored nodes around the current one. */
  readonly #open = new Set<YamlNode>();
  #aliases = 0;
  /** The greatest depth so far. */
  #deepest = 0;

  constructor(
    readonly loading: Loading,
    readonly positionAt: (offset: number) => Position,
    readonly schema: Schema,
  ) {}

  read(node: unknown, path: string, depth: number): Node | undefined {
    const at = this.positionAt((node as YamlNode | null)?.range?.[0] ?? 0);
    spend(this.loading, 1, path, at);
    if (depth > DEPTH_MAX) {
      fail(this.loading, path, TOO_DEEP, at);
      throw new LoadStopped();
    }
    this.#deepest = Math.max(this.#deepest, depth);
    if (isAlias(node)) return this.#readAlias(node, path, depth, at);
    if (isScalar(node)) {
      if (node.anchor) this.#anchors.set(node.anchor, node);
      const read = readScalar(node, at, this.schema);
      if (typeof read.value === "string") spend(this.loading, unitsOf(read.value), path, at);
      return read;
    }
    if (!isMap(node) && !isSeq(node)) return { kind: "scalar", value: null, text: "", at };
    return node.anchor
      ? this.#readAnchored(node, path, depth, at)
      : this.#readItems(node, path, depth, at);
  }

  #readItems(node: YAMLMap | YAMLSeq, path: string, depth: number, at: Position): Node {
    const read = isMap(node)
      ? this.#readMap(node, path, depth, at)
      : this.#readList(node.items, path, depth, at);
    return { ...read, ...markOf(node) };
  }

  #readAnchored(node: YAMLMap | YAMLSeq, path: string, depth: number, at: Position): Node {
    const { budget } = this.loading;
    const [left, deepest] = [budget.left, this.#deepest];
    this.#anchors.set(node.anchor!, node);
    this.#open.add(node);
    this.#deepest = depth;
    const read = this.#readItems(node, path, depth, at);
    this.#open.delete(node);
    this.#read.set(node, { read, size: left - budget.left, height: this.#deepest - depth });
    this.#deepest = Math.max(deepest, this.#deepest);
    return read;
  }

  #readAlias(alias: Alias, path: string, depth: number, at: Position): Node | undefined {
    const target = this.#targets.get(alias) ?? this.#anchors.get(alias.source);
    if (!target) return fail(this.loading, path, `unknown anchor ${quote(alias.source)}`, at);
    if (this.#open.has(target)) {
      return fail(this.loading, path, `anchor ${quote(alias.source)} contains itself`, at);
    }
    if (++this.#aliases > ALIASES_MAX) {
      fail(this.loading, path, `limit of ${ALIASES_MAX} aliases reached`, at);
      throw new LoadStopped();
    }
    this.#targets.set(alias, target);
    const known = this.#read.get(target);
    if (!known || depth + 1 + known.height > DEPTH_MAX) return this.read(target, path, depth + 1);
    this.#deepest = Math.max(this.#deepest, depth + 1 + known.height);
    spend(this.loading, known.size + 1, path, at);
    return known.read;
  }

  #readList(items: unknown[], path: string, depth: number, at: Position): ListNode {
    const read = items.map((item, index) => this.read(item, `${path}[${index}]`, depth + 1));
    return { kind: "list", items: read.filter((item) => item !== undefined), at };
  }

  #readMap(map: YAMLMap, path: string, depth: number, at: Position): MapNode {
    const entries: MapNode["entries"] = new Map();
    const merged: MapNode["entries"][] = [];
    for (const { key, value } of map.items as Pair<unknown, unknown>[]) {
      const name = this.#readKey(key, path);
      if (name === undefined) continue;
      const { at: where } = name;
      const inner = path === "" ? name.text : `${path}.${name.text}`;
      if (entries.has(name.text)) fail(this.loading, inner, "is given twice", where);
      if (name.text === "__proto__") fail(this.loading, inner, "is not allowed as a name", where);
      // An empty value has no position of its own.
      const read = value === null
        ? { kind: "scalar" as const, value: null, text: "", at: where }
        : this.read(value, inner, depth + 1);
      if (!read) continue;
      if (name.text === "<<" && name.isPlain) merged.push(...this.#mergeSources(read, inner));
      else entries.set(name.text, { key: where, value: read });
    }
    // Own keys win, then the keys that were merged first.
    for (const source of merged) {
      for (const [name, entry] of source) if (!entries.has(name)) entries.set(name, entry);
    }
    return { kind: "map", entries, at };
  }

  #readKey(key: unknown, path: string) {
    const resolved = isAlias(key) ? this.#anchors.get(key.source) : key;
    const at = this.positionAt((key as YamlNode | null)?.range?.[0] ?? 0);
    if (isScalar(resolved) && resolved.value !== null) {
      if (resolved.anchor) this.#anchors.set(resolved.anchor, resolved);
      const text = typeof resolved.value === "string"
        ? resolved.value
        : resolved.source ?? String(resolved.value);
      if (text.length > NAME_MAX) return fail(this.loading, path, LONG_KEY, at);
      spend(this.loading, unitsOf(text), path, at);
      return { text, isPlain: resolved.type === "PLAIN", at };
    }
    return fail(this.loading, path, "must have only strings as keys", at);
  }

  #mergeSources(node: Node, path: string): MapNode["entries"][] {
    const sources = node.kind === "list" ? node.items : [node];
    return sources.flatMap((source) => {
      if (source.kind === "map") return [source.entries];
      fail(this.loading, path, "must be an alias of a map, or a list of these", source.at);
      return [];
    });
  }
}

const LONG_KEY = `must have only keys of at most ${NAME_MAX} characters`;

const markOf = ({ tag = "" }: YamlNode) => Object.hasOwn(MARKS, tag) ? { mark: MARKS[tag]! } : {};

function readScalar(scalar: Scalar, at: Position, schema: Schema): ScalarNode {
  const mark = markOf(scalar);
  if (mark.mark && scalar.type === "PLAIN") {
    // The parser takes a scalar with a tag of ours for a string.
    return { ...readScalar(untagged(scalar, schema), at, schema), ...mark };
  }
  const { value, source, tag, type } = scalar;
  const text = source ?? String(value);
  const isUntyped = type === "PLAIN" && tag === undefined;
  if (isUntyped && typeof value === "string" && OLDER_INTEGER.test(text)) {
    return readInteger(text.replaceAll("_", ""), at);
  }
  if (isUntyped && typeof value === "number" && LEADING_ZERO.test(text)) {
    if (!OCTAL.test(text)) return { kind: "scalar", value: text, text, at };
    return { kind: "scalar", value: parseInt(text, 8), text: String(parseInt(text, 8)), at };
  }
  const isKnown = value === null || typeof value === "string" || typeof value === "number" ||
    typeof value === "boolean";
  return { kind: "scalar", value: isKnown ? value : String(value), text, at, ...mark };
}

/** A plain scalar as it would be without its tag. */
function untagged({ source = "" }: Scalar, { tags }: Schema): Scalar {
  const scalarTag = tags.find((each) =>
    each.default === true && !each.collection && each.test?.test(source)
  ) as ScalarTag | undefined;
  const value = scalarTag ? scalarTag.resolve(source, () => {}, {}) : source;
  const scalar = isScalar(value) ? value : new Scalar(value);
  return Object.assign(scalar, { source, type: "PLAIN" as const });
}

/** @param text Without underscores. */
function readInteger(text: string, at: Position): ScalarNode {
  const digits = text.replace(/^[-+]/, "");
  const isOctal = OCTAL.test(digits);
  const size = isOctal ? parseInt(digits, 8) : Number(digits);
  const value = text.startsWith("-") ? -size : size;
  return { kind: "scalar", value, text: /^0./.test(digits) ? String(value) : text, at };
}
