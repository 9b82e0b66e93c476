import { deepEqual } from "node:assert/strict";
import { writingImages } from "../../../../services/backup/volumes/writing_images.ts";
import { containerOf } from "../../../helpers/fake_containers.ts";

const mounting = (imageId: string, source: string, readOnly = false) => {
  const isVolume = !source.startsWith("/");
  const { details } = containerOf({ name: "x" });
  const [type, name] = isVolume ? ["volume", source] : ["bind", null];
  return {
    imageId,
    details: { ...details, mounts: [{ type, name, source, destination: "/x", readOnly }] },
  };
};

Deno.test("only images of containers that may write to the very volume may change it", () => {
  deepEqual(
    writingImages([
      mounting("db", "data"),
      mounting("db", "data"),
      mounting("monitor", "data", true),
      mounting("monitor", "/"),
      mounting("web", "cache"),
    ]),
    [{ volume: "data", image: "db" }, { volume: "cache", image: "web" }],
  );
});
