/**
 * `longshore updates`: shows newer images of the containers, through the running service.
 *
 * @module
 */

import { parseArguments } from "./arguments.ts";
import { EXIT, type Program } from "./program.ts";
import { connectService } from "./service_client.ts";
import { followJob } from "./service_job.ts";
import { printTable } from "./table.ts";

/** An entry of `GET /api/updates`, as far as it is printed. */
interface ImageUpdate {
  image: string;
  status: string;
  reason: string | null;
  newerVersions: { tag: string }[];
  containers: { name: string }[];
}

export async function updates(program: Program): Promise<number> {
  const { options } = parseArguments("updates", program, [], { check: "flag", json: "flag" });
  const { print, signal } = program;
  const service = connectService(program);
  if (options.check) {
    const job = JSON.parse(await service.post("/api/updates/check", {}, signal));
    await followJob(program, service, job);
  }
  const text = await service.text("/api/updates", signal);
  if (options.json) print(text);
  else printUpdates(program, JSON.parse(text).updates);
  return EXIT.ok;
}

function printUpdates(program: Program, found: ImageUpdate[]): void {
  if (found.length === 0) return program.print("No container uses an image.");
  printTable(program, [
    ["IMAGE", "STATUS", "NEWER", "CONTAINERS"],
    ...found.map(({ image, status, reason, newerVersions, containers }) => [
      image,
      status.replaceAll("_", " ") + (reason === null ? "" : ` (${reason})`),
      newerVersions[0]?.tag ?? "",
      containers.map(({ name }) => name).join(", "),
    ]),
  ]);
}
