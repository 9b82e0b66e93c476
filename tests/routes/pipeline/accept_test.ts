import { equal } from "node:assert/strict";
import { prefersHtml } from "../../../routes/pipeline/accept.ts";

const BROWSERS = [
  "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8",
  "text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,image/apng," +
  "*/*;q=0.8,application/signed-exchange;v=b3;q=0.7",
];

for (
  const [accept, isPreferred] of [
    ...BROWSERS.map((accept) => [accept, true] as const),
    ["text/html", true],
    ["TEXT/HTML; Q=0.9, */*;q=0.1", true],
    ["text/*, application/json;q=0.5", true],
    ["application/json;q=0.5, text/html;q=0.6", true],
    [undefined, false],
    ["", false],
    ["*/*", false],
    ["application/json", false],
    ["application/json, text/html", false],
    ["application/json, text/html;q=0.9, */*;q=0.1", false],
    ["text/html;q=0", false],
    ["text/html;q=0, text/*", false],
    ["text/html;q=high, */*;q=0.1", false],
    ["text/htmlx, xtext/html", false],
    [`${"a/b,".repeat(1_000)}text/html`, false],
  ] as const
) {
  const name = `${accept?.slice(0, 100)}`;
  Deno.test(`Accept: ${name} ${isPreferred ? "prefers" : "does not prefer"} HTML`, () => {
    const headers = accept === undefined ? new Headers() : new Headers({ accept });
    equal(prefersHtml(new Request("http://localhost/", { headers })), isPreferred);
  });
}
