/** Text in place of containers that are not known. @module */

import { LinkButton } from "../components/button.tsx";
import { Empty, Loading } from "../components/states.tsx";
import { engineReachable, isHostAway } from "../state/live.ts";
import { HOST } from "../state/root.ts";

/** Whether they cannot be read now. */
export const cannotBeRead = (): boolean => engineReachable.value === false || isHostAway.value;

/**
 * They are being read, or the engine or the host was unreachable since the page was opened.
 *
 * @param props.name Also of the list over all hosts, which has what this server knows of an away host.
 */
export const UnknownContainers = ({ name }: { name: "Containers" | "Stacks" }) =>
  cannotBeRead()
    ? (
      <section class="section" aria-label={name}>
        <header>
          <h2>{name}</h2>
        </header>
        {isHostAway.value
          ? (
            <Empty
              action={
                <LinkButton to={`/hosts?list=${name.toLowerCase()}&host=${HOST}`}>
                  Show the last known ones
                </LinkButton>
              }
            >
              Not known while host {HOST} cannot be reached. They appear when it is back.
            </Empty>
          )
          : (
            <Empty>
              Not known while the engine is unreachable. They appear here when it answers.
            </Empty>
          )}
      </section>
    )
    : <Loading name={name} />;
