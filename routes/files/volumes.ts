/** /api/volumes/:name: files of a volume. @module */

import type { Deps } from "../../services/deps.ts";
import { volumePlace } from "../../services/files/volume_place.ts";
import { VolumeParams } from "../storage_shapes.ts";
import { fileEndpointsOf } from "./endpoints.ts";

export const volumeFileEndpoints = (deps: Deps) =>
  fileEndpointsOf(deps, {
    prefix: "/api/volumes/:name",
    id: "Volume",
    noun: "a volume",
    note:
      "Done by a helper container with `HELPER_IMAGE` or the image of a container that uses the " +
      "volume; without either, files can only be listed and downloaded. The containers that use " +
      "the volume keep running.",
    params: VolumeParams,
    find: ({ name }, signal) => volumePlace(deps, name, signal),
    namesOf: ({ name }) => [name],
  });
