import { deepEqual, match, notEqual } from "node:assert/strict";
import { openTestDatabase, testApp } from "../../helpers/test_app.ts";

Deno.test("a server keeps its id when it is renamed; another server has another id", () => {
  const db = openTestDatabase();
  using first = testApp({ db, config: { serverName: "host-1" } });
  using renamed = testApp({ db, config: { serverName: "host-2" } });
  using other = testApp({ config: { serverName: "host-1" } });

  const { id } = first.deps.server;
  match(id, /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/);
  deepEqual(renamed.deps.server, { name: "host-2", id });
  notEqual(other.deps.server.id, id);
  db.close();
});
