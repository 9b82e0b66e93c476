import { equal, throws } from "node:assert/strict";
import {
  parseTemplate,
  renderTemplate,
  TemplateError,
} from "../../../services/messages/template.ts";

const VALUES = {
  title: 'Container "web" & <co>',
  resolved: false,
  link: null,
  event: { data: { container: "web", containers: ["a", "b"], value: 95.5, object: { a: 1 } } },
};

const render = (template: string, contentType = "text/plain") =>
  renderTemplate(parseTemplate(template), VALUES, contentType);

for (
  const [template, expected, contentType] of [
    ["{{ event.data.container }}: {{title}}", 'web: Container "web" & <co>'],
    ["{{ event.data.missing.deeper }}|{{ link }}|", "||"],
    ["{{#if link}}yes{{else}}no{{/if}}", "no"],
    ["{{#if resolved}}yes{{/if}}{{#if title}}title{{/if}}", "title"],
    ["{{#each event.data.containers}}<{{ this }}>{{else}}none{{/each}}", "<a><b>"],
    ["{{#each event.data.none}}<{{ this }}>{{else}}none{{/each}}", "none"],
    [
      "{{#each event.data.containers}}{{#if this}}{{ event.data.value }}{{/if}}{{/each}}",
      "95.595.5",
    ],
    [
      '{"a": "{{ title }}", "b": {{ event.data.value }}, "c": {{ event.data.object }}}',
      '{"a": "Container \\"web\\" & <co>", "b": 95.5, "c": {"a":1}}',
      "application/json",
    ],
    ["{{ title }}", "Container%20%22web%22%20%26%20%3Cco%3E", "application/x-www-form-urlencoded"],
    [
      "<p>{{ title }}</p>",
      "<p>Container &quot;web&quot; &amp; &lt;co&gt;</p>",
      "text/html; charset=utf-8",
    ],
    ["{{ constructor.name }}{{ __proto__ }}{{ event.toString }}", ""],
  ] as [string, string, string?][]
) {
  Deno.test(`${template} becomes ${expected}`, () =>
    equal(render(template, contentType), expected));
}

for (
  const [template, problem] of [
    ["a\n{{#if title}}", "line 2: `{{#if}}` is not closed"],
    ["{{/if}}", "line 1: `{{/if}}` closes no block"],
    ["{{#if a}}{{/each}}", "line 1: `{{/each}}` closes no block"],
    ["{{else}}", "line 1: `{{else}}` outside of a block"],
    ["{{#if a}}{{else}}{{else}}{{/if}}", "line 1: `{{else}}` outside of a block"],
    ["{{ alert(1) }}", "line 1: `alert(1)` is not a field, e.g. event.data.container"],
    ["{{ title", "line 1: `{{` without `}}`"],
    ["{{#if a}}".repeat(11), "line 1: more than 10 blocks in each other"],
  ] as const
) {
  Deno.test(`${JSON.stringify(template).slice(0, 60)} is refused`, () => {
    throws(() => parseTemplate(template), new TemplateError(problem));
  });
}

Deno.test("the size of the result is limited", () => {
  const nested = "{{#each list}}".repeat(4) + "x" + "{{/each}}".repeat(4);
  const list = Array.from({ length: 100 }, (_, at) => at + 1);
  throws(
    () => renderTemplate(parseTemplate(nested), { list }, "text/plain"),
    /more than 65536 characters/,
  );
});

Deno.test("renderTemplate() counts the steps of blocks in each other, also without any text", () => {
  const list = Array.from({ length: 100 }, (_, index) => index);
  const nested = (depth: number, inner: string): string =>
    depth === 0 ? inner : `{{#each list}}${nested(depth - 1, inner)}{{/each}}`;
  for (const inner of ["", "{{ none }}"]) {
    throws(
      () => renderTemplate(parseTemplate(nested(10, inner)), { list }, "text/plain"),
      /^TemplateError: the blocks make more than 200000 texts and fields$/,
    );
  }
  equal(renderTemplate(parseTemplate(nested(2, "a")), { list }, "text/plain").length, 10_000);
});

Deno.test("parseTemplate() reads a template of opening braces", () => {
  throws(() => parseTemplate("{{".repeat(8_000)), /`{{` without `}}`/);
});
