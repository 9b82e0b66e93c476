/**
 * A program that uses the two clients: compiled only, so that the names and types that it needs are
 * there and can be read.
 */

import {
  type AlertRule,
  type Container,
  type ContainerDetail,
  createWebhook,
  type EditionLimit,
  type Image,
  listContainers,
  type NewWebhook,
  stopContainer,
  type WebhookChanges,
} from "./generated/sdk/index.ts";
import type { components, operations, paths } from "./generated/types.ts";

export async function namesOfRunning(baseUrl: string, auth: string): Promise<string[]> {
  const { data, error } = await listContainers({ baseUrl, auth, query: { state: "running" } });
  if (error) throw new Error(error.error);
  return data.containers.map(({ name }: Container) => name);
}

export async function stop(baseUrl: string, auth: string, { id }: ContainerDetail) {
  const { data } = await stopContainer({ baseUrl, auth, path: { id }, query: { t: 5 } });
  return data?.state;
}

export async function watch(baseUrl: string, auth: string, body: NewWebhook) {
  const { data, error } = await createWebhook({ baseUrl, auth, body });
  const limit = error as EditionLimit | undefined;
  return data?.secret ?? limit?.max;
}

export const sizes = (images: Image[]): number => images.reduce((sum, { size }) => sum + size, 0);
export const thresholds = (rules: AlertRule[]): number[] => rules.map(({ threshold }) => threshold);
export const off: WebhookChanges = { enabled: false };

/** The types of the other generator are the same. */
export const same = (container: components["schemas"]["Container"]): Container => container;
export type Stream = operations["streamEvents"]["parameters"]["query"];
export const types: Stream = { types: ["metrics", "event"] };
export type Overview = paths["/api/overview"]["get"]["responses"][200];
