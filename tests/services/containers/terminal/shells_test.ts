import { deepEqual } from "node:assert/strict";
import { insertTerminalShell, selectTerminalShells } from "../../../../db/terminal_shells.ts";
import { endLeftShells, recordShell } from "../../../../services/containers/terminal/shells.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { testApp } from "../../../helpers/test_app.ts";

/** An engine with the containers running, paused, exited and broken; `gone` does not exist. */
function engine() {
  return fakeEngine({
    "GET /containers/*/json": ({ parts: [id] }) => {
      if (id === "gone") return Response.json({ message: "No such container" }, { status: 404 });
      const State = { Running: id !== "exited", Paused: id === "paused" };
      return Response.json({ Id: id, State });
    },
    "POST /containers/*/exec": ({ parts: [id] }) => Response.json({ Id: id }, { status: 201 }),
    "POST /exec/*/start": ({ parts: [id] }) =>
      id === "broken"
        ? Response.json({ message: "the disk is full" }, { status: 500 })
        : new Response(new Blob([""])),
  });
}

Deno.test("endLeftShells() hangs up the shells of an earlier process and keeps what it could not end", async () => {
  await using fake = engine();
  using app = testApp({ engine: fake.engine });
  const { deps } = app;
  for (const containerId of ["running", "paused", "exited", "gone", "broken"]) {
    const createdAt = deps.now().toISOString();
    insertTerminalShell(deps.db, {
      mark: `of ${containerId}`,
      containerId,
      user: "app",
      createdAt,
    });
  }
  recordShell(deps, { mark: "open", containerId: "running", user: null });

  await endLeftShells(deps);

  deepEqual(selectTerminalShells(deps.db).map(({ mark }) => mark).sort(), [
    "of broken",
    "of paused",
    "open",
  ]);
  deepEqual(
    fake.requests.filter((request) => request.startsWith("POST /exec")),
    ["POST /exec/running/start", "POST /exec/broken/start"],
  );
});
