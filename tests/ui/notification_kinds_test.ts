import { deepEqual } from "node:assert/strict";
import { CHANNEL_KINDS } from "../../services/messages/channels/kinds/mod.ts";
import { KINDS } from "../../ui/pages/notifications/kinds.ts";

Deno.test("the form of a channel offers the service's kinds in its order", () => {
  deepEqual(
    Object.entries(KINDS).map(([id, { name }]) => ({ id, name })),
    CHANNEL_KINDS.map(({ id, name }) => ({ id, name })),
  );
});

for (const { id, fields } of CHANNEL_KINDS) {
  Deno.test(`the form of ${id} has the service's fields`, () => {
    const shown = Object.entries(KINDS[id].fields)
      .map(([name, { type, isSecret, isOptional }]) => ({ name, type, isSecret, isOptional }));
    const known = Object.entries(fields)
      .map(([name, { type, isSecret, isOptional }]) => ({ name, type, isSecret, isOptional }));
    deepEqual(shown, known);
  });

  Deno.test(`the values that ${id} offers are valid`, () => {
    for (const [name, { options = [] }] of Object.entries(KINDS[id].fields)) {
      const [pattern] = fields[name]?.pattern ?? [/(?!)/];
      deepEqual(options.filter((value) => !pattern.test(value)), []);
    }
  });
}
