import { equal, match, ok, rejects } from "node:assert/strict";
import { compileLinearPattern } from "../../../services/input/linear_pattern.ts";
import { AppError } from "../../../services/errors.ts";
import { leastProcessorMsOf } from "../../helpers/in_time.ts";

const CATASTROPHIC = /^query\.q: Pattern can backtrack catastrophically: /;

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
    "(a|a?)+$",
    "^(\\w+\\s?)*$",
    "([a-zA-Z]+)*$",
    "(\\d+,?)+$",
    "(.*)*x",
    "(x+x+)+y",
    "^(([a-z])+.)+[A-Z]([a-z])+$",
    "(a{2,}){2,}$",
    "(a{1,}){1,}b",
    "(.*a){12}",
    "(a+){10}b",
    "(a|a){30}b",
    "(a|aa){25}$",
    "((a|b)+|c)+$",
    "(?:(?:a)+?)+?b",
    "(\\Qa\\E+)+b",
    "(?P<n>a+)+",
    "(?i:x+)*",
  ]
) {
  Deno.test(`a pattern that can backtrack catastrophically is refused: ${pattern}`, async () => {
    ok(
      CATASTROPHIC.test(await refusal(pattern) ?? "it passes"),
      await refusal(pattern) ?? "it passes",
    );
  });
}

for (
  const [pattern, sentence] of [
    [
      "(?=a)b",
      "Invalid pattern: invalid or unsupported Perl syntax: `(?=`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(?!a)b",
      "Invalid pattern: invalid or unsupported Perl syntax: `(?!`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(?<=a)b",
      "Invalid pattern: invalid named capture: `(?<=a)b`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(?<!a)b",
      "Invalid pattern: invalid named capture: `(?<!a)b`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(a)\\1",
      "Invalid pattern: invalid escape sequence: `\\1`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(?<n>a)\\k<n>",
      "Invalid pattern: invalid escape sequence: `\\k`; lookaround, atomic groups and back-references are not supported",
    ],
    [
      "(?>a)",
      "Invalid pattern: invalid or unsupported Perl syntax: `(?>`; lookaround, atomic groups and back-references are not supported",
    ],
    ["a++", "Invalid pattern: invalid nested repetition operator: `++`"],
    ["(a", "Invalid pattern: missing closing ): `(a`"],
    ["a)", "Invalid pattern: unexpected ): `a)`"],
    ["[a", "Invalid pattern: missing closing ]: `[a`"],
    ["*a", "Invalid pattern: missing argument to repetition operator: `*`"],
    ["a\\", "Invalid pattern: trailing backslash at end of expression"],
    ["[z-a]", "Invalid pattern: invalid character class range: `z-a`"],
    ["\\u00e9", "Invalid pattern: invalid escape sequence: `\\u`"],
    ["a{2,1}", "Invalid pattern: invalid repeat count: `{2,1}`"],
    ["a{2}{3}", "Invalid pattern: invalid nested repetition operator: `{2}{3}`"],
    ["\\p{Nonsense}", "Invalid pattern: invalid character class range: `\\p{Nonsense}`"],
    ["x".repeat(201), "Pattern is longer than 200 characters"],
  ] as const
) {
  Deno.test(`an invalid pattern is refused with the reason: ${pattern}`, async () => {
    equal(await refusal(pattern), `query.q: ${sentence}`);
  });
}

for (const pattern of ["[a-z]{221}", "\\w{1,50}\\w{1,50}\\w{1,50}$", "(\\p{L}{1,30}){1,9}"]) {
  Deno.test(`a pattern that would need a huge automaton is refused: ${pattern}`, async () => {
    equal(
      await refusal(pattern),
      "query.q: Pattern is too large: its repetitions add up to too many states",
    );
  });
}

for (const pattern of ["(a{1000}){5}", "((a{1,9}){1,9}){1,1000}", "a{999999999}", "(()){1001}"]) {
  Deno.test(`a repetition beyond the engine's limits is refused: ${pattern}`, async () => {
    match(await refusal(pattern) ?? "it passes", /^query\.q: (Invalid p|P)attern/);
  });
}

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
