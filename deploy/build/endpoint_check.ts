/** Requests to the endpoints of a running service, as its own API document lists them. @module */

/** Longest wait for the headers of an answer, in milliseconds. */
const ANSWER_MS = 30_000;

/** Longest first round of the host's sampler, in milliseconds. */
const SAMPLE_MS = 30_000;

const POLL_MS = 50;

/** The answers that do not end. */
const STREAM_TYPE = "text/event-stream";

/** One operation of the API document. */
export interface Operation {
  /** In capitals. */
  method: string;
  /** With parameters as `{name}`. */
  path: string;
  // deno-lint-ignore no-explicit-any
  description: any;
}

/** Every operation of the service at `base`. */
export async function operationsOf(base: string): Promise<Operation[]> {
  const answer = await fetch(`${base}/openapi.json`);
  const { paths, components } = await answer.json();
  return Object.entries<Record<string, unknown>>(paths).flatMap(([path, methods]) =>
    Object.entries<Operation["description"]>(methods).map(([method, description]) => ({
      method: method.toUpperCase(),
      path,
      description: withParameters(description, components.parameters),
    }))
  );
}

/** With the shared parameters in place of references to them. */
function withParameters(
  description: Operation["description"],
  shared: Record<string, unknown>,
): Operation["description"] {
  const parameters = description.parameters.map((each: { $ref?: string }) =>
    each.$ref === undefined ? each : shared[each.$ref.split("/").at(-1)!]
  );
  return { ...description, parameters };
}

/**
 * Sends a GET request to every endpoint that has one, with the examples of the API document as
 * parameters.
 *
 * @param options.engine Whether a container engine is there; without one 503 is an answer where
 * it is documented.
 * @returns One line for each answer that is a failure of the service, and how many were sent.
 */
export async function checkEveryGet(
  base: string,
  token: string,
  { engine }: { engine: boolean },
): Promise<{ count: number; failures: string[] }> {
  await hostSampled(base, token);
  const gets = (await operationsOf(base)).filter(({ method }) => method === "GET");
  const failures: string[] = [];
  for (const operation of gets) {
    const { status, text } = await request(base, token, operation);
    const isAbsence = !engine && status === 503 && "503" in operation.description.responses;
    if (status >= 500 && !isAbsence) failures.push(`GET ${operation.path}: ${status} ${text}`);
  }
  return { count: gets.length, failures };
}

/** Waits for the first sample of the host: without it the figures of the host are left out. */
async function hostSampled(base: string, token: string): Promise<void> {
  const metrics = { method: "GET", path: "/metrics", description: { parameters: [] } };
  for (const deadline = performance.now() + SAMPLE_MS; performance.now() < deadline;) {
    const { status, text } = await request(base, token, metrics);
    if (status !== 200 || text.includes("\nnode_load1 ")) return;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  throw new Error(`GET /metrics has no host metrics after ${SAMPLE_MS} ms`);
}

/** Sends one request. @param path Default: the operation's, with its examples as parameters. */
export async function request(
  base: string,
  token: string,
  operation: Operation,
  { path = examplePath(operation), body }: { path?: string; body?: unknown } = {},
): Promise<{ status: number; text: string; type: string }> {
  const answer = await fetch(base + path, {
    method: operation.method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { "content-type": "application/json" }),
    },
    body: body === undefined ? null : JSON.stringify(body),
    redirect: "manual",
    signal: AbortSignal.timeout(ANSWER_MS),
  });
  const { status, headers } = answer;
  const type = headers.get("content-type") ?? "";
  if (type.startsWith(STREAM_TYPE)) {
    await answer.body?.cancel();
    return { status, text: "", type };
  }
  return { status, text: await answer.text(), type };
}

/** The path with an example in the place of each parameter. */
function examplePath({ path, description }: Operation): string {
  return path.replace(/\{(\w+)\}/g, (_, name) => {
    const { example, schema } = description.parameters.find((each: { in: string; name: string }) =>
      each.in === "path" && each.name === name
    );
    return encodeURIComponent(example ?? (schema.format === "uuid" ? NO_ID : "unknown"));
  });
}

/** A well-formed id of nothing. */
const NO_ID = "00000000-0000-4000-8000-000000000000";
