/**
 * Every setting of Compose files on real engines: the engine has it, or a warning or error names it.
 *
 * @module
 */

import { deepEqual } from "node:assert/strict";
import { type SettingCase, settingCases } from "../helpers/compose_settings.ts";
import { liveApp } from "../helpers/live_app.ts";
import { long } from "../helpers/long.ts";
import { engineTest, podmanTest, type RealEngine } from "../helpers/real_engine.ts";
import { checkNetworkWithoutIpv4, checkSettings } from "../helpers/settings_check.ts";
import { testStack } from "../helpers/test_stack.ts";

const REFUSED = ["cdi", "image", "isolated", "recursive-readonly", "subpath"];

/** All cases; their control group is below the one that the engine's sandbox removes. */
function casesOn({ socketPath }: RealEngine): SettingCase[] {
  const [, name] = /\/(longshore-test-[^/]+)\/[^/]+$/.exec(socketPath) ?? [];
  return settingCases(name === undefined ? {} : { cgroupParent: `/${name}/stack` })
    .filter(({ service }) => service !== "parent" || name !== undefined);
}

long(engineTest)("Docker has every setting of a Compose file, or it is named", async (real) => {
  await using app = await liveApp(real.socketPath);
  const { byPlan } = await checkSettings(
    app,
    () => testStack(app, real),
    casesOn(real),
  );
  // Settings that this engine (API 1.41 or newer) would mount or start otherwise.
  if (app.deps.engine.apiVersion === "1.41") deepEqual(byPlan.sort(), REFUSED);
  await using stack = testStack(app, real);
  await checkNetworkWithoutIpv4(app, stack);
});

long(podmanTest)("Podman has every setting of a Compose file, or it is named", async (real) => {
  await using app = await liveApp(real.socketPath);
  const cases = casesOn(real).filter(({ service }) =>
    // It runs health checks by timers of systemd, which is not there.
    service !== "checked"
  );
  await checkSettings(app, () => testStack(app, real), cases);
  await using stack = testStack(app, real);
  await checkNetworkWithoutIpv4(app, stack);
});
