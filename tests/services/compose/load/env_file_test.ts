/** Files of variables. What Compose v2 reads is the right value, where 1.29 differs. */

import { deepEqual } from "node:assert/strict";
import { parseEnvFile, parseRawEnvFile } from "../../../../services/compose/load/env_file.ts";
import { loadProject } from "../../../../services/compose/load/load.ts";
import { newLoading } from "../../../../services/compose/load/scope.ts";

type Parse = typeof parseEnvFile;

/** The variables of a file, with the messages of its errors. */
function read(
  text: string,
  given: Record<string, string> = {},
  { parse = parseEnvFile, before }: { parse?: Parse; before?: Map<string, string> } = {},
) {
  const loading = newLoading(() => undefined, { directory: null });
  const lookup = (name: string) => Object.hasOwn(given, name) ? given[name] : undefined;
  const variables = parse(text, ".env", "", loading, lookup, before);
  return {
    variables: Object.fromEntries(variables),
    errors: loading.errors.map(({ line, column, message }) => `${line}:${column} ${message}`),
  };
}

/** The value of `X` in a text. */
const VALUES: readonly (readonly [text: string, value: string])[] = [
  // Comments begin with a space and a number sign.
  ["X=#ff8800", "#ff8800"],
  ["X= #pass", "#pass"],
  ["X= # only a comment", "# only a comment"],
  ["X=#a #b", "#a"],
  ["X=a#b", "a#b"],
  ["X=a #b", "a"],
  ["X=a   # b", "a"],
  ["X=a\t# b", "a\t# b"],
  ["X=a # b # c", "a"],
  ["X='a' # b", "a"],
  ['X="a #b"#c', "a #b"],
  // Spaces.
  ["X =a", "a"],
  ["X= a b \t", "a b"],
  ["  X=a", "a"],
  ["\tX=a\r\nY=b", "a"],
  ["\uFEFFX=a", "a"],
  ["export X=a", "a"],
  ["export\tX=a", "a"],
  ["exported=b\nX=a", "a"],
  ["X=' a '", " a "],
  ['X=" a "', " a "],
  ["X=", ""],
  ["X=''", ""],
  ["X=\nY=a", ""],
  // Separators.
  ["X: a", "a"],
  ["X:a", "a"],
  ["X=a=b", "a=b"],
  ["X=a:b", "a:b"],
  ["X: a=b", "a=b"],
  // Escapes are those of double quotes only.
  ["X=a\\nb", "a\\nb"],
  ["X='a\\nb'", "a\\nb"],
  ["X='it\\'s'", "it's"],
  ["X='a\\\\'", "a\\\\"],
  ['X="a\\nb\\tc\\rd"', "a\nb\tc\rd"],
  ['X="a\\\\nb"', "a\\nb"],
  ['X="say \\"a\\""', 'say "a"'],
  ['X="\\a\\b\\f\\v"', "\x07\b\f\v"],
  ['X="\\0101\\0044A"', "A$A"],
  ['X="\\d\\9"', "\\d\\9"],
  ['X="it\'s"', "it's"],
  ["X='say \"a\"'", 'say "a"'],
  ['X="first\nsecond"', "first\nsecond"],
  ["X='first\nsecond'", "first\nsecond"],
  // Variables.
  ["A=a\nX=$A", "a"],
  ["A=a\nX=${A}b", "ab"],
  ['A=a\nX="${A} $A"', "a a"],
  ["A=a\nX='$A'", "$A"],
  ['X="\\$A"', "$A"],
  ["X=$$A", "$A"],
  ["X=${A:-b}", "b"],
  ['X=${A:-{"b":1}}', '{"b":1}'],
  ["X=abc$", "abc$"],
  ["X=a$5b", "a$5b"],
  ["X=$", "$"],
  ["X=$GIVEN", "given"],
  ["GIVEN=own\nX=$GIVEN", "given"],
  ["X=a\nX=b", "b"],
];

for (const [text, value] of VALUES) {
  Deno.test(`parseEnvFile() reads ${JSON.stringify(text)}`, () => {
    const { variables, errors } = read(text, { GIVEN: "given" });
    deepEqual([variables.X, errors], [value, []]);
  });
}

Deno.test("parseEnvFile() reads names of letters, digits and some signs", () => {
  const names = ["a.b", "a-b", "a[0]", "A_1", "1a", "größe", "名前"];

  deepEqual(
    Object.keys(read(names.map((name) => `${name}=x`).join("\n")).variables).sort(),
    names.sort(),
  );
});

Deno.test("parseEnvFile() takes the value of a name alone from outside", () => {
  deepEqual(read("GIVEN\nOTHER\n  GIVEN2  \nLAST", { GIVEN: "a", GIVEN2: "b" }), {
    variables: { GIVEN: "a", GIVEN2: "b" },
    errors: [],
  });
});

Deno.test("parseEnvFile() adds to the variables of the files before, which values may use", () => {
  const before = new Map([["HOST", "db.internal"], ["KEPT", "a"]]);

  deepEqual(read("URL=postgres://${HOST}/shop\nHOST=other\nSECOND=$HOST", {}, { before }), {
    variables: {
      HOST: "other",
      KEPT: "a",
      URL: "postgres://db.internal/shop",
      SECOND: "other",
    },
    errors: [],
  });
});

Deno.test("parseEnvFile() locates its errors", () => {
  deepEqual(read('A=1\nB C\nD="x" y\nE="open\nlol$x=1\n=a\n F G=1\nH=1'), {
    variables: { A: "1", H: "1" },
    errors: [
      "2:1 must have lines of the form NAME=value",
      "3:1 has text after the closing quote of D",
      "4:1 has no closing quote of E",
      "5:1 must have lines of the form NAME=value",
      "6:1 must have lines of the form NAME=value",
      "7:2 must have lines of the form NAME=value",
    ],
  });
});

Deno.test("parseRawEnvFile() keeps lines as they are", () => {
  const text =
    "\uFEFFA=\"a\"\r\n# comment\n  # indented\n\n  B=$A # no comment \nC=\nD\nE='it\\'s'";

  deepEqual(read(text, { D: "given" }, { parse: parseRawEnvFile }), {
    variables: { A: '"a"', B: "$A # no comment ", C: "", D: "given", E: "'it\\'s'" },
    errors: [],
  });
  deepEqual(read("A B=1\n=x\nMISSING", {}, { parse: parseRawEnvFile }), {
    variables: {},
    errors: [
      "1:1 must have lines of the form NAME=value",
      "2:1 must have lines of the form NAME=value",
    ],
  });
});

for (
  const [form, given] of [
    ["text", { env: "A='$x \"1\"'\nB=two\n" }],
    ["variables", { variables: { A: '$x "1"', B: "two" } }],
    ["file", { readFile: (path: string) => path === ".env" ? "A='$x \"1\"'\nB=two\n" : undefined }],
  ] as const
) {
  Deno.test(`a service names .env, which is given as ${form}, as its env file`, async () => {
    for (
      const name of [
        "env_file: .env",
        "env_file: ./.env",
        "env_file: [{path: .env, required: false}]",
      ]
    ) {
      const compose = `services: {web: {image: a, ${name}}}`;
      const { project, errors } = await loadProject({ compose, name: "shop", ...given });
      deepEqual(errors, []);
      deepEqual(project?.services.web?.environment, { A: '$x "1"', B: "two" });
    }
    const compose = "services: {web: {image: a, env_file: /srv/shop/.env}}";
    const { project } = await loadProject({ compose, directory: "/srv/shop", ...given });
    deepEqual(project?.services.web?.environment, { A: '$x "1"', B: "two" });
  });
}
