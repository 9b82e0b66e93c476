/** Report of a takeover. @module */

import { useEffect, useRef } from "preact/hooks";
import { Icon } from "../../components/icon.tsx";
import { count, plain } from "../../base/text.ts";
import { stackPath } from "../../paths.ts";
import { href } from "../../state/router.ts";

/** Result of a job that takes stacks over. */
export interface Result {
  taken: string[];
  refused: { name: string; reason: string }[];
}

export function ResultNote({ result }: { result: Result }) {
  const { taken, refused } = result;
  const element = useRef<HTMLDivElement>(null);
  // The stacks that were taken over leave the list, and the window would show what is below.
  useEffect(() => element.current?.scrollIntoView({ block: "center" }), [result]);
  return (
    <div class="takeover-report" role="region" aria-label="Report" ref={element}>
      {taken.length > 0 && (
        <div class="note good" role="status">
          <Icon name="check" />
          <p>
            Took over {count(taken.length, "stack")}, no container was touched:{" "}
            {taken.map((name, at) => (
              <>
                {at > 0 && ", "}
                <a key={name} href={href(stackPath({ name }, "source"))}>{plain(name)}</a>
              </>
            ))}
          </p>
        </div>
      )}
      {refused.map(({ name, reason }) => (
        <div key={name} class="note danger" role="alert">
          <Icon name="alert" />
          <p>
            <strong>{plain(name)}</strong> was not taken over: {plain(reason)}
          </p>
        </div>
      ))}
    </div>
  );
}
