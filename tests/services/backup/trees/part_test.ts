import { deepEqual } from "node:assert/strict";
import { directoryPart, restoredPart, volumePart } from "../../../../services/backup/trees/part.ts";

Deno.test("a part is restored from its bytes in the snapshot", () => {
  deepEqual(restoredPart(volumePart("data")), {
    from: "volumes/data",
    to: { path: "/volumes/data", mount: { type: "volume", source: "data" } },
  });
  deepEqual(restoredPart(directoryPart("/opt/bücher")), {
    from: "directories/opt/b\xc3\xbccher",
    to: { path: "/directories/opt/bücher", mount: { type: "bind", source: "/opt/bücher" } },
  });
});
