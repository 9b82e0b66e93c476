/** The adapters of all editions, and which of them the license includes. @module */

import { selectIntegration } from "../../../db/integrations.ts";
import type { Deps } from "../../deps.ts";
import { AppError, LimitError } from "../../errors.ts";
import { type Adapter, findAdapter, type LoadedAdapter } from "./adapter.ts";
import { type Edition, editionName, includesEdition } from "../../edition.ts";

/** An adapter in the list of adapters. */
interface AdapterView {
  id: string;
  name: string;
  edition: Edition;
  /** Whether the current license includes it. */
  available: boolean;
  config: LoadedAdapter["fields"];
}

/** All adapters, including those of other editions. */
export async function listAdapters(
  { adapters, license }: Pick<Deps, "adapters" | "license">,
): Promise<AdapterView[]> {
  return await Promise.all(adapters.map(async ({ id, name, edition, load }) => ({
    id,
    name,
    edition,
    available: includesEdition(license.edition, edition),
    config: (await load()).fields,
  })));
}

/**
 * Checks the adapter of a request to create or change an integration, before its input is
 * validated.
 *
 * @param adapterId As given in the request.
 * @param id The integration to change, which may keep its current adapter.
 * @throws {LimitError} If the current edition lacks the adapter.
 */
export function assertAdapterLicensed(
  { adapters, db, license }: Pick<Deps, "adapters" | "db" | "license">,
  adapterId: unknown,
  id?: string,
): void {
  const adapter = typeof adapterId === "string" ? findAdapter(adapters, adapterId) : undefined;
  if (!adapter || id !== undefined && selectIntegration(db, id)?.adapter === adapter.id) return;
  assertLicensed(license, adapter);
}

/** @throws {LimitError} If the current edition lacks the adapter. */
export function assertLicensed(license: Deps["license"], { name, edition }: Adapter): void {
  if (!includesEdition(license.edition, edition)) {
    const message = `The integration adapter ${name} needs the ${
      editionName(edition)
    } (integrations)`;
    throw new LimitError(message, 0, 0);
  }
}

/** @throws {AppError} `invalid` for an unknown id or alias. */
export function findKnownAdapter({ adapters }: Pick<Deps, "adapters">, id: string): Adapter {
  const adapter = findAdapter(adapters, id);
  if (!adapter) {
    const known = adapters.map((each) => each.id).join(", ");
    throw new AppError("invalid", `body.adapter: must be one of ${known}`);
  }
  return adapter;
}
