import { deepEqual, match, ok } from "node:assert/strict";
import {
  CHANNEL_KIND_IDS,
  CHANNEL_KINDS,
} from "../../../../services/messages/channels/kinds/mod.ts";
import { filesWith } from "../../../helpers/files_with.ts";

const repeated = (names: readonly string[]) => names.filter((name, at) => names.indexOf(name) < at);

Deno.test("every kind has its own id, title and schemes", () => {
  deepEqual(repeated(CHANNEL_KIND_IDS), []);
  deepEqual(repeated(CHANNEL_KINDS.map(({ title }) => title)), []);
  deepEqual(repeated(CHANNEL_KINDS.flatMap(({ schemes }) => schemes)), []);
});

Deno.test("every kind is described, and can be sent", () => {
  for (const { id, description, request, schemes, send, urlForm } of CHANNEL_KINDS) {
    match(description, /^[A-Z][^\n]+[^.]$/, id);
    ok(schemes.some((scheme) => urlForm.startsWith(`${scheme}://`)), id);
    ok((request === undefined) !== (send === undefined), id);
  }
});

Deno.test("every field is labelled, each label once in its kind", () => {
  for (const { id, fields } of CHANNEL_KINDS) {
    const all = Object.values(fields);
    deepEqual(repeated(all.map(({ label }) => label)), [], id);
    for (const { label, hint = "Hint" } of all) {
      match(label, /^[A-Z][\w ]+$/, id);
      match(hint, /^[A-Z][^\n]+[^.]$/, id);
    }
  }
});

Deno.test("no other file lists the kinds, so that a new one is added in one place", async () => {
  const names = CHANNEL_KIND_IDS.map((id) => `"${id}"`);
  deepEqual(await filesWith(names, "services/messages/channels/kinds"), []);
  ok(names.length > 15);
});
