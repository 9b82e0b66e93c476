import { equal } from "node:assert/strict";
import { UNLIMITED } from "../../../services/access/scope.ts";
import { hideForeign } from "../../../services/containers/visible.ts";
import { testApp } from "../../helpers/test_app.ts";

const caller = {
  scope: { ...UNLIMITED, stacks: ["shop"] },
};

Deno.test("a reason is searched for foreign names in linear time", () => {
  using app = testApp();
  // Minutes of work, if each dot starts another search.
  const text = `${".-".repeat(1_000_000)}a`;
  equal(hideForeign(app.deps, caller, text), text);
});
