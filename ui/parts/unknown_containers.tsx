/** Text in place of containers that are not known. @module */

import { Empty, Loading } from "../components/states.tsx";
import { engineReachable, hostAway } from "../state/live.ts";

/** Whether they cannot be read now. */
export const cannotBeRead = () => engineReachable.value === false || hostAway.value;

/** They are being read, or the engine or the host was unreachable since the page was opened. */
export const UnknownContainers = ({ name }: { name: "Containers" | "Stacks" }) =>
  cannotBeRead()
    ? (
      <section class="section" aria-label={name}>
        <header>
          <h2>{name}</h2>
        </header>
        {hostAway.value ? <hostAway.value.Text list={name} /> : (
          <Empty>
            Not known while the engine is unreachable. They appear here when it answers.
          </Empty>
        )}
      </section>
    )
    : <Loading name={name} />;
