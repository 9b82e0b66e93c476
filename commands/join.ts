/**
 * `longshore join`: joins the fleet of another server, with the token of an invite, by waiting for that
 * server, or with files that are carried by hand.
 *
 * @module
 */

import type { Membership } from "../db/fleet_membership.ts";
import { nodeOs } from "../services/builtins.ts";
import { acceptAnswer, createRequest, parseAnswer } from "../services/fleet/enrolment/files.ts";
import { listenForHub } from "../services/fleet/enrolment/listen.ts";
import {
  assertNoMember,
  assertStillMember,
  joinFleet,
  membershipOf,
} from "../services/fleet/enrolment/join.ts";
import { fingerprintOf, linkKeys, toBytes } from "../services/fleet/enrolment/keys.ts";
import type { FleetToken } from "../services/fleet/enrolment/token.ts";
import { parseArguments } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { readJoinFile, writeJoinFile } from "./fleet_files.ts";
import { type FleetDeps, withFleet } from "./fleet_state.ts";
import { tokenOf } from "./fleet_token.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";

interface Options {
  yes?: true;
  name?: string;
  request?: string;
  answer?: string;
  listen?: true;
  address?: string;
}

export async function join(program: Program): Promise<number> {
  const { values: [token], options } = parseArguments("join", program, ["[TOKEN]"], {
    yes: "flag",
    name: "value",
    request: "value",
    answer: "value",
    listen: "flag",
    address: "value",
  });
  const { request, answer, listen } = options;
  if ([token, request, answer, listen].filter((given) => given !== undefined).length !== 1) {
    throw new UsageError("join needs one of TOKEN, --listen, --request FILE and --answer FILE");
  }
  if (options.address !== undefined && !listen) throw new UsageError("--address is for --listen");
  if (token !== undefined) await joinWithToken(program, tokenOf(token), options);
  else if (request !== undefined) await writeRequest(program, request, options);
  else if (answer !== undefined) await joinWithAnswer(program, answer, options);
  else await waitForHub(program, options);
  return EXIT.ok;
}

async function joinWithToken(program: Program, token: FleetToken, options: Options): Promise<void> {
  await withFleet(program, async (deps) => {
    const known = await membershipOf(deps, token);
    if (known) {
      const { machine } = joinAs(program, deps, options);
      await assertStillMember(deps, token, known, { machine, signal: program.signal });
      program.print(`This host is in the fleet of ${known.hubName} as ${known.name} already.`);
      return;
    }
    assertNoMember(deps);
    confirmHub(program, { address: token.address, fingerprint: token.fingerprint }, options);
    const joined = await joinFleet(deps, token, joinAs(program, deps, options), program.signal);
    await report(program, deps, joined);
  });
}

async function joinWithAnswer(program: Program, file: string, options: Options): Promise<void> {
  await withFleet(program, async (deps) => {
    const answer = parseAnswer(readJoinFile(file));
    const fingerprint = await fingerprintOf(toBytes(answer.hubKey));
    confirmHub(program, { address: answer.address, fingerprint }, options);
    await report(program, deps, await acceptAnswer(deps, answer));
  });
}

async function waitForHub(program: Program, options: Options): Promise<void> {
  await withFleet(program, async (deps) => {
    const how = { ...joinAs(program, deps, options), address: options.address };
    const { token, expiresAt } = await listenForHub(deps, how);
    await recordCommand(program, deps, "join --listen", how.name);
    await noteFingerprint(program, deps);
    program.print(`longshore fleet add ${token}`);
    program.note(
      `Run this line on the hub until ${expiresAt}. It works once, and ends an earlier one.`,
    );
  });
  program.note("Its admins will manage the containers of this host, as far as this host allows.");
}

async function writeRequest(program: Program, file: string, options: Options): Promise<void> {
  await withFleet(program, async (deps) => {
    const request = await createRequest(deps, joinAs(program, deps, options));
    program.print(writeJoinFile(file, request));
    await noteFingerprint(program, deps);
  });
  program.note("Carry this file to the hub, and run there: longshore fleet answer FILE");
}

/** @throws {CommandError} Unless the operator agrees. */
function confirmHub(
  program: Program,
  { address, fingerprint }: { address: string; fingerprint: string },
  { yes }: Options,
): void {
  program.note(`Hub:         ${address}`);
  program.note(`Fingerprint: ${fingerprint}`);
  program.note("Its admins will manage the containers of this host, as far as this host allows.");
  if (yes) return;
  if (!program.input.isTerminal()) {
    throw new CommandError("The input is not a terminal: compare the fingerprint, then use --yes");
  }
  if (!confirm("Join this fleet?")) throw new CommandError("Not joined");
}

async function report(program: Program, deps: FleetDeps, joined: Membership): Promise<void> {
  await recordCommand(program, deps, "join", joined.hubName);
  await noteFingerprint(program, deps);
  program.print(`This host has joined the fleet of ${joined.hubName} as ${joined.name}.`);
  if (joined.isPending) program.note("It waits until an admin of that server accepts it.");
  // The variable of this command does not reach the service.
  if (joined.address.startsWith("http:")) {
    program.note(
      "The service needs FLEET_INSECURE=on, too: the hub's address begins with http://.",
    );
  }
}

async function noteFingerprint(program: Program, deps: FleetDeps): Promise<void> {
  const fingerprint = await fingerprintOf((await linkKeys(deps)).publicKey);
  program.note(`Fingerprint of this host: ${fingerprint}`);
}

/** Name and words by which an admin of the hub recognizes the machine. */
const joinAs = ({ surroundings }: Program, { config }: FleetDeps, { name }: Options) => ({
  name: name ?? config.serverName,
  machine: `${surroundings.hostname}, ${nodeOs().type()} ${Deno.build.arch}`,
});
