/** `longshore takeover`: manages what other programs have deployed, through the running service. @module */

import type { TakeoverView } from "../services/takeover/start.ts";
import type { TakeoverResult } from "../services/takeover/request.ts";
import { parseArguments } from "./arguments.ts";
import { EXIT, type Program } from "./program.ts";
import { connectService, type ServiceClient } from "./service_client.ts";
import { followJob } from "./service_job.ts";
import { printTable } from "./table.ts";

type FoundStack = TakeoverView["stacks"][number];

/** Scans that are tried while containers change. */
const SCANS_MAX = 5;

export async function takeover(program: Program): Promise<number> {
  const { options } = parseArguments("takeover", program, [], {
    stack: "values",
    "accept-recreate": "flag",
    "dry-run": "flag",
    json: "flag",
  });
  const { print, note, signal } = program;
  const service = connectService(program);
  const report = await readReport(program, service);
  const { stack: names, json, "dry-run": isDry } = options;
  const shown = report.stacks.filter(({ name }) => !names || names.includes(name));
  if (isDry) {
    if (json) print(JSON.stringify(report));
    else printReport(program, report, shown);
    return EXIT.ok;
  }
  if (!json) printReport(program, report, shown);
  if (!names && !shown.some(({ plan }) => plan?.changesNothing)) {
    if (shown.length > 0) {
      note("A deploy would change every stack; name those to take over with --stack.");
    }
    if (json) print(JSON.stringify({ taken: [], refused: [] }));
    return EXIT.ok;
  }
  const body = { stacks: names, acceptRecreate: options["accept-recreate"] ?? false };
  const job = JSON.parse(await service.post("/api/takeover", body, signal));
  const result = await followJob(program, service, job) as TakeoverResult;
  if (json) print(JSON.stringify(result));
  else printResult(program, result);
  return result.refused.length === 0 ? EXIT.ok : EXIT.failure;
}

/** The report of a scan that is made now. */
async function readReport(program: Program, service: ServiceClient): Promise<TakeoverView> {
  for (let scans = 0;; scans++) {
    const path = `/api/takeover${scans === 0 ? "?refresh=true" : ""}`;
    const answer = JSON.parse(await service.text(path, program.signal));
    if (!answer.job) return answer;
    await followJob(program, service, answer.job);
    if (scans === SCANS_MAX) program.note("The containers change all the time; the scan goes on");
  }
}

function printReport(
  program: Program,
  { containers, directories, managers, unlisted }: TakeoverView,
  stacks: readonly FoundStack[],
): void {
  const { print, note } = program;
  if (stacks.length === 0) print("No stack of another program was found.");
  else {
    printTable(program, [
      ["STACK", "CONTAINERS", "SOURCE", "DEPLOY"],
      ...stacks.map((stack) => [
        stack.name,
        String(stack.containers.length),
        sourceText(stack),
        planText(stack),
      ]),
    ]);
  }
  for (const { name, notes, plan } of stacks) {
    for (const text of [...notes, ...plan?.reasons ?? []]) note(`${name}: ${text}`);
  }
  for (const { path, services, error } of directories) {
    note(`${path}: ${error ?? `not deployed; services: ${services.join(", ")}`}`);
  }
  for (const root of unlisted) note(`${root}: the service cannot list it`);
  if (containers.length > 0) {
    note(`Containers without a stack: ${containers.map(({ name }) => name).join(", ")}`);
  }
  for (const { name, container, updates, setting } of managers) {
    const what = updates === "none" ? "runs" : "updates containers by itself";
    note(`${name} (${container}) ${what}${setting && `: ${setting}`}`);
  }
}

const sourceText = ({ source: { kind, path, through } }: FoundStack) =>
  `${path ?? kind}${through === undefined ? "" : ` in ${through}`}`;

function planText({ plan }: FoundStack): string {
  if (!plan) return "unknown";
  if (plan.changesNothing) return "changes nothing";
  const { recreates, creates } = plan;
  const parts = [
    recreates.length > 0 ? `recreates ${recreates.join(", ")}` : "",
    creates.length > 0 ? `creates or removes containers of ${creates.join(", ")}` : "",
  ].filter((part) => part !== "");
  return parts.join("; ") || "changes networks or volumes";
}

function printResult({ print, note }: Program, { taken, refused }: TakeoverResult): void {
  for (const { name, reason } of refused) note(`${name}: ${reason}`);
  print(
    taken.length === 0
      ? "No stack was taken over."
      : `Took over ${
        taken.length === 1 ? "1 stack" : `${taken.length} stacks`
      }; no container was ` +
        `touched: ${taken.join(", ")}`,
  );
}
