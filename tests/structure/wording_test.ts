/**
 * Phrases that this project avoids, because each has a plainer one. A line that needs one ends with
 * `wording: allow`.
 *
 * @module
 */

import { deepEqual, match, ok } from "node:assert/strict";

/** Avoided phrases, with the alternative. */
const PHRASES: readonly [phrase: RegExp, instead: string][] = [
  [/\b(no|some|any)body\b/i, "name the subject: no user, a client, any address"],
  [/\bwho(so|m)?ever\b/i, "name the subject: the user, the caller"],
  [/\boneself\b/i, "your own, themselves"],
  [/\banew\b/i, "again"],
  [/\bdeeds?\b/i, "action, operation"],
  [/\bstrangers?\b/i, "anonymous client, unknown caller"],
  [/\b(told|tells?) of\b/i, "reported, reports"],
  [/\blook(s|ed|ing)? after\b/i, "maintain, process"],
  [/\b(is|are) looked at\b/i, "checked, inspected"],
  [/\bmade up for\b/i, "run later, compensated"],
  [/\bcut short\b/i, "interrupted"],
  [/(?<!\bthere )\b(is|are|was|were) no (?!longer|more|less|further)[a-z]+/i, "is not a"],
  [/\b(is|was) another than\b/i, "has changed, differs from"],
  [/\bat the most\b/i, "at most"],
  [/\b(brought to|at) its end\b/i, "finished, when it ends"],
  [/\bcom(e|es|ing) into (being|the world)\b/i, "is created"],
  [/\b(writ(e|es|ing|ten)|wrote|tak(e|es|ing|en)|took) down\b/i, "record, stop"],
  [/\blies? (in|beside|below|there)\b/i, "is in, is next to"],
];

/** A comment begins with the noun that it describes, not with a clause that stands for one. */
const HEADLESS = /^(What|Which|Where|Whose|Who|Whom)\b/;

/** Files with text that people read. */
const FILES = /\.(tsx?|js|html|css|md|sh|ya?ml|conf|service|example)$|^\.ci\/run$|Dockerfile$/;

/** The list itself, and generated files. */
const EXCEPT = /^tests\/structure\/(wording_test\.ts|openapi\.snapshot\.json)$|lock/;

const ALLOWED = /wording: allow/;

const root = new URL("../../", import.meta.url);

Deno.test("no text uses a phrase that has a plainer one", async () => {
  const found: string[] = [];
  for (const path of await trackedFiles()) {
    const text = await Deno.readTextFile(new URL(path, root));
    for (const [at, line] of text.split("\n").entries()) {
      if (ALLOWED.test(line)) continue;
      for (const [phrase, instead] of PHRASES) {
        const used = phrase.exec(line)?.[0];
        if (used) found.push(`${path}:${at + 1}: "${used}", write: ${instead}`);
      }
    }
  }
  ok(found.length === 0, found.join("\n"));
});

Deno.test("no comment begins with a clause instead of a noun", async () => {
  const found: string[] = [];
  for (const path of await trackedFiles()) {
    if (!/\.(tsx?|css|sh)$/.test(path)) continue;
    const text = await Deno.readTextFile(new URL(path, root));
    for (const [line, comment] of commentsOf(text)) {
      if (HEADLESS.test(comment)) {
        found.push(`${path}:${line}: "${comment}", begin with the noun, "If" or "Whether"`);
      }
    }
  }
  ok(found.length === 0, found.join("\n"));
});

for (
  const [comment, text] of [
    ["What alerts say. @module", "/** What alerts say. @module */"],
    ["Which events a receiver gets.", "  /**\n   * Which events a receiver gets.\n   */"],
    ["Where the cause shows.", "// Where the cause shows.\nconst x = 1;"],
    ["Whose log to read.", "const x = 1; // Whose log to read."],
    ["Who reads jobs.", "# Who reads jobs.\nx=1"],
    ["What is outside.", "{/* What is outside. */}"],
  ] as const
) {
  Deno.test(`the wording test finds the comment in ${JSON.stringify(text)}`, () => {
    deepEqual(commentsOf(text).map(([, found]) => found), [comment]);
    match(comment, HEADLESS);
  });
}

Deno.test("the wording test ignores clauses within a comment, strings and addresses", () => {
  deepEqual(
    commentsOf(
      "// Events of a receiver.\n// What follows is the same comment.\n" +
        '/**\n * Texts.\n *\n * Where they end.\n */\nconst x = "https://What";',
    ),
    [[1, "Events of a receiver."], [4, "Texts."]],
  );
});

for (
  const line of [
    "Nobody can delete oneself",
    "Whoever has it is root on this host",
    "the API key is another than before",
    "how an event comes into the world",
    "a stranger must not fill the disk",
    "the value is no number",
  ]
) {
  Deno.test(`the wording test finds "${line}"`, () => {
    match(line, new RegExp(PHRASES.map(([{ source }]) => source).join("|"), "i"));
  });
}

/** The first line of each comment, with its number. */
function commentsOf(text: string): [line: number, comment: string][] {
  const comments: [number, string][] = [];
  let state: "code" | "lines" | "opened" | "block" = "code";
  for (const [at, line] of text.split("\n").entries()) {
    const [, mark, words] = /^\s*(\{?\/\*\*?|\/\/|#|\*(?!\/))\s?(.*)$/.exec(line) ??
      /\S\s(\/\/|\/\*\*?)\s(.*)$/.exec(line) ?? [];
    if (mark === undefined || words === undefined) {
      state = "code";
      continue;
    }
    const comment = words.replace(/\s*\*\/\}?.*$/, "");
    const begins = mark === "*" ? state === "opened" : mark.includes("/*") || state !== "lines";
    if (begins && comment) comments.push([at + 1, comment]);
    if (mark === "//" || mark === "#") state = "lines";
    else if (line.includes("*/")) state = "code";
    else if (mark !== "*" || comment) state = comment ? "block" : "opened";
  }
  return comments;
}

async function trackedFiles(): Promise<string[]> {
  const { stdout } = await new Deno.Command("git", { args: ["ls-files"], cwd: root }).output();
  return new TextDecoder().decode(stdout).split("\n")
    .filter((path) => FILES.test(path) && !EXCEPT.test(path));
}
