/** Files that differ from the image of a container. @module */

import { Listing } from "../../components/listing.tsx";
import { useRead } from "../../components/reading.ts";
import { capital } from "../../base/text.ts";
import type { TabProps } from "./tab.ts";
import { PathText } from "./texts.tsx";

/** Limit of files that are shown. */
const FILES_MAX = 5_000;

export function Changes({ container: { id } }: TabProps) {
  const { data, error, reload } = useRead("GET /api/containers/{id}/changes", {
    path: { id },
    query: { limit: FILES_MAX },
  });
  const { changes, total = 0 } = data.value ?? {};
  return (
    <>
      <Listing
        name="File changes"
        columns={[
          {
            title: "Path",
            cell: ({ path }) => (
              <code>
                <PathText>{path}</PathText>
              </code>
            ),
            sort: ({ path }) => path,
          },
          {
            title: "Kind",
            cell: ({ kind }) => capital(kind),
            sort: ({ kind }) => kind,
            width: "w-m",
          },
        ]}
        rows={changes}
        keyOf={({ path }) => path}
        reading={{ error, reload }}
        empty="No file differs from the image. Volumes are not compared."
        defaultSort="path"
      />
      {total > FILES_MAX && (
        <p class="newest muted">
          {FILES_MAX.toLocaleString("en")} of {total.toLocaleString("en")} files are shown.
        </p>
      )}
    </>
  );
}
