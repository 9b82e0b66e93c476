import { deepEqual } from "node:assert/strict";
import { UNLIMITED } from "../../../../services/access/scope.ts";
import { replaceCheckedImage } from "../../../../db/updates/images.ts";
import { listUpdates } from "../../../../services/updates/check/list.ts";
import { createSwarmManager } from "../../../../services/swarm/manager.ts";
import { fakeEngine } from "../../../helpers/fake_engine.ts";
import { simulateContainers } from "../../../helpers/fake_containers.ts";
import { testApp } from "../../../helpers/test_app.ts";

const AT = "2026-01-01T00:00:00.000Z";
const [OLD, NEW] = ["a", "b"].map((digit) => `sha256:${digit.repeat(64)}`) as [string, string];

Deno.test("an update of a service is seen by its pinned digest if its tasks run on other nodes", async () => {
  const service = {
    ID: "s1",
    Version: { Index: 1 },
    CreatedAt: AT,
    UpdatedAt: AT,
    Spec: {
      Name: "shop_web",
      Labels: { "com.docker.stack.namespace": "shop" },
      TaskTemplate: { ContainerSpec: { Image: `registry.example/app:1@${OLD}` } },
      Mode: { Replicated: { Replicas: 2 } },
    },
  };
  await using fake = fakeEngine({
    ...simulateContainers([]),
    "GET /info": () =>
      Response.json({ Swarm: { LocalNodeState: "active", ControlAvailable: true } }),
    "GET /services": () => Response.json([service]),
    "GET /tasks": () => Response.json([]),
    "GET /images/json": () => Response.json([]),
  });
  using app = testApp({ engine: fake.engine });
  const deps = { ...app.deps, swarm: createSwarmManager(fake.engine, app.deps.now) };
  const read = async (stacks: string[] | null) =>
    (await listUpdates(deps, { scope: { ...UNLIMITED, stacks } }))
      .map(({ image, status, services }) => ({ image, status, services }));
  const row = (status: string, isOutdated: boolean) => [{
    image: "registry.example/app:1",
    status,
    services: [{ name: "shop_web", stack: "shop", digest: OLD, isOutdated }],
  }];

  deepEqual(await read(null), row("unknown", false));
  for (const [latestDigest, status] of [[OLD, "up_to_date"], [NEW, "update_available"]] as const) {
    replaceCheckedImage(deps.db, {
      image: "registry.example/app:1",
      latestDigest,
      newerVersions: [],
      versionsReason: null,
      reason: null,
      rateLimitRemaining: null,
      checkedAt: AT,
      lastGoodAt: AT,
      retryAt: null,
      jitter: 0,
    });
    deepEqual(await read(["shop"]), row(status, latestDigest === NEW));
  }
  deepEqual(await read(["blog"]), []);
});
