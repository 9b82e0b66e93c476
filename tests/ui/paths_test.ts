import { deepEqual, equal } from "node:assert/strict";
import { matchPath } from "../../ui/paths.ts";

Deno.test("matchPath() finds the page and its parameters", () => {
  equal(matchPath("/")?.path, "/");
  deepEqual(matchPath("/containers/web"), { path: "/containers/:id", params: { id: "web" } });
  deepEqual(matchPath("/containers/web/stats/")?.params, { id: "web", tab: "stats" });
});

Deno.test("matchPath() finds the pages of hosts, besides those of the server", () => {
  const page = { path: "/containers/:id", params: { id: "web" }, host: "edge-7" };
  deepEqual(matchPath("/hosts/edge-7/containers/web"), page);
  deepEqual(matchPath("/hosts/edge-7"), { path: "/", params: {}, host: "edge-7" });
  deepEqual(matchPath("/hosts"), { path: "/hosts", params: {} });
  for (const path of ["users", "hosts", "backups/server", "status-pages/x", "hosts/b/logs"]) {
    equal(matchPath(`/hosts/edge-7/${path}`), undefined, path);
  }
  equal(matchPath("/hosts/%2e%2e/logs"), undefined);
});

for (
  const path of ["/nothing", "/containers/web/nothing", "/containers/a/b/c", "//", "/Containers"]
) {
  Deno.test(`matchPath() does not know ${path}`, () => equal(matchPath(path), undefined));
}
