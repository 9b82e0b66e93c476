/** /api/stacks/:name: files of a stack's directory. @module */

import type { Deps } from "../../services/deps.ts";
import { stackPlace } from "../../services/files/stack_place.ts";
import { ProjectParams } from "../stacks/shapes.ts";
import { fileEndpointsOf } from "./endpoints.ts";

export const stackFileEndpoints = (deps: Deps) =>
  fileEndpointsOf(deps, {
    prefix: "/api/stacks/:name",
    id: "Stack",
    noun: "a stack",
    note: "The directory of the stack below one of `STACK_ROOTS`, by a helper container with " +
      "`HELPER_IMAGE` or an image of the stack. Compose files, `.env` and the files that they read " +
      "are changed with `PUT /api/stacks/{name}/source` only.",
    params: ProjectParams,
    find: ({ name }) => stackPlace(deps, name),
    namesOf: ({ name }) => [name],
  });
