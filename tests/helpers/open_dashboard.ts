/** The dashboard of the real program, with an engine of simulated containers. @module */

import { type Dashboard, startDashboardBrowser, type View } from "./dashboard.ts";
import { simulateContainers, type SimulatedContainer } from "./fake_containers.ts";
import { type FakeAnswer, fakeEngine } from "./fake_engine.ts";
import { type Longshore, startLongshore } from "./longshore.ts";

export interface OpenDashboard extends AsyncDisposable {
  service: Longshore;
  /** Signed in with the API key. */
  tab: Dashboard;
}

/** Starts engine, program and browser. */
export async function openDashboard({ containers, answers, env = {}, hasTrial, view, path }: {
  containers: SimulatedContainer[];
  /** More of what the engine answers. */
  answers?: Record<string, FakeAnswer>;
  env?: Record<string, string>;
  /** Starts the trial, which opens the pages of all editions. */
  hasTrial?: boolean;
  view?: View;
  /** The page to open; default: the overview. */
  path?: string;
}): Promise<OpenDashboard> {
  await using stack = new AsyncDisposableStack();
  const { socketPath } = stack.use(fakeEngine({ ...simulateContainers(containers), ...answers }));
  const service = stack.use(await startLongshore({ engineSocket: socketPath, env }));
  if (hasTrial) await service.call("POST", "/api/edition/trial");
  const browser = stack.use(await startDashboardBrowser());
  const tab = await browser.signIn(service, view, { ...(path !== undefined && { path }) });
  const all = stack.move();
  return { service, tab, [Symbol.asyncDispose]: () => all.disposeAsync() };
}
