import { equal } from "node:assert/strict";
import { selectHealthTime } from "../../../db/updates/health_times.ts";
import { recordHealthTime } from "../../../services/containers/health_time.ts";
import type { Container } from "../../../services/containers/inventory.ts";
import { containerOf, idOf } from "../../helpers/fake_containers.ts";
import { testApp } from "../../helpers/test_app.ts";

const HEALTHY = {
  Action: "health_status: healthy",
  Actor: { ID: idOf("web"), Attributes: { name: "web" } },
};

Deno.test("the longest time from a start to healthy is kept", () => {
  using app = testApp({ now: "2026-01-01T00:00:40Z" });
  const { db, inventory } = app.deps;
  const become = (fields: Partial<Container>) => {
    inventory.put(containerOf({ name: "web", ...fields }), inventory.readNumber());
    recordHealthTime(app.deps, HEALTHY);
  };

  become({ health: "starting", startedAt: "2026-01-01T00:00:00.000Z" });
  equal(selectHealthTime(db, "web"), 40_000);
  become({ health: "starting", startedAt: "2026-01-01T00:00:30.000Z" });
  equal(selectHealthTime(db, "web"), 40_000, "a shorter one");
  become({ health: "unhealthy", startedAt: "2025-12-31T00:00:00.000Z" });
  equal(selectHealthTime(db, "web"), 40_000, "a recovery is not a start");
});
