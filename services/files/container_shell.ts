/**
 * Scripts in a running container, as root. Its programs may be those of an attacker: what they print is
 * believed for the container itself only, and everything has limits.
 *
 * @module
 */

import { execCreate, execInspect, execStart } from "../../engine/exec.ts";
import { EngineError } from "../../engine/errors.ts";
import { type ProgramEnd, streamOutput } from "../backup/volumes/program_output.ts";
import { EXIT, type Script, type Shell } from "../backup/volumes/shell.ts";
import { exitCodeOf, NOT_RUNNABLE } from "../containers/exec/exec.ts";
import type { Container } from "../containers/inventory.ts";
import type { Deps } from "../deps.ts";
import { AppError } from "../errors.ts";

/** Programs of the scripts. */
const PROGRAMS = "cat chmod chown find head mkdir mv rm sha256sum stat tail".split(" ");

/**
 * The end of the input means that this service has left: engines let a program run when its client
 * disconnects. The script leads its process group. It waits for what it has started, because many
 * containers have a first process that would not.
 */
const WATCH = `exec 4<&0
{ while read -r _ <&4; do :; done; kill -s KILL -$$; } > /dev/null 2>&1 &
watch=$!
trap 'kill "$watch" 2> /dev/null || :; wait "$watch" 2> /dev/null || :' EXIT
exec 4<&- < /dev/null`;

const CHECK = `for program in ${PROGRAMS.join(" ")}; do
  command -v "$program" > /dev/null || { echo "$program" >&2; exit ${EXIT.lacksProgram}; }
done`;

/** The shell of a container. Its root directory is that of the container. */
export const containerShell = (
  { engine }: Pick<Deps, "engine">,
  { id, name }: Pick<Container, "id" | "name">,
): Shell => ({
  run: (script) => runScript(engine, { id, name }, script),
  place: name,
});

async function* runScript(
  engine: Deps["engine"],
  container: Pick<Container, "id" | "name">,
  { text, args = [], input, signal }: Script,
): AsyncGenerator<Uint8Array, ProgramEnd> {
  const start = ["set -eu; root=; cd /", ...input ? [] : [WATCH], CHECK, text].join("\n");
  const exec = await execCreate(engine, container.id, {
    cmd: ["sh", "-c", start, "sh", ...args],
    user: "0:0",
    workingDir: "/",
    env: ["LC_ALL=C"],
    stdin: true,
    signal,
  }).catch((error) => {
    const isStopped = error instanceof EngineError && error.status === 409;
    throw isStopped
      ? new AppError("conflict", `Container ${container.name} is not running`, { cause: error })
      : error;
  });
  let errors: string;
  try {
    using connection = await execStart(engine, exec.id, { long: true, signal });
    errors = yield* streamOutput(connection, input);
  } catch (error) {
    // Newer engines refuse the start of a program that is missing; older ones give an exit code.
    if (error instanceof EngineError && NOT_RUNNABLE.test(error.message)) {
      throw withoutShell(container);
    }
    throw error;
  }
  const exitCode = await exitCodeOf(() => execInspect(engine, exec.id, { signal }));
  if (exitCode === null) throw unknownEnd(container);
  if (exitCode === 126 || exitCode === 127) throw withoutShell(container);
  if (exitCode === EXIT.lacksProgram) {
    const missing = PROGRAMS.find((program) => errors.trim() === program) ?? "program";
    throw new AppError(
      "conflict",
      `Container ${container.name} has no ${missing}, with which its files are used; ` +
        "use those of its volumes",
    );
  }
  return { exitCode, errors };
}

const withoutShell = ({ name }: Pick<Container, "name">) =>
  new AppError(
    "conflict",
    `Container ${name} has no shell (sh), with which its files are used; use those of its volumes`,
  );

const unknownEnd = ({ name }: Pick<Container, "name">) =>
  new AppError("conflict", `It is not known how the command in container ${name} has ended`);
