/**
 * Pressure stall information of the host; see https://docs.kernel.org/accounting/psi.html.
 *
 * @module
 */

export type PressureResource = "cpu" | "memory" | "io";

/**
 * The share of the last minute in which some task waited for the resource, in percent.
 *
 * @throws The error of the file system: kernels before 4.20, and those with `psi=0`, have no such
 * file, or do not let it be read.
 */
export async function readPressure(procPath: string, resource: PressureResource): Promise<number> {
  return parsePressure(await Deno.readTextFile(`${procPath}/pressure/${resource}`));
}

/** @throws {Error} When the text has no line `some`. */
export function parsePressure(text: string): number {
  const percent = /^some .*\bavg60=([\d.]+)/m.exec(text)?.[1];
  if (percent === undefined) throw new Error("the file has no average over a minute");
  return Number(percent);
}
