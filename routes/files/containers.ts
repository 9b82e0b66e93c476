/** /api/containers/:id: files of a running container. @module */

import { namesOf } from "../../services/containers/reads.ts";
import type { Deps } from "../../services/deps.ts";
import { containerPlace } from "../../services/files/container_place.ts";
import { ContainerParams } from "../containers/shapes.ts";
import { fileEndpointsOf } from "./endpoints.ts";

export const containerFileEndpoints = (deps: Deps) =>
  fileEndpointsOf(deps, {
    prefix: "/api/containers/:id",
    id: "Container",
    noun: "a container",
    note:
      "Done as root by the shell and programs of the container, which must be running. What it " +
      "answers is as trustworthy as the container.",
    params: ContainerParams,
    find: ({ id }) => containerPlace(deps, id),
    namesOf: ({ id }) => namesOf(deps, [id]),
  });
