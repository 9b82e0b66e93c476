/** Text in place of containers that are not known. @module */

import { engineReachable } from "../state/live.ts";
import { Empty, Loading } from "../components/states.tsx";

/** They are being read, or the engine was unreachable since the page was opened. */
export const UnknownContainers = ({ name }: { name: string }) =>
  engineReachable.value === false
    ? (
      <section class="section" aria-label={name}>
        <header>
          <h2>{name}</h2>
        </header>
        <Empty>Not known while the engine is unreachable. They appear here when it answers.</Empty>
      </section>
    )
    : <Loading name={name} />;
