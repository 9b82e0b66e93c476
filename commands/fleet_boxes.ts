/** `longshore fleet export` and `longshore fleet import`: requests that are carried to a host. @module */

import { selectFleetHostByName } from "../db/fleet_hosts.ts";
import { createAccounts } from "../services/access/accounts.ts";
import { storedHostPolicy } from "../services/editions.ts";
import { BOX_TEXT_MAX } from "../services/fleet/away/box.ts";
import { exportBoxes } from "../services/fleet/away/boxes.ts";
import { receiveBox } from "../services/fleet/away/received.ts";
import { readRegularFile } from "../services/secrets/private_file.ts";
import { parseArguments } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { withFleet } from "./fleet_state.ts";
import { CommandError, commandError, type Program, UsageError } from "./program.ts";

/** Limit of a file: of as many requests as a hub keeps, most of which are short. */
const FILE_BYTES_MAX = 16 * BOX_TEXT_MAX;

export async function exportFor(program: Program): Promise<void> {
  const { options: { host: name } } = parseArguments("fleet export", program, [], {
    host: "value",
  });
  if (name === undefined) throw new UsageError("fleet export needs --host NAME");
  const boxes = await withFleet(program, async (deps) => {
    const host = selectFleetHostByName(deps.db, name);
    if (!host) throw new CommandError(`No host of the fleet has the name ${name}`);
    const accounts = createAccounts(deps.db, deps.config, deps.now);
    const accessPolicy = () => storedHostPolicy(deps);
    const exported = await exportBoxes({ ...deps, accounts, accessPolicy }, host.id);
    if (exported.length === 0) throw new CommandError(`Nothing waits for ${name}`);
    await recordCommand(program, deps, "fleet export", name, [name, host.id]);
    return exported;
  });
  for (const box of boxes) program.print(box);
  program.note(`Carry this to ${name}, and run there: longshore fleet import FILE`);
}

export async function importFrom(program: Program): Promise<void> {
  const { values: [file] } = parseArguments("fleet import", program, ["FILE"], {});
  const lines = readBoxes(file).split("\n").filter((line) => line !== "");
  const received = await withFleet(program, async (deps) => {
    const views = [];
    for (const box of lines) views.push(await receiveBox(deps, box));
    await recordCommand(program, deps, "fleet import", views.map(({ id }) => id).join(" "));
    return views;
  });
  for (const { request, state, user } of received) program.print(`${request} of ${user}: ${state}`);
  program.note("The service runs each request once; GET /api/boxes has the results.");
}

function readBoxes(path: string): string {
  try {
    return readRegularFile(path, FILE_BYTES_MAX);
  } catch (error) {
    throw commandError(`${path} cannot be used`, error);
  }
}
