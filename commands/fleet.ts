/**
 * `longshore fleet invite|add|answer|list|accept|status|leave|export|import`: the fleet of this server, or its membership in
 * another one.
 *
 * @module
 */

import { selectFleetHost, selectFleetHostByName } from "../db/fleet_hosts.ts";
import { answerRequest, parseRequest } from "../services/fleet/enrolment/files.ts";
import {
  createInvite,
  hubAddress,
  MINUTES,
  USES_MAX,
} from "../services/fleet/enrolment/invites.ts";
import { fingerprintOf, toBytes } from "../services/fleet/enrolment/keys.ts";
import { leaveFleet } from "../services/fleet/enrolment/join.ts";
import { isHubAddress } from "../services/fleet/enrolment/token.ts";
import { addHost } from "../services/fleet/hosts/add.ts";
import { acceptHost, type HostView, listHosts } from "../services/fleet/hosts/hosts.ts";
import { stateOf } from "../services/fleet/hosts/state.ts";
import { HOST_NAME } from "../services/fleet/link/control.ts";
import { parseArguments, subcommand } from "./arguments.ts";
import { CONSOLE, recordCommand } from "./console.ts";
import { readJoinFile, writeJoinFile } from "./fleet_files.ts";
import { type FleetDeps, withFleet } from "./fleet_state.ts";
import { status } from "./fleet_status.ts";
import { tokenOf } from "./fleet_token.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";
import { printTable } from "./table.ts";

const MINUTES_OF = { m: 1, h: 60, d: 24 * 60 } as const;

export async function fleet(program: Program): Promise<number> {
  const { name, program: rest } = subcommand("fleet", program, [
    "invite",
    "add",
    "answer",
    "list",
    "accept",
    "status",
    "leave",
    "export",
    "import",
  ]);
  const { exportFor, importFrom } = await import("./fleet_boxes.ts");
  const boxes = { export: exportFor, import: importFrom };
  await { invite, add, answer, list, accept, status, leave, ...boxes }[name](rest);
  return EXIT.ok;
}

async function invite(program: Program): Promise<void> {
  const { options } = parseArguments("fleet invite", program, [], {
    name: "value",
    pattern: "value",
    label: "values",
    count: "value",
    expires: "value",
    accept: "flag",
    address: "value",
    json: "flag",
  });
  const { name, pattern, address } = options;
  assertName(name);
  const given = {
    name,
    pattern,
    address,
    labels: labelsOf(options.label ?? []),
    count: countOf(options.count),
    expiresMinutes: minutesOf(options.expires),
    acceptsAtOnce: options.accept ?? false,
  };
  const created = await withFleet(program, async (deps) => {
    const invite = await createInvite(deps, given, CONSOLE);
    await recordCommand(program, deps, "fleet invite", name ?? pattern ?? "");
    return invite;
  });
  if (options.json) return program.print(JSON.stringify(created));
  program.print(created.command);
  program.note(`Run this line on the new host until ${created.expiresAt}. It is not shown again.`);
  program.note(`Where Longshore is not installed yet, run: ${created.installCommand}`);
}

async function add(program: Program): Promise<void> {
  const { values: [given], options } = parseArguments("fleet add", program, ["TOKEN|URL"], {
    token: "value",
    name: "value",
    label: "values",
  });
  const { name } = options;
  assertName(name);
  const token = tokenOf(options.token ?? given, "add");
  const address = options.token === undefined ? token.address : given;
  if (!isHubAddress(address)) {
    throw new UsageError("URL must be an address such as https://edge-7.example.com");
  }
  const labels = labelsOf(options.label ?? []);
  const added = await withFleet(program, async (deps) => {
    const host = await addHost(deps, token, { address, name, labels }, program.signal);
    await recordCommand(program, deps, "fleet add", host.name);
    program.note(`Fingerprint of ${host.name}: ${token.fingerprint}`);
    return host;
  });
  program.print(`${added.name} was added. This server dials ${address} from now on.`);
}

function assertName(name: string | undefined): void {
  if (name === undefined || HOST_NAME.test(name)) return;
  throw new UsageError("--name must have letters, digits, dots, hyphens and underscores");
}

