import { equal } from "node:assert/strict";
import { under } from "../../../../services/automation/integrations/request.ts";

for (
  const [base, url] of [
    ["http://a", "http://a/api?q=a+b%26c"],
    ["http://a/", "http://a/api?q=a+b%26c"],
    ["http://a/b//?x=1#y", "http://a/b/api?q=a+b%26c"],
  ] as const
) {
  Deno.test(`the API under ${base} is ${url}`, () =>
    equal(under(base, "/api", { q: "a b&c" }).href, url));
}
