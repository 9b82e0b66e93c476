/** HTTP headers in a form, one in each line. @module */

import { TextArea } from "../components/fields.tsx";

/** @param props.name Its text is read with {@linkcode headersOf}. */
export function HeadersField({ name, value = {} }: {
  name: string;
  value?: Record<string, string> | undefined;
}) {
  const lines = Object.entries(value).map(([header, text]) => `${header}: ${text}`);
  return (
    <TextArea
      label="Headers"
      name={name}
      value={lines.join("\n")}
      rows={3}
      code
      placeholder="Authorization: Bearer …"
      hint={`One in each line, stored encrypted${
        lines.length > 0 ? "; ******** keeps the stored value" : ""
      }`}
      check={(text) => problemOf(text)}
    />
  );
}

/** The headers in the text of a field. */
export const headersOf = (text: string): Record<string, string> =>
  Object.fromEntries(
    linesOf(text).map((line) => {
      const colon = line.indexOf(":");
      return [line.slice(0, colon).trim(), line.slice(colon + 1).trim()];
    }),
  );

function problemOf(text: string): string | undefined {
  const wrong = linesOf(text).find((line) => !/^[^\s:]+\s*:/.test(line));
  return wrong === undefined ? undefined : `Not a header: ${wrong}. Write it as "Name: value"`;
}

const linesOf = (text: string): string[] =>
  text.split("\n").map((line) => line.trim()).filter(Boolean);
