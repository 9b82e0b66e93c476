import { deepEqual, equal, match, throws } from "node:assert/strict";
import { emit } from "../../../services/events/emit.ts";
import type { AppEvent } from "../../../services/events/events.ts";
import type { Recorder } from "../../../services/events/recorder.ts";
import { collectEvents, testApp } from "../../helpers/test_app.ts";

const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

const down = { container: "web", id: "c1", reason: "oom", exitCode: 137 } as const;

/** The application with these recorders only, and every event that is told. */
function withRecorders(recorders: Recorder[], edition: "ce" | "pro" = "ce") {
  const app = testApp({ edition, now: "2026-01-01T00:00:00Z" });
  return { ...app, deps: { ...app.deps, recorders }, told: collectEvents(app) };
}

Deno.test("emit() records an event before it tells anyone", () => {
  const seen: string[] = [];
  using app = withRecorders([{
    edition: "ce",
    record: (_, { event }) => void seen.push(`recorded ${event}`),
  }]);
  emit(app.deps, "container.down", down, () => seen.push("stored"));
  deepEqual(seen, ["stored", "recorded container.down"]);
  const [{ eventId, ...rest }] = app.told as [AppEvent];
  match(eventId, UUID);
  deepEqual(rest, {
    event: "container.down",
    timestamp: "2026-01-01T00:00:00.000Z",
    server: "test-host",
    serverId: app.deps.server.id,
    data: down,
  });
});

Deno.test("emit() publishes nothing when the cause could not be stored", () => {
  using app = withRecorders([{
    edition: "ce",
    record: () => {
      throw new Error("disk full");
    },
  }]);
  const { db } = app.deps;
  throws(() =>
    emit(app.deps, "container.down", down, () => {
      db.run("INSERT INTO settings (name, value) VALUES ('cause', 'stored')");
    }), /disk full/);
  equal(db.get("SELECT value FROM settings WHERE name = 'cause'"), undefined);
  deepEqual(app.told, []);
});

Deno.test("emit() records what follows from an event, and tells it after", () => {
  const recorded: string[] = [];
  using app = withRecorders([
    {
      edition: "ce",
      record: (_, { event }) =>
        event === "container.down" ? [{ event: "test", data: { message: "follows" } }] : [],
    },
    { edition: "ce", record: (_, { event }) => void recorded.push(event) },
  ]);
  emit(app.deps, "container.down", down);
  deepEqual(recorded, ["container.down", "test"]);
  deepEqual(app.told.map(({ event }) => event), ["container.down", "test"]);
  equal(new Set(app.told.map(({ eventId }) => eventId)).size, 2);
});

Deno.test("emit() stops a cycle of recorders", () => {
  using app = withRecorders([{
    edition: "ce",
    record: () => [{ event: "test", data: { message: "again" } }],
  }]);
  throws(() => emit(app.deps, "test", { message: "first" }), /endless chain/);
});

Deno.test("emit() leaves out recorders above the licensed edition", () => {
  const seen: string[] = [];
  const recorder: Recorder = { edition: "pro", record: (_, { event }) => void seen.push(event) };
  using ce = withRecorders([recorder]);
  emit(ce.deps, "test", { message: "" });
  using pro = withRecorders([recorder], "pro");
  emit(pro.deps, "test", { message: "" });
  deepEqual(seen, ["test"]);
});
