/** `longshore join TOKEN`: joins the fleet of the server that has made the token. @module */

import { nodeOs } from "../services/builtins.ts";
import { AppError } from "../services/errors.ts";
import { assertNoMember, joinFleet } from "../services/fleet/enrolment/join.ts";
import { fingerprintOf, linkKeys } from "../services/fleet/enrolment/keys.ts";
import { decodeToken, type JoinToken } from "../services/fleet/enrolment/token.ts";
import { parseArguments } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { withFleet } from "./fleet_state.ts";
import { CommandError, EXIT, type Program, UsageError } from "./program.ts";

export async function join(program: Program): Promise<number> {
  const { values: [token], options } = parseArguments("join", program, ["TOKEN"], {
    yes: "flag",
    name: "value",
  });
  const given = tokenOf(token);
  const { surroundings, signal } = program;
  const joined = await withFleet(program, async (deps) => {
    assertNoMember(deps);
    program.note(`Hub:         ${given.address}`);
    program.note(`Fingerprint: ${given.hubFingerprint}`);
    program.note("Its admins will manage the containers of this host, as far as this host allows.");
    if (!options.yes) assertConfirmed();
    const name = options.name ?? deps.config.serverName;
    const machine = machineOf(surroundings.hostname);
    const membership = await joinFleet(deps, given, { name, machine }, signal);
    await recordCommand(program, deps, "join", membership.hubName);
    return { ...membership, fingerprint: await fingerprintOf((await linkKeys(deps)).publicKey) };
  });
  program.note(`Fingerprint of this host: ${joined.fingerprint}`);
  program.print(`This host has joined the fleet of ${joined.hubName} as ${joined.name}.`);
  if (joined.isPending) program.note("It waits until an admin of that server accepts it.");
  return EXIT.ok;
}

function tokenOf(text: string): JoinToken {
  try {
    return decodeToken(text);
  } catch (error) {
    throw error instanceof AppError ? new UsageError(error.message) : error;
  }
}

/** @throws {CommandError} Unless the operator says yes. */
function assertConfirmed(): void {
  if (!Deno.stdin.isTerminal()) {
    throw new CommandError("The input is not a terminal: compare the fingerprint, then use --yes");
  }
  if (!confirm("Join this fleet?")) throw new CommandError("Not joined");
}

/** Words by which an admin of the hub recognizes the machine. */
const machineOf = (hostname: string) => `${hostname}, ${nodeOs().type()} ${Deno.build.arch}`;
