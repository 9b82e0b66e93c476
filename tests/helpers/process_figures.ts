/** Figures of a process from `/proc`. @module */

/** Clock ticks per second of all Linux systems that run the tests. */
const TICKS = 100;

/** @param field `VmHWM`: the highest value since the start. */
export async function residentMib(
  pid: number,
  field: "VmRSS" | "VmHWM" = "VmRSS",
): Promise<number> {
  const status = await Deno.readTextFile(`/proc/${pid}/status`);
  return Math.round(Number(new RegExp(`^${field}:\\s+(\\d+) kB$`, "m").exec(status)![1]) / 1024);
}

/** Processor time of all threads. */
export async function processorSeconds(pid: number): Promise<number> {
  const stat = await Deno.readTextFile(`/proc/${pid}/stat`);
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}
