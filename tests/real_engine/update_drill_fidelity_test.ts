/**
 * Random containers are recreated from the same image, and do not differ afterwards.
 *
 * By default a few of a fixed seed; `deno task drill` creates 200 of a new one.
 *
 * @module
 */

import { deepEqual, equal } from "node:assert/strict";
import { containerInspect } from "../../engine/containers.ts";
import { comparableContainer, differences } from "../helpers/comparable_container.ts";
import { FULL_DRILL_SEED, randomNumbers, reportDrill, updateContainer } from "../helpers/drill.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { randomContainer } from "../helpers/random_container.ts";
import { privateEngineTest } from "../helpers/real_engine.ts";
import { createRandom, PARTNERS, removeLike, surroundings } from "../helpers/surroundings.ts";

const SEED = FULL_DRILL_SEED ?? 12;
const COUNT = FULL_DRILL_SEED === undefined ? 8 : 200;

/** Jobs that run at the same time, each with a partner of its own. */
const TOGETHER = PARTNERS;

/** Recreates a container from its own image. */
const UPDATE = { pull: "never", force: true, stableSeconds: 1 };

long(privateEngineTest)(
  `${COUNT} random containers (seed ${SEED}) are recreated without a difference`,
  async (engine) => {
    const name = `longshore-test-drill-${crypto.randomUUID().slice(0, 8)}`;
    await using given = await surroundings(engine, name);
    await using app = await liveApp(engine.socketPath);
    app.deps.now = () => new Date();
    const client = app.deps.engine;
    const random = randomNumbers(SEED);

    const recreate = async (index: number, isStarted: boolean, wanted: ReturnType<typeof next>) => {
      const ref = `${name}-${index}`;
      try {
        await createRandom(client, ref, wanted, isStarted);
        const before = comparableContainer(await containerInspect(client, ref));
        const job = await updateContainer(app, ref, UPDATE);
        equal(job.status, "succeeded", job.error ?? "");
        const after = comparableContainer(await containerInspect(client, ref));
        deepEqual(differences(before, after), []);
      } catch (cause) {
        const body = JSON.stringify(wanted, null, 2);
        throw new Error(`Container ${index} of seed ${SEED}: ${cause}\n${body}`, { cause });
      }
    };
    const next = (index: number) => {
      // Those that share namespaces of one container are recreated one at a time.
      const partner = given.partners[index % TOGETHER]!;
      return randomContainer(random, index % 100, { ...given, partner });
    };

    for (let index = 0; index < COUNT; index += TOGETHER) {
      const batch = Array.from({ length: TOGETHER }, (_, at) => index + at)
        .map((index) => ({ index, isStarted: random() < 0.7, wanted: next(index) }));
      const outcomes = await Promise.allSettled(
        batch.map(({ index, isStarted, wanted }) => recreate(index, isStarted, wanted)),
      );
      await removeLike(engine, `${name}-`);
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") throw outcome.reason;
      }
    }
    reportDrill(`${COUNT} random containers recreated (seed ${SEED})`, "no difference");
  },
);
