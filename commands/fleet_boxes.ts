/** `longshore fleet export` and `longshore fleet import`: requests that are carried to a host. @module */

import { selectFleetHostByName } from "../db/fleet_hosts.ts";
import { createAccounts } from "../services/access/accounts.ts";
import { storedHostPolicy } from "../services/editions.ts";
import { AppError } from "../services/errors.ts";
import { BOX_TEXT_MAX } from "../services/fleet/away/box.ts";
import { exportBoxes } from "../services/fleet/away/boxes.ts";
import { type BoxView, receiveBox, type ReceiveDeps } from "../services/fleet/away/received.ts";
import { readRegularFile } from "../services/secrets/private_file.ts";
import { parseArguments } from "./arguments.ts";
import { recordCommand } from "./console.ts";
import { withFleet } from "./fleet_state.ts";
import { CommandError, commandError, type Program, UsageError } from "./program.ts";

/** Limits of a file: of as many requests as a hub keeps. */
const BOXES_MAX = 200;
const FILE_BYTES_MAX = BOXES_MAX * (BOX_TEXT_MAX + 1);

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
  const boxes = readBoxes(file).split("\n", BOXES_MAX + 1).filter((line) => line !== "");
  if (boxes.length === 0) throw new CommandError(`${file} has no boxes`);
  if (boxes.length > BOXES_MAX) throw new CommandError(`${file} has more than ${BOXES_MAX} boxes`);
  const { received, refused } = await withFleet(program, async (deps) => {
    const outcome = await receiveBoxes(deps, boxes);
    const ids = outcome.received.map(({ id }) => id).join(" ");
    if (ids !== "") await recordCommand(program, deps, "fleet import", ids);
    return outcome;
  });
  for (const { request, state, user } of received) program.print(`${request} of ${user}: ${state}`);
  if (received.length > 0) {
    program.note("The service runs each request once; GET /api/boxes has the results.");
  }
  for (const { box, reason } of refused) program.note(`Box ${box}: ${reason}`);
  if (refused.length > 0) {
    throw new CommandError(`${refused.length} of ${boxes.length} boxes were refused`);
  }
}

/** Receives each box on its own: one that is refused, which has a number from 1, keeps no other back. */
export async function receiveBoxes(deps: ReceiveDeps, boxes: readonly string[]) {
  const received: BoxView[] = [];
  const refused: { box: number; reason: string }[] = [];
  for (const [at, box] of boxes.entries()) {
    try {
      received.push(await receiveBox(deps, box));
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      refused.push({ box: at + 1, reason: error.message });
    }
  }
  return { received, refused };
}

function readBoxes(path: string): string {
  try {
    return readRegularFile(path, FILE_BYTES_MAX);
  } catch (error) {
    throw commandError(`${path} cannot be used`, error);
  }
}
