/**
 * The config of a repository (design document, "Repository Format"): version, ID and the chunker's
 * polynomial. It is encrypted JSON, and never compressed.
 *
 * @module
 */

import { type Id, randomId } from "./id.ts";
import { shapeOf } from "./json_shape.ts";
import { DEGREE, degreeOf, isIrreducible, randomPolynomial } from "./polynomial.ts";
import { damaged, RepositoryError } from "./repository_error.ts";
import { loadJson, type RepositoryFiles, saveJson } from "./repository_files.ts";

const VERSION = 2;

/** Config of a repository. */
export interface Config {
  /** 1 or 2. */
  version: number;
  id: Id;
  chunkerPolynomial: bigint;
}

/** Writes the config of a new repository. */
export async function createConfig(files: RepositoryFiles, signal: AbortSignal): Promise<Config> {
  const config = { version: VERSION, id: randomId(), chunkerPolynomial: randomPolynomial() };
  const { version, id, chunkerPolynomial } = config;
  const json = { version, id, chunker_polynomial: chunkerPolynomial.toString(16) };
  await saveJson(files, "config", JSON.stringify(json), signal);
  return config;
}

/** @throws {RepositoryError} `damaged`; `unsupported` for another version. */
export async function loadConfig(files: RepositoryFiles, signal: AbortSignal): Promise<Config> {
  const shape = shapeOf("Config");
  const fields = shape.object(await loadJson(files, "config", "config", signal), "the file");
  const version = shape.count(fields.version, "version");
  if (version !== 1 && version !== 2) {
    throw new RepositoryError("unsupported", `Repository version ${version} is not supported`);
  }
  const digits = shape.text(fields.chunker_polynomial, "chunker_polynomial");
  const polynomial = /^[0-9a-f]{1,16}$/.test(digits) ? BigInt(`0x${digits}`) : 0n;
  if (degreeOf(polynomial) !== DEGREE || !isIrreducible(polynomial)) {
    throw damaged("Config", "chunker_polynomial is not irreducible of degree 53");
  }
  return { version, id: shape.id(fields.id, "id"), chunkerPolynomial: polynomial };
}
