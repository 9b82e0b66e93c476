import { equal, throws } from "node:assert/strict";
import { createReservations } from "../../../services/containers/reservations.ts";
import { AppError } from "../../../services/errors.ts";
import type { JobKind } from "../../../services/jobs/kind.ts";
import { deployKind } from "../../../services/compose/deploy/kinds.ts";
import type { DeployInput } from "../../../services/compose/deploy/job.ts";
import { snapshotKind } from "../../../services/snapshots/kinds.ts";
import { restoreKind } from "../../../services/snapshots/restore/kinds.ts";
import { stackRestoreKind } from "../../../services/snapshots/stack/kinds.ts";
import { rollbackKind, updateKind } from "../../../services/updates/run/kind.ts";
import { testApp } from "../../helpers/test_app.ts";

/** The parts of the inputs by which the jobs reserve. */
const input = {
  containerId: "1".repeat(64),
  name: "shop-db-1",
  affected: [{ id: "1".repeat(64), name: "shop-db-1" }],
  parts: [{ to: { path: "/volumes/data" } }],
  volumes: [],
  directories: [],
};

const kinds = [snapshotKind, restoreKind, stackRestoreKind, updateKind, rollbackKind] as JobKind[];

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

Deno.test("a deploy is refused while a volume that it mounts is restored, but not beside another deploy", () => {
  using app = testApp();
  const { deps } = app;
  const volume = { id: "/volumes/data", name: "/volumes/data" };
  const deploy = (target: string) =>
    deployKind.reserve!(deps, {
      target,
      input: { affected: [], mounted: [volume] } as unknown as DeployInput,
    });
  {
    const restored = { ...input, affected: [] };
    using _ = (restoreKind as JobKind).reserve!(deps, { target: "data", input: restored });
    throws(() => deploy("shop"), { message: "/volumes/data is being restored" });
    equal(deps.reservations.find({ id: "shop", name: "shop" }), undefined);
  }
  using _shop = deploy("shop");
  using _other = deploy("other");
  throws(() => (restoreKind as JobKind).reserve!(deps, { target: "data", input }), {
    code: "conflict",
  });
});

Deno.test("a volume that no container writes to is not restored while it is read, and not read while it is restored", () => {
  using app = testApp();
  const { deps } = app;
  const volume = { id: "/volumes/data", name: "/volumes/data" };
  const start = (kind: unknown, target: string) =>
    (kind as JobKind).reserve!(deps, {
      target,
      input: { ...input, affected: [], read: [volume] },
    });
  {
    using _backup = start(snapshotKind, "data, more");
    using _other = start(snapshotKind, "shop");
    throws(() => start(restoreKind, "data"), { message: "/volumes/data is being backed up" });
  }
  using _restore = start(restoreKind, "data");
  throws(() => start(snapshotKind, "data, more"), { message: "/volumes/data is being restored" });
  equal(deps.reservations.find({ id: "data, more", name: "data, more" }), undefined);
});
