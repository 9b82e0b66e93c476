/** `longshore update`: updates a container through the running service. @module */

import type { UpdateResult } from "../services/updates/run/job.ts";
import { parseArguments } from "./arguments.ts";
import { EXIT, type Program } from "./program.ts";
import { connectService } from "./service_client.ts";
import { followJob } from "./service_job.ts";

/** The plan of an update, as far as it is printed. */
interface Plan {
  container: string;
  image: string;
  newDigest: string | null;
  recreated: string[];
  watched: string[];
  replaced: { setting: string; names: string[] }[] | null;
  warnings: string[];
  obstacles: { message: string; canForce: boolean }[];
  data: { choice: "keep" | "undo"; volumes: { name: string }[]; keptDays: number };
  rehearsal: { containers: string[]; obstacle: string | null } | null;
  verification: { method: string; holdSeconds: number; deadlineSeconds: number };
}

export async function update(program: Program): Promise<number> {
  const { values: [name], options } = parseArguments("update", program, ["NAME"], {
    data: "value",
    image: "value",
    plan: "flag",
    pull: "value",
    rehearse: "flag",
  });
  const { plan: isPlan, ...body } = options;
  const { print, signal } = program;
  const service = connectService(program);
  const path = `/api/containers/${encodeURIComponent(name)}/update`;
  if (isPlan) {
    const plan = JSON.parse(await service.post(`${path}?plan=1`, body, signal)) as Plan;
    printPlan(program, plan);
    return plan.obstacles.length || plan.rehearsal?.obstacle ? EXIT.failure : EXIT.ok;
  }
  const job = JSON.parse(await service.post(path, body, signal));
  const result = await followJob(program, service, job) as UpdateResult;
  print(describe(name, result));
  const { data } = result;
  if (data?.before) {
    print(`The data from before is in snapshot ${data.before.slice(0, 8)} at ${data.target}.`);
  }
  return EXIT.ok;
}

function describe(name: string, { updated, image, verdict, reason }: UpdateResult): string {
  if (!updated) return `${name} is up to date: it already runs ${image}.`;
  return verdict === "success"
    ? `${name} was updated.`
    : `${name} was updated, but not verified: ${reason}.`;
}

function printPlan({ print }: Program, plan: Plan): void {
  const { container, image, newDigest, verification, data, rehearsal } = plan;
  const { method, holdSeconds, deadlineSeconds } = verification;
  print(`${container} would be updated to ${image}${newDigest ? ` (${newDigest})` : ""}.`);
  if (plan.recreated.length) print(`Also recreated: ${plan.recreated.join(", ")}`);
  if (plan.watched.length) print(`Also observed: ${plan.watched.join(", ")}`);
  for (const { setting, names } of plan.replaced ?? []) {
    print(`From the new image: ${[setting, names.join(", ")].filter(Boolean).join(": ")}`);
  }
  if (rehearsal) print(`Rehearsed with: ${rehearsal.containers.join(", ")}`);
  if (data.choice === "undo") {
    const names = data.volumes.map(({ name }) => name).join(", ");
    print(`Data kept before: ${names ? `${names}, for ${data.keptDays} days` : "none"}`);
  }
  const goal = method === "health" ? "healthy" : "running";
  print(`Success: ${goal} for ${holdSeconds} s, within ${deadlineSeconds} s`);
  for (const warning of plan.warnings) print(`Warning: ${warning}`);
  if (rehearsal?.obstacle) print(`Obstacle (final): ${rehearsal.obstacle}`);
  for (const { message, canForce } of plan.obstacles) {
    print(`Obstacle${canForce ? "" : " (final)"}: ${message}`);
  }
}
