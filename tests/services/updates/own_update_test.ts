import { deepEqual, equal } from "node:assert/strict";
import { recordOwnUpdate } from "../../../services/updates/own_update.ts";
import { testApp } from "../../helpers/test_app.ts";

/** An installation, and the updates of it that the API lists, newest first. */
function installation() {
  const app = testApp();
  return {
    start: (version: string, hasReturned = false) =>
      recordOwnUpdate(app.deps, { version, hasReturned }),
    async updates() {
      const { status, body } = await app.call("GET", "/api/jobs?kind=service.update");
      equal(status, 200);
      return body.jobs.map((
        { status, error, result }: { status: string; error: string | null; result: unknown },
      ) => ({ status, error, result }));
    },
    [Symbol.dispose]: () => app[Symbol.dispose](),
  };
}

Deno.test("a start with another version than the one before is a past update", async () => {
  using given = installation();

  given.start("1.2.0");
  given.start("1.2.0");
  deepEqual(await given.updates(), []);

  given.start("1.3.0");
  given.start("1.3.0");
  deepEqual(await given.updates(), [
    { status: "succeeded", error: null, result: { version: "1.3.0", previousVersion: "1.2.0" } },
  ]);
});

Deno.test("a start after the unit has put the previous version back is an update that was rolled back", async () => {
  using given = installation();
  given.start("1.2.0");

  // The data is that of before the update.
  given.start("1.2.0", true);

  deepEqual(await given.updates(), [{
    status: "rolled_back",
    error: "The newer version was not ready in two starts",
    result: { version: "1.2.0", previousVersion: null },
  }]);
});
