/**
 * The page of an object that cannot be shown.
 *
 * @module
 */

import { LinkButton } from "./button.tsx";
import { Page } from "./page.tsx";
import type { Reading } from "./reading.ts";
import { Empty, Failure, Loading } from "./states.tsx";

/** It is still being read, reading it failed, or it does not exist. */
export function Unavailable({ name, list, things, reading: { error, reload } }: {
  /** What it is, e.g. `Monitor`. */
  name: string;
  /** The path of all, which are `things`. */
  list: string;
  things: string;
  reading: Reading<unknown>;
}) {
  if (!error.value) return <Loading name={name} />;
  if (error.value.status !== 404) {
    return (
      <Page title={name}>
        <Failure error={error.value} onRetry={reload} />
      </Page>
    );
  }
  return (
    <Page title={`${name} not found`}>
      <Empty action={<LinkButton to={list}>Show all {things}</LinkButton>}>
        It may have been deleted.
      </Empty>
    </Page>
  );
}
