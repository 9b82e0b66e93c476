import { equal, ok, rejects } from "node:assert/strict";
import { compileLinearPattern } from "../../../../services/logs/regex/linear_pattern.ts";
import { AppError } from "../../../../services/errors.ts";
import { leastProcessorMsOf, processorMsOf } from "../../../helpers/in_time.ts";

const CATASTROPHIC = /^query\.q: Pattern can backtrack catastrophically: /;
const TOO_LARGE = /^query\.q: Pattern is too large: /;

async function refusal(
  pattern: string,
  options?: { caseInsensitive?: boolean },
): Promise<string | undefined> {
  try {
    await compileLinearPattern(pattern, options);
    return undefined;
  } catch (error) {
    ok(error instanceof AppError, `${pattern}: ${error}`);
    equal(error.code, "invalid");
    return error.message;
  }
}

for (
  const [pattern, line] of [
    ["error|warn", "a warning"],
    ["^\\d{4}-\\d{2}", "2026-01-01"],
    ["\\bfailed\\b", "it failed twice"],
    ["user=\\w+ id=\\d+", "user=me id=7"],
    ["(GET|POST) /api/.*", "GET /api/containers"],
    [".*timeout.*", "a timeout here"],
    ["\\[ERROR\\].*(db|cache)", "[ERROR] the db is away"],
    ["([0-9]{1,3}\\.){3}[0-9]{1,3}", "from 10.0.0.1"],
    ['"status":\\s*5\\d\\d', '{"status": 503}'],
    ['{"level":"(error|fatal)"', '{"level":"fatal"}'],
    ["(?i)exception", "NullPointerException"],
    ["(?i:out of) memory", "OUT OF memory"],
    ["[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}", "0f8fad5b-d9cb-469f-a165-70867728950e"],
    ["[0-9a-f]{64}", "a".repeat(64)],
    ["^\\s*at .*\\(.*:\\d+\\)$", "  at main (main.ts:1)"],
    ["^\\s*(.*?)\\s*$", "  text  "],
    ["[\\w.+-]+@[\\w-]+\\.[\\w.-]+", "me@example.org"],
    ["https?://[^\\s/]+/.*\\.js", "http://host/app.js"],
    ["(foo|bar|baz)+", "foobar"],
    ["(\\w+\\s)+end", "to the end"],
    ["(a|ab)*c", "aababc"],
    ['("[^"]*",)*"[^"]*"', '"a","b"'],
    ["(/[^/ ]+)+", "/usr/lib"],
    ["[^,]*,[^,]*,[^,]*,[^,]*,x", "1,2,3,4,x"],
    ["ERROR.*user.*login.*failed.*timeout", "ERROR user login failed: timeout"],
    ["a*a*b", "aab"],
    [".{0,100}x", "12345x"],
    ["\\p{Lu}\\p{Ll}+", "Ärger"],
    ["[^\\p{L}]x", "1x"],
    ["\\Q(a+)+\\E", "(a+)+"],
    ["[[:digit:]]+ms", "12ms"],
    ["[]a]+[^]b]", "]]c"],
    ["\\x41\\x{1F600}\\101", "A\u{1F600}A"],
    ["a{,3}b{x}", "a{,3}b{x}"],
    ["^$", ""],
    ["", "anything"],
    ["(?:)*x", "x"],
    ["(?P<n>a)(?<m>b)", "ab"],
    ["a+?b*?", "aa"],
  ] as const
) {
  Deno.test(`an ordinary pattern passes and matches: ${pattern}`, async () => {
    equal(await refusal(pattern), undefined);
    equal((await compileLinearPattern(pattern)).test(line), true);
  });
}

for (
  const pattern of [
    "(a+)+",
    "(a+)+$",
    "(a*)*b",
    "((a+))+$",
    "(a|a)*$",
    "(a|a)*b",
    "(a|aa)+$",
    "(a|ab|b)*c",
    "(a|b|ab)*c",
    "^(\\w+\\s?)*$",
    "([a-zA-Z]+)*$",
    "(\\d+,?)+$",
    "(.*)*x",
    "(.|\\s)*x",
    "(x+x+)+y",
    "(a?b?)*c",
    "((a*|b*)c)*d",
    "(\\w|\\d)+$",
    "(?i)(a|A)*b",
    "(?i:(K|\\x{212A}|k))*b",
    "(\\p{L}|é)*$",
    "([^a]|[^b])*$",
    "([^\\p{L}]|ä)*$",
    "(a{2,}){2,}$",
    "(a{1,9}){1,}b",
    "a*a*a*a*b",
    ".*.*.*.*=",
    "\\w*\\d*\\w*\\d*\\w*\\d*\\w*!",
    "(.*a){12}",
    "(a+){10}b",
    "a.*b.*c.*d.*e",
    "(a?){30}a{30}",
    "(a|a){30}b",
    "(a|aa){25}$",
    "(\\w{1,20}){7}$",
    "a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?a?b",
    "((a|b)+|c)+$",
    "(?:(?:a)+?)+?b",
    "(\\Qa\\E+)+b",
    `(${"(|)".repeat(20)}a)b`,
    `a${"(|)".repeat(20)}$`,
  ]
) {
  Deno.test(`a pattern that can backtrack catastrophically is refused: ${pattern}`, async () => {
    ok(
      CATASTROPHIC.test(await refusal(pattern) ?? "it passes"),
      await refusal(pattern) ?? "it passes",
    );
  });
}

