/**
 * Histories of images in a fleet of four hosts with real engines and a real registry. Prints a line for
 * each history that has held, and all of them as a table.
 *
 * @module
 */

import { equal } from "node:assert/strict";
import { type Fleet, openFleet, STABLE_SECONDS } from "./fleet.ts";
import {
  awayHub,
  badImage,
  goodImage,
  inconclusive,
  lateFailure,
  liftedBlock,
  publish,
  runFirst,
  slowImage,
} from "./histories.ts";

const WAVES = { waves: ["wave=canary", "wave=home", "wave=shop"], hosts: 1, soakHours: 0 };

/** Automatic updates at any time, of an image as soon as it is seen. */
const AUTOMATIC = {
  enabled: true,
  policy: "auto",
  minimumAgeHours: 0,
  stableSeconds: STABLE_SECONDS,
  windows: [{ cron: "0 0 * * *", timeZone: "UTC", durationMinutes: 24 * 60 }],
};

/**
 * Lives through all histories. Updaters begin ten minutes after the start of their engine. A history
 * that fails does not end the others.
 *
 * @returns Whether all have held.
 */
export async function liveThroughEngines(): Promise<boolean> {
  const rows: string[] = [];
  let areHeld = true;
  const started = performance.now();
  const say = (text: string) =>
    console.log(`${((performance.now() - started) / 1000).toFixed(0).padStart(5)} s  ${text}`);
  const live = async (history: string, run: () => Promise<string>) => {
    const result = await run().catch((error) => {
      areHeld = false;
      console.error(error);
      return "failed";
    });
    say(`${history}: ${result}`);
    rows.push(`| ${history} | ${result} |`);
  };
  await using fleet = await openFleet();
  say("four hosts have joined");
  const first = await runFirst(fleet);
  await setUp(fleet);
  const good = await publish(fleet, "good:2");
  const bad = await publish(fleet, "bad:2");
  const late = await publish(fleet, "late:2");
  const slow = await publish(fleet, "slow:2");
  await fleet.check();
  say("four images are published; updaters begin ten minutes after their start");
  await live("fails at the canary", () => badImage(fleet, bad));
  await live("works", () => goodImage(fleet, good));
  await live(
    "fails in the third wave",
    () => lateFailure(fleet, { first: first.get("late")!, late }),
  );
  await live("inconclusive at the canary", () => inconclusive(fleet, slow));
  await live("block lifted, updated at the canary by hand", () => liftedBlock(fleet, bad));

  const away = await publish(fleet, "away:2");
  await fleet.check();
  await live("hub killed while the canary updates", () => awayHub(fleet, away));

  const slower = await publish(fleet, "slow:3");
  await fleet.check();
  await live("healthy after 40 s", () => slowImage(fleet, slower));
  console.log(["| image | result |", "| ----- | ------ |", ...rows].join("\n"));
  return areHeld;
}

async function setUp({ hub, members }: Fleet): Promise<void> {
  equal((await hub.call("PUT", "/api/fleet/waves", WAVES)).status, 200);
  for (const { longshore } of members) {
    const { status, body } = await longshore.call("PUT", "/api/updates/settings", AUTOMATIC);
    equal(status, 200, JSON.stringify(body));
  }
}
