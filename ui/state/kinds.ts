/** The lists of kinds that the service serves. @module */

import { type ReadonlySignal, signal } from "@preact/signals";
import { api } from "../api/client.ts";

/** The kinds of one thing. A version of the service has the same ones, so that they are read once. */
export interface Kinds<Kind> {
  /** `undefined` until they are known. */
  list: ReadonlySignal<readonly Kind[] | undefined>;
  /** @throws {ApiError} */
  read(): Promise<void>;
}

function kinds<Kind>(request: () => Promise<readonly Kind[]>): Kinds<Kind> {
  const list = signal<readonly Kind[] | undefined>(undefined);
  let reading: Promise<void> | undefined;
  return {
    list,
    read() {
      return reading ??= request().then(
        (found) => {
          list.value = found;
        },
        (error) => {
          reading = undefined;
          throw error;
        },
      );
    },
  };
}

export const eventKinds = kinds(async () => (await api("GET /api/events/kinds")).kinds);

export const alertMetrics = kinds(async () => (await api("GET /api/alerts/metrics")).metrics);

export const remediationMetrics = kinds(
  async () => (await api("GET /api/ext/service-pro/remediation/metrics")).metrics,
);

export const jobKinds = kinds(async () => (await api("GET /api/jobs/kinds")).kinds);

export const scheduleKinds = kinds(async () => (await api("GET /api/schedules/kinds")).kinds);
