import { throws } from "node:assert/strict";
import { createReservations } from "../../../services/containers/reservations.ts";
import { AppError } from "../../../services/errors.ts";
import type { JobKind } from "../../../services/jobs/kind.ts";
import { snapshotKind } from "../../../services/snapshots/kinds.ts";
import { restoreKind } from "../../../services/snapshots/restore/kinds.ts";
import { stackRestoreKind } from "../../../services/snapshots/stack/kinds.ts";
import { testApp } from "../../helpers/test_app.ts";

/** The parts of the inputs by which the jobs reserve. */
const input = {
  affected: [{ id: "1".repeat(64), name: "shop-db-1" }],
  parts: [{ to: { path: "/volumes/data" } }],
  volumes: [],
  directories: [],
};

const kinds = [snapshotKind, restoreKind, stackRestoreKind] as JobKind[];

for (const running of kinds) {
  for (const other of kinds.filter((kind) => kind !== running)) {
    Deno.test(`${other.id} is refused while ${running.id} of the same stack runs`, () => {
      using app = testApp();
      const deps = { ...app.deps, reservations: createReservations() };
      using _ = running.reserve!(deps, { target: "shop", input });
      throws(
        () => other.reserve!(deps, { target: "shop", input }),
        (error) => error instanceof AppError && /^shop-db-1 is being/.test(error.message),
      );
    });
  }
}
