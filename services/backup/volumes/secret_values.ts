/** Secret values in errors about the volumes of containers: viewers see jobs. @module */

import type { Engine } from "../../../engine/client.ts";
import { withoutContainerValues, withoutValues } from "../../containers/secret_values.ts";

/** Does work for the volumes of containers; its errors have no values of those. */
export async function withoutValuesOf<Result>(
  engine: Engine,
  containers: readonly { id: string }[],
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    let shown = withoutValues(error, []);
    for (const { id } of containers) shown = await withoutContainerValues(engine, id, shown);
    throw shown;
  }
}
