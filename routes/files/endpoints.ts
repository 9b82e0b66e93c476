/** The endpoints for files, which volumes, containers and stacks have below their own paths. @module */

import * as z from "zod";
import type { Deps } from "../../services/deps.ts";
import {
  createFolder,
  deleteFile,
  renameFile,
  uploadFile,
  writeText,
} from "../../services/files/change.ts";
import { openDownload, TEXT_BYTES_MAX } from "../../services/files/download.ts";
import { listFiles } from "../../services/files/listing.ts";
import type { FindPlace } from "../../services/files/request.ts";
import { AppError } from "../../services/errors.ts";
import { type Endpoint, endpoint, type Note, rawEndpoint } from "../contract/endpoint.ts";
import { Done, ENGINE_FAILURES, Timestamp } from "../contract/shapes.ts";
import { lengthOf, readUpload } from "../pipeline/upload.ts";
import { conditionOf, downloadResponse, rangeOf } from "./http.ts";

/** Three characters for each byte of the longest path. */
const FilePath = z.string().min(1).max(12_288).startsWith("/").meta({
  description: "Absolute, as lists of files give it: bytes that are not UTF-8, and `%`, as `%XX`",
  example: "/conf/app.conf",
});

const PathQuery = z.object({ path: FilePath });

const file = {
  name: z.string(),
  path: z.string().meta({ description: "For further requests", example: "/conf/app.conf" }),
  type: z.enum(["file", "dir", "symlink", "fifo", "socket", "dev", "chardev"]),
  size: z.number().meta({ description: "In bytes; of files only, else 0" }),
  mode: z.string().meta({ example: "0644" }),
  uid: z.int(),
  gid: z.int(),
  modifiedAt: Timestamp,
};

const runningContainers = z.array(z.string()).meta({
  description: "Names of running containers that may change the files at any moment",
});

const FileList = z.object({
  files: z.array(z.object(file)).meta({ description: "In byte order of their names" }),
  truncated: z.boolean().meta({
    description: "Whether the list stopped at 5,000 entries or after 2 s",
  }),
  runningContainers,
}).meta({ id: "FileList" });

const WrittenFile = z.object({
  ...file,
  etag: z.string().nullable().meta({ description: "Of a text, for `If-Match`" }),
  runningContainers,
}).meta({ id: "WrittenFile" });

const FolderPath = z.object({ path: FilePath }).meta({ id: "NewFolder" });

const FileRename = z.object({
  path: FilePath,
  to: FilePath.meta({ description: "The new path; it must not exist", example: "/conf/old.conf" }),
}).meta({ id: "FileRename" });

const TYPES = { text: "text/plain", upload: "application/octet-stream" } as const;

/** Largest upload: the largest file of ext4, in bytes. */
const UPLOAD_BYTES_MAX = 2 ** 44;

/** Owner of files: a volume, a container or a stack. */
interface FileOwner<Params> {
  /** E.g. `/api/volumes/:name`. */
  prefix: `/${string}`;
  /** Part of the names of operations, e.g. `Volume`. */
  id: string;
  /** For summaries, e.g. `a volume`. */
  noun: string;
  /** For descriptions: how the files are reached, and what is refused. */
  note: string;
  params: z.ZodType<Params>;
  find: (params: Params, signal: AbortSignal) => ReturnType<FindPlace>;
  /** For the audit log. */
  namesOf: (params: Params) => readonly string[];
}

