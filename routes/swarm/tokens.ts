/** /api/swarm/tokens: tokens with which engines join. @module */

import * as z from "zod";
import { changeJoinToken, readJoinTokens } from "../../services/swarm/join_tokens.ts";
import { NODE_ROLES } from "../../services/swarm/nodes.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { SWARM_FAILURES } from "./shapes.ts";

const Token = z.object({
  token: z.string(),
  command: z.string().meta({
    description: "To run on the host that joins",
    example: "docker swarm join --token SWMTKN-1-… 10.0.0.1:2377",
  }),
});

const Tokens = z.object({ worker: Token, manager: Token }).meta({ id: "SwarmTokens" });

const RotateBody = z.object({
  role: z.enum(NODE_ROLES).meta({ description: "Role of the nodes that join with the token" }),
}).meta({ id: "SwarmTokenRotation", example: { role: "worker" } });

export const tokenEndpoints = (deps: Deps) => [
  endpoint("GET /api/swarm/tokens", {
    operationId: "getSwarmTokens",
    summary: "Get join tokens",
    description: "A manager controls all nodes: keep the tokens secret.",
    role: "admin",
    audited: true,
    returns: Tokens,
    failures: SWARM_FAILURES,
  }, () => readJoinTokens(deps)),

  endpoint("POST /api/swarm/tokens/rotate", {
    operationId: "rotateSwarmToken",
    summary: "Rotate a join token",
    description: "The old token is refused from then on. Nodes that have joined stay.",
    role: "admin",
    body: RotateBody,
    returns: Tokens,
    failures: SWARM_FAILURES,
  }, ({ body, note }) => {
    note.targets = [body.role];
    return changeJoinToken(deps, body.role);
  }),
];
