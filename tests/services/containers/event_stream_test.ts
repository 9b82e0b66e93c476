import { deepEqual, equal } from "node:assert/strict";
import { createEventStream } from "../../../services/containers/event_stream.ts";
import { testClock } from "../../helpers/test_app.ts";

Deno.test("an event stream that breaks three times within five minutes is failing", () => {
  const clock = testClock();
  const stream = createEventStream(clock.now);
  deepEqual(stream.status(), { status: "ok", breaks: 0, lastError: null, lastErrorAt: null });

  stream.recordBreak("first");
  clock.advance({ minutes: 2 });
  stream.recordBreak("second");
  equal(stream.status().status, "ok");
  clock.advance({ minutes: 2 });
  stream.recordBreak("third");

  deepEqual(stream.status(), {
    status: "failing",
    breaks: 3,
    lastError: "third",
    lastErrorAt: "2026-01-01T00:04:00.000Z",
  });
  clock.advance({ minutes: 2 });
  equal(stream.status().status, "ok");
  stream.recordBreak("fourth");
  equal(stream.status().status, "failing");
});
