import { equal } from "node:assert/strict";
import { decodePath, encodePath, fileName } from "../../../services/snapshots/file_path.ts";

for (
  const { bytes, path, name } of [
    { bytes: "d/100%", path: "d/100%25", name: "100%" },
    { bytes: "d/%2Fx", path: "d/%252Fx", name: "%2Fx" },
    { bytes: "\xc3\xa4", path: "ä", name: "ä" },
    { bytes: "d/\xff\x01", path: "d/%FF\x01", name: "\ufffd\x01" },
  ]
) {
  Deno.test(`the file ${path} is downloaded by its name`, () => {
    equal(encodePath(bytes), path);
    equal(decodePath(path), bytes);
    equal(fileName(path), name);
  });
}
