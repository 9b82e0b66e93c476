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
import type { ByteString } from "../restic/entry.ts";
import type { HelperImage } from "./helper_image.ts";
import { assertSource, missingDirectory, newRoot, type VolumeDeps } from "./mounted.ts";
import { type ProgramEnd, streamOutput } from "./program_output.ts";
import { DECODE, encodePath } from "./shell_path.ts";

/** The directories that a helper container has. */
export interface HelperMounts {
  source: MountSource;
  /**
   * A directory around that of `source`, which containers may write to: one of them could have put a
   * symbolic link there. The script runs only if the mounted directory is at this path of it.
   */
  around?: { source: MountSource; path: ByteString } | undefined;
}

/** A script, and the volume in whose root it starts, or the file that is mounted. */
export interface HelperProgram extends HelperMounts {
  image: HelperImage;
  /** See `newRoot()`. */
  root?: string | undefined;
  isReadOnly: boolean;
  /** Runs with `set -eu`. `$root` is the path of the volume or file. */
  script: string;
  /** `$1` and so on. */
  args?: readonly string[];
  input?: ReadableStream<Uint8Array> | undefined;
  signal: AbortSignal;
}

/** Enough for owners, modes and files of any owner. */
const CAPABILITIES = ["CHOWN", "DAC_OVERRIDE", "FOWNER", "FSETID"];

const PATH = "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/** Exit code for a mount that is not the directory at the path of `around`. */
const IS_ELSEWHERE = 90;

const CHECK_MOUNT = `${DECODE} decode "$2"
cd -P -- "$1/$path" || exit ${IS_ELSEWHERE}
here=$(pwd -P; echo x)
[ "$here" = "$1/$path
x" ] && [ "$(stat -c %d:%i .)" = "$(stat -c %d:%i "$root")" ] || exit ${IS_ELSEWHERE}
shift 2; cd -- "$root"`;

const START = 'set -eu; root=$1; shift; [ ! -d "$root" ] || cd -- "$root"';

/** Longest end of the container after its output, in seconds. */
const END_MAX_S = 60;

/**
 * Runs a script and passes on its output. A caller that stops reading ends it.
 *
 * @returns How the script ended, as the last value of the generator.
 * @throws {AppError} `not_found` for a missing volume, `conflict` for a directory that is missing or behind
 * a symbolic link.
 * @throws {EngineError} For a container that the engine cannot run.
 */
export async function* streamProgram(
  deps: VolumeDeps,
  program: HelperProgram,
): AsyncGenerator<Uint8Array, ProgramEnd> {
  const { image, source, around, isReadOnly, script, args = [], input, signal } = program;
  const { engine } = deps;
  await assertSource(deps, source, signal);
  const root = `/${program.root ?? newRoot()}`;
  const outer = `/${newRoot()}`;
  const { HostConfig, ...body } = image.body;
  const checked = around ? [CHECK_MOUNT, script] : [script];
  const outerArgs = around ? [outer, encodePath(around.path)] : [];
  const text = [START, ...checked].join("\n");
  const id = await createHelperOf(
    deps,
    {
      ...body,
      Cmd: ["-c", text, "sh", root, ...outerArgs, ...args],
      User: "0:0",
      WorkingDir: "/",
      Env: [PATH, "LC_ALL=C"],
      Healthcheck: { Test: ["NONE"] },
      AttachStdout: true,
      AttachStderr: true,
      ...(input && { AttachStdin: true, OpenStdin: true, StdinOnce: true }),
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
    [
      { ...source, target: root, isReadOnly },
      ...around ? [{ ...around.source, target: outer, isReadOnly: true }] : [],
    ],
    { signal },
  );
  if (id === undefined) throw missingDirectory(source);
  try {
    const stdin = input !== undefined;
    using connection = await containerAttach(engine, id, { tty: false, stdin, signal });
    await containerStart(engine, id, { signal });
    const errors = yield* streamOutput(connection, input);
    const exitCode = await containerWait(engine, id, { timeoutS: END_MAX_S, signal });
    if (exitCode === IS_ELSEWHERE) throw missingDirectory(source);
    return { exitCode, errors };
  } finally {
    await removeHelper(deps, id);
  }
}
