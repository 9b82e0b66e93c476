import { deepEqual, equal, throws } from "node:assert/strict";
import { splitWords } from "../../../../services/containers/exec/shell_words.ts";
import { AppError } from "../../../../services/errors.ts";

for (
  const [command, words] of [
    ["ps", ["ps"]],
    ["  ls   -l\t/tmp ", ["ls", "-l", "/tmp"]],
    ["echo 'a  b' \"c d\"", ["echo", "a  b", "c d"]],
    ["echo a'b'\"c\"\\d", ["echo", "abcd"]],
    ["echo '' \"\"", ["echo", "", ""]],
    ["echo a\\ b \\\\ \\'", ["echo", "a b", "\\", "'"]],
    ['echo \'\\n\' "\\n" "\\\\ \\" \\$ \\`"', ["echo", "\\n", "\\n", '\\ " $ `']],
    ["echo '$HOME' \\$HOME '`id`' 'a|b;c'", ["echo", "$HOME", "$HOME", "`id`", "a|b;c"]],
    ['echo "a;b|c&d<e>f(g)"', ["echo", "a;b|c&d<e>f(g)"]],
    ["ls *.log ~ ? [a] {a,b} #no !", ["ls", "*.log", "~", "?", "[a]", "{a,b}", "#no", "!"]],
    ["echo ä\u00a0ö 😀", ["echo", "ä\u00a0ö", "😀"]],
    ["'my program' x", ["my program", "x"]],
    ["sh -c 'ps | grep x'", ["sh", "-c", "ps | grep x"]],
    ["echo 'a\nb'", ["echo", "a\nb"]],
  ] as const
) {
  Deno.test(`a command is split by the quoting rules: ${JSON.stringify(command)}`, () => {
    deepEqual(splitWords(command), words);
  });
}

for (
  const [command, code, message] of [
    ["", "invalid", "body.command: No program given"],
    ["   ", "invalid", "body.command: No program given"],
    ["''", "invalid", "body.command: No program given"],
    ["'' x", "invalid", "body.command: No program given"],
    ["echo 'a", "invalid", "body.command: Unclosed quotation (single quote)"],
    ['echo "a', "invalid", "body.command: Unclosed quotation (double quote)"],
    ['echo "a\\"', "invalid", "body.command: Unclosed quotation (double quote)"],
    ["echo a\\", "invalid", "body.command: Unclosed quotation (backslash)"],
    ["echo a\0b", "invalid", "body.command: Contains a NUL character"],
    ["echo 'a\0b'", "invalid", "body.command: Contains a NUL character"],
  ] as const
) {
  Deno.test(`a malformed command is refused: ${JSON.stringify(command)}`, () => {
    throws(() => splitWords(command), (error) => {
      equal((error as AppError).message, message);
      return error instanceof AppError && error.code === code;
    });
  });
}

for (
  const command of [
    "ps | sh",
    "ps; id",
    "ps;id",
    "ps && id",
    "ps & id",
    "ps > /etc/passwd",
    "cat < /etc/shadow",
    "echo $(id)",
    "echo `id`",
    'echo "$(id)"',
    'echo "`id`"',
    "echo $HOME",
    "(id)",
    "ps\nid",
    "ps\r\nid",
  ]
) {
  Deno.test(`what only a shell could do is refused: ${JSON.stringify(command)}`, () => {
    throws(
      () => splitWords(command),
      (error) =>
        error instanceof AppError && error.code === "forbidden" &&
        /run without a shell/.test(error.message),
    );
  });
}