async function answer(program: Program): Promise<void> {
  const { values: [file], options } = parseArguments("fleet answer", program, ["FILE"], {
    label: "values",
    address: "value",
  });
  const labels = labelsOf(options.label ?? []);
  const { name, path } = await withFleet(program, async (deps) => {
    const request = parseRequest(readJoinFile(file));
    const address = hubAddress(deps, options.address);
    program.note(
      `Fingerprint of ${request.name}: ${await fingerprintOf(toBytes(request.linkKey))}`,
    );
    const answered = await answerRequest(deps, request, { address, labels });
    await recordCommand(program, deps, "fleet answer", answered.name);
    program.note(
      `Fingerprint of this server: ${await fingerprintOf(toBytes(answered.hubKey))}`,
    );
    return { name: answered.name, path: writeJoinFile(`${file}.answer`, answered) };
  });
  program.print(path);
  program.note("Compare the first one with what `longshore join --request` has shown there, and");
  program.note("the second one with what `longshore join --answer` will show there.");
  program.note(`Carry this file to ${name}, and run: longshore join --answer FILE`);
}

async function list(program: Program): Promise<void> {
  const { options } = parseArguments("fleet list", program, [], { json: "flag" });
  const hosts = await withFleet(program, async (deps) => {
    const { membership } = deps.fleet;
    if (membership) {
      program.note(`This host is ${membership.name} in the fleet of ${membership.hubName}.`);
    }
    const listed = await listHosts(deps, CONSOLE);
    return listed.map((host) => ({ ...host, ...connectedState(deps, host) }));
  });
  if (options.json) return program.print(JSON.stringify({ hosts }));
  printTable(program, [
    ["NAME", "STATE", "ADDRESS", "VERSION", "LAST SEEN", "FINGERPRINT"],
    ...hosts.map((host) => [
      host.name,
      host.since === null ? host.state : `${host.state} since ${host.since}`,
      host.address,
      host.version,
      host.lastSeenAt ?? "never",
      host.fingerprint,
    ]),
  ]);
}

/** Links are open in the running service only, which stores that they are. */
function connectedState({ db, isRunning }: FleetDeps, { id }: HostView) {
  const host = selectFleetHost(db, id)!;
  return stateOf(host, isRunning && host.isConnected ? 0 : undefined);
}

async function accept(program: Program): Promise<void> {
  const { values: [name] } = parseArguments("fleet accept", program, ["NAME"], {});
  await withFleet(program, async (deps) => {
    const host = selectFleetHostByName(deps.db, name);
    if (!host) throw new CommandError(`No host of the fleet has the name ${name}`);
    await acceptHost(deps, host.id);
    await recordCommand(program, deps, "fleet accept", name, [name, host.id]);
  });
  program.print(`${name} was accepted.`);
}

async function leave(program: Program): Promise<void> {
  parseArguments("fleet leave", program, [], {});
  const hubName = await withFleet(program, async (deps) => {
    const left = leaveFleet(deps)?.hubName;
    await recordCommand(program, deps, "fleet leave", left ?? "");
    return left;
  });
  program.print(
    hubName === undefined
      ? "This host is in no fleet, and waits for no hub."
      : `This host has left the fleet of ${hubName}.`,
  );
}

function labelsOf(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(texts.map((text) => {
    const [, key, value] = /^([a-z][a-z0-9._-]{0,62})=(.{0,63})$/.exec(text) ?? [];
    if (key === undefined) throw new UsageError(`--label must be KEY=VALUE, not ${text}`);
    return [key, value!];
  }));
}

function countOf(text = "1"): number {
  const count = /^\d+$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= USES_MAX) return count;
  throw new UsageError(`--count must be a number from 1 to ${USES_MAX}, not ${text}`);
}

function minutesOf(text = `${MINUTES.default}m`): number {
  const [, count, unit] = /^(\d{1,6})([mhd])$/.exec(text) ?? [];
  const minutes = Number(count) * MINUTES_OF[unit as keyof typeof MINUTES_OF];
  if (minutes >= 1 && minutes <= MINUTES.max) return minutes;
  throw new UsageError(`--expires must be a time such as 30m or 12h, at most 7d, not ${text}`);
}
