/** Variables in values: what Compose v2 makes of them. */

import { deepEqual } from "node:assert/strict";
import { interpolate } from "../../../../services/compose/load/interpolate.ts";
import { newLoading } from "../../../../services/compose/load/scope.ts";

const VARIABLES: Record<string, string> = {
  NAME: "ada",
  EMPTY: "",
  LIMITS: '{"cpu":2}',
  _a1: "low",
  DOLLAR: "$NAME",
};

/** The value, or the message of the error, and the messages of warnings. */
function read(text: string) {
  const loading = newLoading(() => undefined, { directory: null });
  const lookup = (name: string) => Object.hasOwn(VARIABLES, name) ? VARIABLES[name] : undefined;
  const at = { file: null, line: 1, column: 1 };
  const value = interpolate(text, lookup, loading, "", at);
  return {
    value: value ?? loading.errors.map(({ message }) => message),
    warnings: loading.warnings.map(({ message }) => message),
  };
}

for (
  const [text, value] of [
    ["plain", "plain"],
    ["$NAME-x ${NAME}x", "ada-x adax"],
    ["$_a1", "low"],
    ["$NAME.$NAME", "ada.ada"],
    // A value is not read again.
    ["$DOLLAR ${NONE-$DOLLAR}", "$NAME $NAME"],
    // Escapes, and dollar signs that begin nothing.
    ["$$NAME $${NAME} $$$NAME", "$NAME ${NAME} $ada"],
    ["a $ b", "a $ b"],
    ["^[a-z]+$", "^[a-z]+$"],
    ["$", "$"],
    ["$}", "$}"],
    ["$1 $-", "$1 $-"],
    ["5$", "5$"],
    ["$(id) $'x'", "$(id) $'x'"],
    ["Host(`^.+$`)", "Host(`^.+$`)"],
    // Defaults.
    ["${NONE:-d} ${NONE-d} ${EMPTY:-d} ${EMPTY-d} ${NAME:-d} ${NAME-d}", "d d d  ada ada"],
    ["${NONE:-}${NONE-}", ""],
    ["${NONE:-/a:-b}", "/a:-b"],
    ["${NONE:--d}", "-d"],
    ["${NONE-a?b}", "a?b"],
    ["${NONE:-a+b}", "a+b"],
    // Replacements.
    ["${NONE:+r}|${NONE+r}|${EMPTY:+r}|${EMPTY+r}|${NAME:+r}|${NAME+r}", "|||r|r|r"],
    // Required ones that are there.
    ["${NAME:?m} ${NAME?m} ${EMPTY?m}", "ada ada "],
    // Nested ones.
    ["${NONE:-$NAME}", "ada"],
    ["${NONE:-${NONE2:-${NAME}}}", "ada"],
    ["${NONE-${NAME} ${NAME}} x", "ada ada x"],
    ["${NAME:+${NAME}-${NONE:-d}}", "ada-d"],
    ["${NONE:-$$NAME}", "$NAME"],
    ["${NONE:-$2a$14$1l.hash}", "$2a$14$1l.hash"],
    // Braces of an operand belong to it.
    ['${LIMITS:-{"cpu":1}}', '{"cpu":2}'],
    ['${NONE:-{"cpu":1}}', '{"cpu":1}'],
    ['x ${LIMITS-{"a":{"b":1}}} y', 'x {"cpu":2} y'],
    ['x ${NONE-{"a":{"b":1}}} y', 'x {"a":{"b":1}} y'],
    ["${NAME:-{{.Name}}}", "ada"],
    ["${NONE:-{{.Name}}}", "{{.Name}}"],
    ["${NONE:-{}} ${NAME}", "{} ada"],
    ["${NAME:+{a}}", "{a}"],
    ["${NAME?{a}} b", "ada b"],
    ['${NONE:-{"a":"${NAME}"}}', '{"a":"ada"}'],
    ["{{.Name}} {$NAME} {${NAME}}", "{{.Name}} {ada} {ada}"],
    ["${NONE:-{}", "{"],
    ["${NONE:-}}", "}"],
  ] as const
) {
  Deno.test(`interpolate() reads ${text}`, () => {
    deepEqual(read(text), { value, warnings: [] });
  });
}

for (
  const [text, message] of [
    ["${", "has ${ without the name of a variable; write $${ for these signs"],
    ["${}", "has ${ without the name of a variable; write $${ for these signs"],
    ["${ NAME}", "has ${ without the name of a variable; write $${ for these signs"],
    ["${1A}", "has ${ without the name of a variable; write $${ for these signs"],
    ["${NAME }", "has   in ${NAME, which is not an operator"],
    ["${NAME!}", "has ! in ${NAME, which is not an operator"],
    ["${NAME", "has no } that ends ${NAME"],
    ["${NAME:-a", "has no } that ends ${NAME"],
    ["${NONE:?is missing}", "variable NONE is required: is missing"],
    ["${EMPTY:?is empty}", "variable EMPTY is required: is empty"],
    ["${NONE?}", "variable NONE is required: not set"],
    ["${NONE?a-b}", "variable NONE is required: a-b"],
    ["${NONE:?give $NAME}", "variable NONE is required: give ada"],
    ["${A-".repeat(30), "has too many nested variables"],
  ] as const
) {
  Deno.test(`interpolate() refuses ${text.slice(0, 40)}`, () => {
    deepEqual(read(text), { value: [message], warnings: [] });
  });
}

Deno.test("interpolate() warns of variables that are not set", () => {
  deepEqual(read("a $NONE b"), {
    value: "a  b",
    warnings: ["variable NONE is not set, and is replaced with nothing"],
  });
});
