/**
 * The real application on a real engine, with its snapshot of the containers kept up to date.
 *
 * @module
 */

import { connectEngine } from "../../engine/client.ts";
import type { EngineEndpoint } from "../../engine/endpoint.ts";
import { containerWatcher } from "../../services/containers/watcher.ts";
import { type TestApp, testApp, type TestAppOptions } from "./test_app.ts";
import { until } from "./until.ts";

export type LiveApp = Omit<TestApp, typeof Symbol.dispose> & AsyncDisposable;

/** Resolves when the snapshot is live. */
export async function liveApp(
  endpoint: string | EngineEndpoint,
  options: Omit<TestAppOptions, "engine"> = {},
): Promise<LiveApp> {
  const engine = connectEngine(endpoint);
  const { [Symbol.dispose]: dispose, ...app } = testApp({
    now: new Date().toISOString(),
    ...options,
    engine,
  });
  const end = new AbortController();
  const watching = containerWatcher.run(app.deps, end.signal, () => {});
  const live: LiveApp = {
    ...app,
    async [Symbol.asyncDispose]() {
      end.abort();
      await watching;
      dispose();
      engine.close();
    },
  };
  try {
    await until("the engine is followed", () => app.deps.inventory.live);
  } catch (error) {
    await live[Symbol.asyncDispose]();
    throw error;
  }
  return live;
}
