import { equal } from "node:assert/strict";
import { markup, trusted } from "../../../routes/html/markup.ts";

Deno.test("strings are escaped in elements and in attributes", () => {
  const text = `<b a="1" c='2'>&amp;</b>`;
  equal(
    markup`<p title="${text}">${text}</p>`.text,
    `<p title="${ESCAPED}">${ESCAPED}</p>`,
  );
});

const ESCAPED = "&lt;b a=&quot;1&quot; c=&#39;2&#39;&gt;&amp;amp;&lt;/b&gt;";

Deno.test("nested markup stays unchanged, lists are joined, and null and false are left out", () => {
  equal(
    markup`<ul>${["a", "<"].map((text) => markup`<li>${text}</li>`)}</ul>${null}${false}${0}${""}`
      .text,
    "<ul><li>a</li><li>&lt;</li></ul>0",
  );
  equal(markup`<style>${trusted("a>b{}")}</style>`.text, "<style>a>b{}</style>");
});

Deno.test("characters that XML cannot contain are replaced", () => {
  equal(
    markup`${"a\x00b\x1Bc\uFFFFd\uD83De\n\t🔴"}`.text,
    "a\uFFFDb\uFFFDc\uFFFDd\uFFFDe\n\t🔴",
  );
});
