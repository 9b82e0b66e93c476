/**
 * Every setting of Compose files on engines of several API versions: the engine has it, or a warning or
 * error names it. `tests/real_engine/stack_settings_test.ts` does the same with real engines.
 *
 * @module
 */

import { deepEqual, equal, ok } from "node:assert/strict";
import type { EngineInfo } from "../../../../engine/system.ts";
import type { Service } from "../../../../services/compose/load/resolve.ts";
import { unsupportedSettings } from "../../../../services/compose/plan/requirements.ts";
import { missingCases, settingCases } from "../../../helpers/compose_settings.ts";
import { liveApp } from "../../../helpers/live_app.ts";
import { checkNetworkWithoutIpv4, checkSettings } from "../../../helpers/settings_check.ts";
import { apiStack } from "../../../helpers/test_stack.ts";
import { versionedEngine } from "../../../helpers/versioned_engine.ts";

Deno.test("every key that the loader reads has a case", () => {
  deepEqual(missingCases(), []);
});

const CDI = { CDISpecDirs: ["/etc/cdi"] };

for (
  const { version, info, refused } of [
    {
      version: "1.41",
      info: {},
      refused: ["cdi", "image", "isolated", "recursive-readonly", "subpath"],
    },
    { version: "1.44", info: CDI, refused: ["image", "isolated", "subpath"] },
    {
      version: "1.52",
      info: { ...CDI, DiscoveredDevices: [{ Source: "cdi", ID: "example.org/gpu=0" }] },
      refused: ["isolated"],
    },
  ]
) {
  Deno.test(`an engine of API ${version} has every setting, or it is named`, async () => {
    await using engine = versionedEngine(version, info);
    await using app = await liveApp(engine.socketPath);
    const { byPlan, byEngine } = await checkSettings(app, () => apiStack(app), settingCases());
    deepEqual(byPlan.sort(), refused);
    deepEqual(byEngine, []);
    await using stack = apiStack(app);
    await checkNetworkWithoutIpv4(app, stack);
  });
}

const WEB = { image: "a" } as const;
const MOUNT = { target: "/x" } as const;

/** Settings, the first version that has them, and whether a deploy is refused before. */
const SINCE: readonly [Partial<Service>, string, boolean][] = [
  [{ annotations: { a: "b" } }, "1.43", false],
  [{ cgroup: "private" }, "1.41", false],
  [{ healthcheck: { start_interval: "1s" } }, "1.44", false],
  [{ networks: { a: { gw_priority: 1 } } }, "1.48", false],
  [{ networks: { a: { mac_address: "02:42:ac:11:00:02" } } }, "1.44", false],
  [{ volumes: [{ ...MOUNT, type: "bind", bind: { recursive: "writable" } }] }, "1.44", false],
  [{ volumes: [{ ...MOUNT, type: "bind", bind: { recursive: "readonly" } }] }, "1.44", true],
  [{ volumes: [{ ...MOUNT, type: "volume", volume: { subpath: "a" } }] }, "1.45", true],
  [{ volumes: [{ ...MOUNT, type: "image", source: "a" }] }, "1.48", true],
  [{ devices: [{ source: "example.org/gpu=0" }] }, "1.44", true],
];

for (const [setting, since, isRefused] of SINCE) {
  Deno.test(`${JSON.stringify(setting)} needs API ${since}`, () => {
    const before = `1.${Number(since.slice(2)) - 1}`;
    const of = (apiVersion: string) =>
      unsupportedSettings("web", { ...WEB, ...setting }, { apiVersion, info: CDI });
    const { refusals, warnings } = of(before);
    equal(refusals.length + warnings.length, 1);
    const text = `needs API version ${since}, the engine has ${before}`;
    ok((isRefused ? refusals : warnings)[0]!.includes(text));
    deepEqual(of(since), { refusals: [], warnings: [] });
  });
}

Deno.test("a device by its CDI name needs an engine that knows it", () => {
  const refusals = (info: Partial<EngineInfo>) =>
    unsupportedSettings(
      "web",
      { ...WEB, devices: [{ source: "example.org/gpu=0" }] },
      { apiVersion: "1.52", info },
    ).refusals;

  deepEqual(refusals({ CDISpecDirs: [] }), [
    "devices (example.org/gpu=0) of web: CDI is not enabled on the engine",
  ]);
  deepEqual(refusals({ ...CDI, DiscoveredDevices: [] }), [
    "devices (example.org/gpu=0) of web: the engine does not know this device",
  ]);
  deepEqual(refusals(CDI), []);
});

Deno.test("limits that the host cannot apply are named, and the stack comes to rest", async () => {
  const info = { MemoryLimit: false, SwapLimit: false, CPUShares: false, OomKillDisable: false };
  await using engine = versionedEngine("1.44", info);
  await using app = await liveApp(engine.socketPath);
  const create = engine.answers["POST /containers/create"]!;
  engine.answers["POST /containers/create"] = (request) => {
    // As the engine discards them.
    const { HostConfig } = request.body;
    Object.assign(HostConfig, { Memory: 0, MemorySwap: -1, CpuShares: 0, OomKillDisable: false });
    return create(request);
  };
  await using stack = apiStack(app);
  await stack.store({
    services: {
      web: {
        image: "a",
        mem_limit: "64m",
        memswap_limit: "128m",
        cpu_shares: 512,
        oom_kill_disable: true,
      },
    },
  });

  const job = await stack.deploy();

  equal(job.status, "succeeded", job.error ?? "");
  for (const key of ["mem_limit", "memswap_limit", "cpu_shares", "oom_kill_disable"]) {
    const start = `${key} of web has no effect: the engine reports that its host cannot do it`;
    ok(job.result.warnings.some((text: string) => text.startsWith(start)), key);
  }
  deepEqual((await stack.plan()).changes.filter(({ action }) => action !== "none"), []);
});
