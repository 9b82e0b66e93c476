import { deepEqual, equal } from "node:assert/strict";
import { matchPath } from "../../ui/paths.ts";

Deno.test("matchPath() finds the page and its parameters", () => {
  equal(matchPath("/")?.path, "/");
  deepEqual(matchPath("/containers/web"), { path: "/containers/:id", params: { id: "web" } });
  deepEqual(matchPath("/containers/web/stats/")?.params, { id: "web", tab: "stats" });
});

for (
  const path of ["/nothing", "/containers/web/nothing", "/containers/a/b/c", "//", "/Containers"]
) {
  Deno.test(`matchPath() does not know ${path}`, () => equal(matchPath(path), undefined));
}
