import { deepEqual, equal } from "node:assert/strict";
import { cursorKey, decodeCursor, encodeCursor } from "../../../../services/logs/follow/cursor.ts";
import {
  createNumbering,
  type Position,
  sinceBefore,
} from "../../../../services/logs/follow/position.ts";
import { idOf } from "../../../helpers/fake_containers.ts";

const position: Position = {
  stream: "stderr",
  seconds: 1_769_860_800,
  nanos: 123_456_789,
  ordinal: 3,
};

Deno.test("a cursor keeps the position of each container", () => {
  const cursor = {
    at: 1_769_860_800,
    positions: new Map([[cursorKey(idOf("web")), position], [cursorKey(idOf("db")), null]]),
  };
  deepEqual(decodeCursor(encodeCursor(cursor)), cursor);
});

Deno.test("a text that is not a cursor is ignored", () => {
  const valid = encodeCursor({ at: 1, positions: new Map([["0123456789abcdef", position]]) });
  for (
    const text of ["", "5", "null", "äöü", valid.slice(1), valid.slice(0, -2), "A".repeat(9_000)]
  ) {
    equal(decodeCursor(text), undefined, text);
  }
});

Deno.test("lines of a stream with the same time are numbered", () => {
  const numbered = createNumbering();
  const stamp = (nanos: number) => ({ text: "", seconds: 1, nanos });
  deepEqual(
    [
      numbered("stdout", stamp(5)),
      numbered("stderr", stamp(5)),
      numbered("stdout", stamp(5)),
      numbered("stdout", stamp(6)),
    ].map(({ stream, ordinal }) => [stream, ordinal]),
    [["stdout", 1], ["stderr", 1], ["stdout", 2], ["stdout", 1]],
  );
});

Deno.test("sinceBefore() is one nanosecond earlier", () => {
  equal(sinceBefore({ seconds: 10, nanos: 5 }), "10.000000004");
  equal(sinceBefore({ seconds: 10, nanos: 0 }), "9.999999999");
});
