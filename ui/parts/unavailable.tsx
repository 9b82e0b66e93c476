/** The page of an object that cannot be shown. @module */

import { LinkButton } from "../components/button.tsx";
import { Page } from "../components/page.tsx";
import type { Reading } from "../components/reading.ts";
import { Empty, Failure, Loading } from "../components/states.tsx";

/** It is still being read, reading it failed, or it does not exist. */
export function Unavailable({ name, list, things, reading: { error, reload } }: {
  /** Kind of object, e.g. `Monitor`. */
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
