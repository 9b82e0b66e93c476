/** /api/containers/:id/exec: diagnostic commands in a container. @module */

import * as z from "zod";
import { execInContainer } from "../../services/containers/exec/exec.ts";
import type { Deps } from "../../services/deps.ts";
import { endpoint } from "../contract/endpoint.ts";
import { ENGINE_FAILURES } from "../contract/shapes.ts";
import { ContainerParams } from "./shapes.ts";

/** Longest command, in characters. */
const COMMAND_MAX = 500;

export const containerExecEndpoints = (deps: Deps) => [
  endpoint("POST /api/containers/:id/exec", {
    operationId: "execInContainer",
    scope: "container",
    destructive: true,
    summary: "Run an allowed command",
    description:
      "The command is split into arguments by the quoting rules of a shell, but no shell runs. It " +
      "must be in `EXEC_ALLOWLIST`. It is stopped after 30 s, and each stream is truncated at " +
      "1 MiB. The audit log records the command unchanged: do not pass secrets in it.",
    role: "admin",
    permission: "containers:exec",
    runsPrograms: true,
    params: ContainerParams,
    body: z.object({
      command: z.string().min(1).max(COMMAND_MAX).meta({ example: "ps aux" }),
    }).meta({ id: "ExecCommand" }),
    returns: z.object({
      stdout: z.string(),
      stderr: z.string(),
      output: z.string().meta({ description: "Both streams in order of arrival" }),
      exitCode: z.int().nullable().meta({ description: "null if the command was stopped" }),
      truncated: z.boolean(),
      timedOut: z.boolean(),
    }).meta({
      id: "ExecResult",
      example: {
        stdout: "PID   USER     COMMAND\n    1 root     nginx\n",
        stderr: "",
        output: "PID   USER     COMMAND\n    1 root     nginx\n",
        exitCode: 0,
        truncated: false,
        timedOut: false,
      },
    }),
    failures: {
      403: "The role does not allow this, or the command is not in the allowlist; exec in the " +
        "service's own container is for admins",
      404: "The container does not exist",
      409: "The container is not running",
      ...ENGINE_FAILURES,
    },
  }, ({ params, body, note, caller }) => {
    note.command = body.command;
    return execInContainer(deps, caller, params.id, body.command);
  }),
];
