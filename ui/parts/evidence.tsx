/** Evidence of failed containers in the result of a job. @module */

import { plain, plainLines } from "../base/text.ts";

export interface Evidence {
  container: string;
  logLines: readonly string[];
  healthLog: readonly { exitCode: number; output: string }[];
}

/** The last lines of each container, and its last health checks. */
export function EvidenceList({ evidence }: { evidence: readonly Evidence[] }) {
  return (
    <>
      {evidence.map(({ container, logLines, healthLog }) => (
        <div key={container}>
          <h3>Last lines of {plain(container)}</h3>
          <pre class="output" tabIndex={0}>{plainLines(logLines.join("\n")) || "No output"}</pre>
          {healthLog.length > 0 && (
            <>
              <h3>Health checks of {plain(container)}</h3>
              <pre class="output" tabIndex={0}>
                {healthLog.map(({ exitCode, output }) => `${exitCode}  ${plainLines(output.trimEnd())}`)
                  .join("\n")}
              </pre>
            </>
          )}
        </div>
      ))}
    </>
  );
}
