import { equal } from "node:assert/strict";
import { requestWords } from "../../ui/base/left_request.ts";

for (
  const [request, words] of [
    ["POST /api/stacks", "Store a new stack"],
    ["PUT /api/stacks/shop/source", "Store sources of stack shop"],
    ["POST /api/stacks/shop/deploy", "Deploy stack shop"],
    ["POST /api/stacks/shop/update", "Update stack shop"],
    ["POST /api/containers/web%201/update", "Update container web 1"],
    ["POST /api/later/shop", "POST /api/later/shop"],
  ] as const
) {
  Deno.test(`requestWords() of ${request} is ${words}`, () => equal(requestWords(request), words));
}