Deno.test("what the case makes ambiguous is refused only where the case does not count", async () => {
  equal(await refusal("(a|A)*b"), undefined);
  ok(CATASTROPHIC.test((await refusal("(a|A)*b", { caseInsensitive: true }))!));
});

for (
  const [pattern, sentence] of [
    ["(?=a)b", "Invalid pattern: Lookahead and lookbehind are not supported"],
    ["(?!a)b", "Invalid pattern: Lookahead and lookbehind are not supported"],
    ["(?<=a)b", "Invalid pattern: Lookahead and lookbehind are not supported"],
    ["(?<!a)b", "Invalid pattern: Lookahead and lookbehind are not supported"],
    ["(a)\\1", "Invalid pattern: Back-references are not supported"],
    ["(?<n>a)\\k<n>", "Invalid pattern: Back-references are not supported"],
    ["(?>a)", "Invalid pattern: Only plain, named and non-capturing groups are supported"],
    ["a++", "Invalid pattern: Possessive quantifiers are not supported"],
    ["(a", "Invalid pattern: Missing closing ) at character 3"],
    ["a)", "Invalid pattern: Unmatched ) at character 2"],
    ["[a", "Invalid pattern: Missing closing ] at character 3"],
    ["*a", "Invalid pattern: Nothing to repeat at character 1"],
    ["a\\", "Invalid pattern: Trailing backslash at character 2"],
    ["[z-a]", "Invalid pattern: Range out of order at character 5"],
    ["\\u00e9", "Invalid pattern: Unknown escape at character 1"],
    [
      "a{2,1}",
      "Invalid pattern: Bounds of a repetition in the wrong order at character 7",
    ],
    ["a{2}{3}", "Invalid pattern: invalid nested repetition operator: `{2}{3}`"],
    ["\\p{Nonsense}", "Invalid pattern: invalid character class range: `\\p{Nonsense}`"],
    ["x".repeat(201), "Pattern is longer than 200 characters"],
  ] as const
) {
  Deno.test(`an invalid pattern is refused with the reason: ${pattern}`, async () => {
    equal(await refusal(pattern), `query.q: ${sentence}`);
  });
}

for (
  const pattern of [
    "(a{1000}){1000}",
    "((a{1,1000}){1,1000}){1,1000}",
    "((((((((((a{99}){99}){99}){99}){99}){99}){99}){99}){99}){99})",
    "a{999999999}",
    "(((^){1000}){1000}){1000}",
    "[a-z]{161}",
    "\\w{1,50}\\w{1,50}\\w{1,50}$",
    "(()){999999999}",
  ]
) {
  Deno.test(`a pattern that would need a huge automaton is refused: ${pattern}`, async () => {
    const said = await refusal(pattern) ?? "it passes";
    ok(TOO_LARGE.test(said), said);
    ok(await leastProcessorMsOf(() => refusal(pattern)) < 50);
  });
}

Deno.test("the analysis is fast for every pattern", async () => {
  const letters = ["a", "b", ".", "\\w", "[^a]", "(", ")", "|", "*", "+", "?", "{2,9}", "(?:", "^"];
  let seed = 1;
  const random = (below: number) => {
    seed = (seed * 48_271) % 2_147_483_647;
    return seed % below;
  };
  let slowest = { ms: 0, pattern: "" };
  for (let round = 0; round < 2_000; round++) {
    let pattern = "";
    while (pattern.length < 10 + random(180)) pattern += letters[random(letters.length)];
    const depth = pattern.split("(").length - pattern.split(")").length;
    pattern = depth > 0 ? pattern + ")".repeat(depth) : "(".repeat(-depth) + pattern;
    let ms = await processorMsOf(() => refusal(pattern));
    if (ms > slowest.ms) ms = Math.min(ms, await leastProcessorMsOf(() => refusal(pattern)));
    if (ms > slowest.ms) slowest = { ms, pattern };
  }
  ok(slowest.ms < 1_000, `${slowest.pattern} took ${slowest.ms} ms`);
});

Deno.test("a pattern that passes takes linear time on a text made to break it", async () => {
  const text = "a".repeat(16_384);
  for (const pattern of ["a*a*[bc]", "[ab]*a[ab]{30}[xy]", ".{0,100}[xyz]", "[0-9a-f]{64}[xyz]"]) {
    const compiled = await compileLinearPattern(pattern);
    equal(compiled.test(text), false);
    ok(await leastProcessorMsOf(() => compiled.test(text), 3) < 1_000, pattern);
  }
});

Deno.test("without regard to case, letters beyond ASCII match either case", async () => {
  equal((await compileLinearPattern("größe", { caseInsensitive: true })).test("GRÖßE"), true);
  equal((await compileLinearPattern("größe")).test("GRÖßE"), false);
  await rejects(compileLinearPattern("(", { caseInsensitive: true }), AppError);
});
