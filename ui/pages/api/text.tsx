/** Texts of the API document. @module */

import type { Schema } from "./document.ts";
import type { SchemaWriter } from "./schema.ts";

/** Text with code between backticks, and with empty lines between paragraphs. */
export function Paragraphs({ text }: { text: string }) {
  return (
    <>
      {text.split(/\n\s*\n/).filter(Boolean).map((paragraph, at) => (
        <p key={at}>
          <Prose text={paragraph} />
        </p>
      ))}
    </>
  );
}

/** Text with code between backticks. */
export function Prose({ text }: { text: string }) {
  return (
    <>{text.split(/`([^`]*)`/).map((part, at) => at % 2 ? <code key={at}>{part}</code> : part)}</>
  );
}

/** A schema as a type of TypeScript. */
export function SchemaText({ schema, writer }: { schema: Schema; writer: SchemaWriter }) {
  return (
    <pre class="schema">
      {writer.lines(schema).map(({ text, note }) => [
        text,
        note && <span key={note} class="muted">{`  // ${note}`}</span>,
        "\n",
      ])}
    </pre>
  );
}
