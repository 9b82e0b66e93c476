/** `longshore config` @module */

import { describeConfig, readConfig } from "../services/config/config.ts";
import { assertNoArguments, EXIT, type Program } from "./program.ts";

/** Maximum width of a column, in characters. */
const VALUE_WIDTH_MAX = 40;

/** @throws {ConfigError} For an invalid variable, after the table. */
export function showConfig(program: Program): number {
  assertNoArguments("config", program);
  const { env, surroundings, print } = program;
  const rows = describeConfig(env, surroundings).map((row) => ({
    ...row,
    value: row.set ? row.value : "",
    default: shortened(row.default),
  }));
  const head = { name: "VARIABLE", value: "VALUE", default: "DEFAULT", meaning: "MEANING" };
  const width = (column: "name" | "value" | "default") =>
    Math.max(...[head, ...rows].map((row) => Math.min(row[column].length, VALUE_WIDTH_MAX)));

  for (const row of [head, ...rows]) {
    print(
      [
        row.name.padEnd(width("name")),
        row.value.padEnd(width("value")),
        row.default.padEnd(width("default")),
        row.meaning,
      ].join("  "),
    );
  }
  print("\nA secret NAME can also be read from the file that NAME_FILE names.");
  readConfig(env, surroundings);
  return EXIT.ok;
}

function shortened(text: string): string {
  return text.length > VALUE_WIDTH_MAX ? text.slice(0, VALUE_WIDTH_MAX - 3) + "..." : text;
}
