import { deepEqual, equal, throws } from "node:assert/strict";
import {
  assertExecAllowed,
  parseExecAllowlist,
} from "../../../../services/containers/exec/allowlist.ts";
import { splitWords } from "../../../../services/containers/exec/shell_words.ts";
import { AppError } from "../../../../services/errors.ts";
import { VARIABLES } from "../../../../services/config/variables.ts";

const allowlist = parseExecAllowlist(["ps", "df -h", "ls *", "sh -c 'id -u'", "cat /var/log *"]);

const refusal = (command: string, list = allowlist): string | undefined => {
  try {
    assertExecAllowed(list, splitWords(command));
    return undefined;
  } catch (error) {
    equal(error instanceof AppError && error.code, "forbidden", String(error));
    return (error as AppError).message;
  }
};

for (
  const command of [
    "ps",
    " ps ",
    "'p's",
    "df -h",
    "df  '-h'",
    "ls",
    "ls -l /",
    "ls '; rm -rf /'",
    'sh -c "id -u"',
    "cat /var/log",
    "cat /var/log /etc/passwd",
  ]
) {
  Deno.test(`the allowlist allows ${command}`, () => equal(refusal(command), undefined));
}

for (
  const [command, message] of [
    ["rm -rf /", "rm is not allowed"],
    ["ps aux", "ps is not allowed with these arguments"],
    ["df", "df is not allowed without arguments"],
    ["df -h /", "df is not allowed with these arguments"],
    ["df -hx", "df is not allowed with these arguments"],
    ["lsof", "lsof is not allowed"],
    ["'ls -l'", "ls -l is not allowed"],
    ["'ls ' -l", "ls  is not allowed"],
    ["./ls", "./ls is not allowed"],
    ["LS", "LS is not allowed"],
    ["/bin/ls", "/bin/ls is not allowed"],
    ["sh -c id -u", "sh is not allowed with these arguments"],
    ["sh -c 'id -u; id'", "sh is not allowed with these arguments"],
    ["cat /var/log/../../etc/shadow", "cat is not allowed with these arguments"],
    ["ls; rm -rf /", undefined],
    ["ls && id", undefined],
    ["ls | sh", undefined],
    ["ls $(id)", undefined],
    ["'*'", "* is not allowed"],
  ] as const
) {
  Deno.test(`the allowlist refuses ${command}`, () => {
    const shown = refusal(command);
    if (message !== undefined) equal(shown, message);
    else equal(/run without a shell/.test(shown ?? "allowed"), true);
  });
}

Deno.test("an entry is a prefix only where a blank and a star end it", () => {
  deepEqual(parseExecAllowlist(["ls *", "ls*", "ls '*'", "ls \\*", " df\t* ", "", "  "]), [
    { argv: ["ls"], isPrefix: true },
    { argv: ["ls*"], isPrefix: false },
    { argv: ["ls", "*"], isPrefix: false },
    { argv: ["ls", "*"], isPrefix: false },
    { argv: ["df"], isPrefix: true },
  ]);
});

for (
  const [entry, message] of [
    ["*", "Entry *: No program given"],
    ["ls 'a", "Entry ls 'a: Unclosed quotation (single quote)"],
    ["'' *", "Entry '' *: No program given"],
  ] as const
) {
  Deno.test(`an entry that could never match is refused: ${entry}`, () => {
    throws(() => parseExecAllowlist(["ps", entry]), (error) => {
      equal((error as AppError).message, message);
      return error instanceof AppError;
    });
  });
}

Deno.test("the built-in allowlist is readable and allows no program to be named freely", () => {
  const { parse, fallback } = VARIABLES.execAllowlist;
  const builtIn = parseExecAllowlist(parse(fallback));
  equal(builtIn.length, 30);
  for (const command of ["ps", "df -h", "ls -la /", "uname -a"]) {
    equal(refusal(command, builtIn), undefined, command);
  }
  for (
    const command of [
      "sh",
      "sh -c id",
      "env",
      "printenv",
      "cat /etc/shadow",
      "cat /proc/1/environ",
      "date -s 0",
      "hostname x",
      "ip link set eth0 down",
      "busybox sh",
      "kill 1",
      "",
    ]
  ) {
    throws(() => assertExecAllowed(builtIn, splitWords(command)), AppError, command);
  }
});

Deno.test("an empty allowlist allows nothing", () => {
  equal(refusal("ps", []), "ps is not allowed");
});
