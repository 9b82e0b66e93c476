/** A Git server, and an application whose stacks follow it. @module */

import { equal } from "node:assert/strict";
import { watchRepositories } from "../../services/git/watcher.ts";
import { temporaryDirectory } from "./command.ts";
import { simulateContainers } from "./fake_containers.ts";
import { fakeEngine } from "./fake_engine.ts";
import { gitServer } from "./git_server.ts";
import { type TestApp, testApp, type TestAppOptions } from "./test_app.ts";

export const MAPPING = [{ path: "stacks/*/compose.yaml", name: "*" }];

/** A server and an application that may reach it. */
export async function gitWorld(
  containers: Parameters<typeof simulateContainers>[0] = [],
  options: TestAppOptions = {},
  handlers: Parameters<typeof fakeEngine>[0] = {},
) {
  const server = await gitServer();
  const data = temporaryDirectory();
  const engine = fakeEngine({
    ...simulateContainers(containers),
    "GET /networks": () => Response.json([]),
    "GET /volumes": () => Response.json({ Volumes: [] }),
    "GET /info": () => Response.json({}),
    "GET /version": () => Response.json({}),
    ...handlers,
  });
  const app = testApp({
    now: "2026-01-01T12:00:00Z",
    ...options,
    engine: engine.engine,
    config: { ...options.config, dataDir: data.path, outboundAllow: ["127.0.0.1"] },
  });
  const add = async (url: string, more = {}) => {
    const { status, body } = await app.call("POST", "/api/git/repositories", {
      name: "Stacks",
      url,
      mapping: MAPPING,
      ...more,
    });
    equal(status, 201, JSON.stringify(body));
    return body;
  };
  return {
    app,
    server,
    add,
    async [Symbol.asyncDispose]() {
      app[Symbol.dispose]();
      await engine[Symbol.asyncDispose]();
      await server[Symbol.asyncDispose]();
      data[Symbol.dispose]();
    },
  };
}

/** A round of the worker, some minutes later. */
export async function round(app: TestApp): Promise<void> {
  app.clock.advance({ minutes: 10 });
  await watchRepositories(app.deps);
}
