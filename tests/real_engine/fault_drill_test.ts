/** The smallest part of `deno task fault-drill`. */

import { equal, match } from "node:assert/strict";
import { FAULTS } from "../fault_drill/faults.ts";
import { OPERATIONS } from "../fault_drill/operations.ts";
import { strike } from "../fault_drill/strike.ts";
import { openWorld } from "../fault_drill/world.ts";
import { long } from "../helpers/long.ts";
import { privateEngineTest } from "../helpers/real_engine.ts";

long(privateEngineTest)(
  "a volume that is full during a restore gets its files back",
  async (engine) => {
    await using world = await openWorld(engine);
    const fault = FAULTS.find(({ name }) => name === "disk of the volume full")!;
    const operation = OPERATIONS.find(({ name }) => name === "a restore")!;
    const { status, error } = await strike(world, operation, fault, 4);
    equal(status, "rolled_back");
    match(error!, /No space left/i);
  },
);
