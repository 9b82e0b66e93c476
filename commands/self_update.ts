/**
 * `longshore self-update FILE`: replaces this executable with a signed newer one.
 *
 * The service is not restarted. `deploy/update_trial.sh`, which the systemd unit runs, puts the
 * previous executable back when the new one does not get ready.
 *
 * @module
 */

import { dirname, join } from "node:path";
import {
  openRegularFile,
  readRegularFile,
  removeIfThere,
  syncDirectory,
} from "../services/secrets/private_file.ts";
import { nodeCrypto, nodeFs } from "../services/builtins.ts";
import releaseKeys from "../services/release/release_keys.json" with { type: "json" };
import { SignatureError } from "../services/release/ssh_signature.ts";
import { isNewer, readSignedSums, type Sums, versionOf } from "../services/release/sums.ts";
import { VERSION } from "../services/version.ts";
import { parseArguments } from "./arguments.ts";
import { CommandError, commandError, executableOf, EXIT, type Program } from "./program.ts";

const SUMS_FILE = "SHA256SUMS";

/** Bytes that are read and written at a time. */
const COPY_BYTES = 1024 * 1024;

export async function selfUpdate(program: Program): Promise<number> {
  const { values: [file], options } = parseArguments("self-update", program, ["FILE"], {
    key: "value",
    executable: "value",
    force: "flag",
  });
  const executable = ownFile(program, options.executable);
  const keys = options.key === undefined ? builtInKeys() : readText(options.key).trim().split("\n");
  const sums = await signedSums(dirname(file), keys);

  const copy = `${executable}.${crypto.randomUUID()}.new`;
  try {
    const hash = copyExecutable(file, copy, executable);
    const version = acceptedVersion(file, sums.get(hash), options.force ?? false);
    install(copy, executable);
    program.print(`Installed ${executable}: version ${version}, signature verified.`);
    program.print(`The previous executable, version ${VERSION}, is ${executable}.previous.`);
  } finally {
    removeIfThere(copy);
  }
  program.note("Not started yet, because Longshore cannot run programs. Restart the service, e.g.");
  program.note(
    "systemctl restart longshore; the unit returns to the previous executable if needed.",
  );
  return EXIT.ok;
}

/** @throws {CommandError} If the program does not run as an executable. */
function ownFile(program: Program, given: string | undefined): string {
  const path = given ?? executableOf(program);
  if (!path) {
    throw new CommandError("Longshore runs from source: update the checkout, or give --executable");
  }
  try {
    const executable = Deno.realPathSync(path);
    openRegularFile(executable).close();
    return executable;
  } catch (error) {
    throw commandError(`${path} cannot be replaced`, error);
  }
}

/** @throws {CommandError} If the build has none. */
function builtInKeys(): string[] {
  const { keys }: { keys: string[] } = releaseKeys;
  if (keys.length) return keys;
  throw new CommandError(
    "This build trusts no release key: give the vendor's public key with --key",
  );
}

/** @throws {CommandError} If the checksums next to the file are not signed with one of the keys. */
async function signedSums(directory: string, keys: readonly string[]): Promise<Sums> {
  const path = join(directory, SUMS_FILE);
  const [sums, signature] = [readText(path), readText(`${path}.sig`)];
  try {
    return await readSignedSums(sums, signature, keys);
  } catch (error) {
    if (!(error instanceof SignatureError)) throw error;
    throw new CommandError(`${path} is not accepted: ${error.message}`, { cause: error });
  }
}

/**
 * Copies the file next to the executable, with the same owner and mode, so that what is verified is
 * what is installed.
 *
 * @returns The SHA-256 of the copy, in hexadecimal.
 * @throws {CommandError} If the file cannot be read or the directory not be written.
 */
function copyExecutable(file: string, copy: string, executable: string): string {
  const { closeSync, fchmodSync, fchownSync, fsyncSync, openSync, writeSync } = nodeFs();
  const hash = nodeCrypto().createHash("sha256");
  try {
    using source = openRegularFile(Deno.realPathSync(file));
    const target = openSync(copy, "wx", 0o700);
    try {
      const buffer = new Uint8Array(COPY_BYTES);
      for (let length; (length = source.readSync(buffer));) {
        const bytes = buffer.subarray(0, length);
        hash.update(bytes);
        for (let at = 0; at < length;) at += writeSync(target, bytes, at);
      }
      const { mode, uid, gid } = Deno.statSync(executable);
      if (uid !== null && gid !== null && Deno.uid() === 0) fchownSync(target, uid, gid);
      fchmodSync(target, (mode ?? 0o755) & 0o777);
      fsyncSync(target);
    } finally {
      closeSync(target);
    }
  } catch (error) {
    throw commandError(`${file} cannot be copied next to ${executable}`, error);
  }
  return hash.digest("hex");
}

/** @throws {CommandError} If the file is not an executable of the release, or not a newer one. */
function acceptedVersion(file: string, name: string | undefined, isForced: boolean): string {
  if (name === undefined) {
    throw new CommandError(`${file} is not one of the files that ${SUMS_FILE} lists`);
  }
  const version = versionOf(name, Deno.build.target);
  if (version === undefined) {
    throw new CommandError(`${file} is ${name}, not an executable for ${Deno.build.target}`);
  }
  if (!isForced && !isNewer(version, VERSION)) {
    throw new CommandError(
      `${file} is version ${version}, which is not newer than ${VERSION}; --force installs it, ` +
        "but an older version cannot open a database of a newer one",
    );
  }
  return version;
}

/** Puts the copy in place; a crash leaves either executable under the name, never none. */
function install(copy: string, executable: string): void {
  const [previous, trial] = [`${executable}.previous`, `${executable}.trial`];
  try {
    // If an earlier update has not been ready yet, the executable before that one is kept.
    if (!isFile(trial) || !isFile(previous)) {
      const link = `${previous}.${crypto.randomUUID()}.new`;
      Deno.linkSync(executable, link);
      Deno.renameSync(link, previous);
    }
    Deno.writeTextFileSync(trial, "0\n");
    Deno.chmodSync(trial, 0o644);
    syncDirectory(dirname(executable));
    Deno.renameSync(copy, executable);
    syncDirectory(dirname(executable));
  } catch (error) {
    throw commandError(`${executable} cannot be replaced`, error);
  }
}

function isFile(path: string): boolean {
  try {
    return Deno.lstatSync(path).isFile;
  } catch {
    return false;
  }
}

/** @throws {CommandError} If it is not a readable file of at most 64 KiB. */
function readText(path: string): string {
  try {
    return readRegularFile(path);
  } catch (error) {
    throw commandError(`${path} cannot be used`, error);
  }
}
