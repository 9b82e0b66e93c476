/**
 * Runs a shell script on one volume in a helper container: no network, a read-only root, no
 * capabilities but those for owners and modes, and nothing else mounted. It ends with the reading of
 * its output, and is removed at once; `removeLeftHelpers()` removes what a crash left.
 *
 * @module
 */

import { containerAttach } from "../../../engine/container_attach.ts";
import { containerStart, containerWait } from "../../../engine/containers.ts";
import {
  createHelperOf,
  type MountSource,
  removeHelper,
} from "../../containers/helper_container.ts";
import { AppError } from "../../errors.ts";
import type { HelperImage } from "./helper_image.ts";
import { assertSource, missingDirectory, newRoot, type VolumeDeps } from "./mounted.ts";

/** A script, and the volume in whose root it starts. */
export interface HelperProgram {
  image: HelperImage;
  source: MountSource;
  isReadOnly: boolean;
  /** Runs with `set -eu`. `$root` is the path of the volume. */
  script: string;
  /** `$1` and so on. */
  args?: readonly string[];
  signal: AbortSignal;
}

/** End of a script. */
export interface ProgramEnd {
  exitCode: number;
  /** The first part of its standard error. */
  errors: string;
}

/** Enough for owners, modes and files of any owner. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"];

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Read part of the standard error, in bytes. */
const ERRORS_MAX = 4096;

/** Longest end of the container after its output, in seconds. */
const END_MAX_S = 60;

/**
 * Runs a script and passes on its output. A caller that stops reading ends it.
 *
 * @returns How the script ended, as the last value of the generator.
 * @throws {AppError} `not_found` for a missing volume, `conflict` for a missing directory.
 * @throws {EngineError} For a container that the engine cannot run.
 */
export async function* streamProgram(
  deps: VolumeDeps,
  { image, source, isReadOnly, script, args = [], signal }: HelperProgram,
): AsyncGenerator<Uint8Array, ProgramEnd> {
  const { engine } = deps;
  await assertSource(deps, source, signal);
  const root = `/${newRoot()}`;
  const { HostConfig, ...body } = image.body;
  const id = await createHelperOf(
    deps,
    {
      ...body,
      Cmd: ["-c", `set -eu; root=$1; shift; cd -- "$root"\n${script}`, "sh", root, ...args],
      User: "0:0",
      WorkingDir: "/",
      Env: [PATH],
      Healthcheck: { Test: ["NONE"] },
      AttachStdout: true,
      AttachStderr: true,
      HostConfig: {
        ...HostConfig,
        ReadonlyRootfs: true,
        CapDrop: ["ALL"],
        CapAdd: CAPABILITIES,
        SecurityOpt: ["no-new-privileges"],
        // The output is read here only.
        LogConfig: { Type: "none" },
      },
    },
    [{ ...source, target: root, isReadOnly }],
    { isLong: true, signal },
  );
  if (id === undefined) throw missingDirectory(source);
  try {
    using connection = await containerAttach(engine, id, { tty: false, stdin: false, signal });
    await containerStart(engine, id, { signal });
    let errors = "";
    const decoder = new TextDecoder();
    for await (const { stream, bytes } of connection.frames) {
      if (stream === "stdout") yield bytes;
      else if (errors.length < ERRORS_MAX) errors += decoder.decode(bytes, { stream: true });
    }
    const exitCode = await containerWait(engine, id, { timeoutS: END_MAX_S, signal });
    return { exitCode, errors: errors.slice(0, ERRORS_MAX) };
  } finally {
    await removeHelper(deps, id);
  }
}

/** Runs a script whose output is of no interest. */
export async function runProgram(deps: VolumeDeps, program: HelperProgram): Promise<ProgramEnd> {
  const output = streamProgram(deps, program);
  for (;;) {
    const { done, value } = await output.next();
    if (done) return value;
  }
}

/** The error of a script that failed, with the first line of what it wrote. */
export function programError(what: string, { exitCode, errors }: ProgramEnd): AppError {
  const [line = ""] = errors.trim().split("\n");
  const reason = line === "" ? `the helper container exited with ${exitCode}` : line.slice(0, 300);
  return new AppError("conflict", `${what}: ${reason}`);
}