export function fileEndpointsOf<Params>(
  deps: Deps,
  { prefix, id, noun, note: about, params, find, namesOf }: FileOwner<Params>,
): Endpoint[] {
  const finder = (given: Params): FindPlace => (signal) => find(given, signal);
  const record = (note: Note, given: Params, ...paths: string[]) => {
    note.targets = [...namesOf(given), ...paths];
  };
  const read = { role: "admin", permission: "files:read", audited: true, params } as const;
  const write = { role: "admin", permission: "files:write", params } as const;
  const failures = {
    403: "The role does not allow this, or it is the service's own data",
    404: "It does not exist",
    409:
      "The path has a symbolic link or is not what is needed, the programs for this are missing, " +
      "or an action is in progress",
    ...ENGINE_FAILURES,
  };

  return [
    endpoint(`GET ${prefix}/files`, {
      operationId: `list${id}Files`,
      summary: `List files of ${noun}`,
      description: `One directory. ${about}`,
      ...read,
      query: z.object({ path: FilePath.default("/") }),
      returns: FileList,
      failures,
    }, ({ params, query: { path }, caller, note }) => {
      record(note, params, path);
      return listFiles(deps, caller, finder(params), path);
    }),

    rawEndpoint(`GET ${prefix}/file`, {
      operationId: `download${id}File`,
      summary: `Download a file of ${noun}`,
      description:
        "Regular files only. One up to 1 MiB has an `ETag`, the hash of its content. A file that " +
        "grows meanwhile is sent with the size that it had; the response of one that becomes " +
        "shorter is incomplete.",
      ...read,
      acceptsTicket: true,
      query: PathQuery,
      headers: {
        Range: "One range of bytes, e.g. `bytes=0-1023`",
        "If-Range": "`ETag` that the file must have for the range",
      },
      returns: z.string().meta({ format: "binary" }),
      produces: TYPES.upload,
      replyHeaders: {
        ETag: "Of a file up to 1 MiB, for `If-Match`",
        "Accept-Ranges": "`bytes`",
        "Content-Disposition": "Suggests a file name",
      },
      replies: {
        206: {
          description: "The range",
          alternatives: { [TYPES.upload]: z.string().meta({ format: "binary" }) },
          headers: { "Content-Range": "The bytes, and the size of the file" },
        },
        416: {
          description: "The range is outside of the file",
          headers: { "Content-Range": "The size of the file" },
        },
      },
      failures: {
        ...failures,
        429: "The account or API token has its share of the transfers",
        503: "Limit of 8 transfers reached, or the container engine cannot be reached",
      },
    }, async ({ params, query: { path }, request, caller, note }) => {
      record(note, params, path);
      const range = rangeOf(request.headers);
      const condition = request.headers.get("if-range") ?? undefined;
      const options = { path, range, condition, signal: request.signal };
      const download = await openDownload(deps, caller, finder(params), options);
      return downloadResponse(download, range !== undefined);
    }),

    endpoint(`PUT ${prefix}/file`, {
      operationId: `write${id}File`,
      summary: `Write a file of ${noun}`,
      description:
        "Replaces or creates a file, at once for its readers. It keeps its owner and permission " +
        "bits, but not set-id bits; a new one has the owner of its directory and the mode 0644. " +
        `Text (\`${TYPES.text}\`, up to 1 MiB of UTF-8) needs \`If-Match\`, or ` +
        "`If-None-Match: *` to create a file. An upload " +
        `(\`${TYPES.upload}\`) of any size needs \`Content-Length\`. ${about}`,
      ...write,
      destructive: true,
      query: PathQuery,
      headers: {
        "If-Match": "`ETag` of the file to replace, or `*` for an existing one",
        "If-None-Match": "`*` for a file that does not exist",
      },
      upload: { types: [TYPES.upload, TYPES.text], bytesMax: () => UPLOAD_BYTES_MAX },
      returns: WrittenFile,
      failures: {
        ...failures,
        412: "The file was changed, or exists, contrary to the condition",
        413: "The text is larger than 1 MiB",
        428: "A text without `If-Match` or `If-None-Match`",
      },
    }, ({ params, query: { path }, request, caller, note, assertAllowed }) => {
      record(note, params, path);
      const { headers, signal } = request;
      const condition = conditionOf(headers);
      const isText = headers.get("content-type")?.startsWith(TYPES.text) ?? false;
      const bytesMax = isText ? TEXT_BYTES_MAX : UPLOAD_BYTES_MAX;
      const content = () => readUpload(request, { bytesMax, assertAllowed });
      if (isText) {
        if (!condition) throw withoutCondition();
        return writeText(deps, caller, finder(params), {
          ...{ path, condition, signal },
          content: content(),
        });
      }
      const size = lengthOf(headers);
      if (size === null) throw new AppError("invalid", "The header Content-Length is required");
      return uploadFile(deps, caller, finder(params), {
        ...{ path, size, condition, signal },
        content: content(),
      });
    }),

    endpoint(`DELETE ${prefix}/file`, {
      operationId: `delete${id}File`,
      summary: `Delete a file of ${noun}`,
      description: `A directory is deleted with everything in it. ${about}`,
      ...write,
      query: PathQuery,
      returns: Done,
      failures,
    }, ({ params, query, caller, note }) => {
      record(note, params, query.path);
      return deleteFile(deps, caller, finder(params), query);
    }),

    endpoint(`POST ${prefix}/files/rename`, {
      operationId: `rename${id}File`,
      summary: `Rename a file of ${noun}`,
      description: `Also moves it to another directory. ${about}`,
      ...write,
      body: FileRename,
      returns: Done,
      failures: { ...failures, 409: `${failures[409]}, or the new path exists` },
    }, ({ params, body, caller, note }) => {
      record(note, params, body.path, body.to);
      return renameFile(deps, caller, finder(params), body);
    }),

    endpoint(`POST ${prefix}/files/folder`, {
      operationId: `create${id}Folder`,
      summary: `Create a folder in ${noun}`,
      description: `With the owner of its directory. ${about}`,
      ...write,
      body: FolderPath,
      returns: Done,
      failures: { ...failures, 409: `${failures[409]}, or the path exists` },
    }, ({ params, body, caller, note }) => {
      record(note, params, body.path);
      return createFolder(deps, caller, finder(params), body);
    }),
  ];
}

const withoutCondition = () =>
  new AppError(
    "precondition_required",
    "Send If-Match with the ETag of the text that was read, or If-None-Match: * for a new file",
  );
