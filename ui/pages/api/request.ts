/** Requests that a visitor of the API page composes. @module */

import type { FormValues } from "../../components/form_values.ts";
import { ROOT } from "../../state/root.ts";
import type { Operation, Parameter } from "./document.ts";

export interface ComposedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  body: string | undefined;
}

/** The name of a parameter's field: parameters of path and query may have the same name. */
export const fieldOf = ({ in: where, name }: Parameter): string => `${where}.${name}`;

/** The request with the values that were entered; an empty field is left out. */
export function composeRequest(
  { method, path, parameters }: Operation,
  values: FormValues,
): ComposedRequest {
  const query = new URLSearchParams();
  const headers: Record<string, string> = {};
  let filled = path;
  for (const parameter of parameters) {
    const value: string = values[fieldOf(parameter)] ?? "";
    if (value === "") continue;
    if (parameter.in === "query") query.append(parameter.name, value);
    else if (parameter.in === "header") headers[parameter.name] = value;
    else filled = filled.replace(`{${parameter.name}}`, () => encodeURIComponent(value));
  }
  const url = ROOT.href + filled.slice(1) + (query.size > 0 ? `?${query}` : "");
  const body: string | undefined = values.body?.trim() || undefined;
  if (body !== undefined) headers["Content-Type"] = "application/json";
  return { method, url, headers, body };
}

/** A line for a shell, with the token in `$TOKEN`. */
export function curlLine(
  { needsToken, responses }: Operation,
  { method, url, headers, body }: ComposedRequest,
): string {
  const isStream = responses.some(([, { content }]) => content?.["text/event-stream"]);
  return [
    "curl",
    // Without -N, curl buffers events.
    ...isStream ? ["-N"] : [],
    ...method === "GET" ? [] : [`-X ${method}`],
    ...needsToken ? ['-H "Authorization: Bearer $TOKEN"'] : [],
    ...Object.entries(headers).map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...body === undefined ? [] : [`-d ${quoted(onOneLine(body))}`],
    quoted(url),
  ].join(" ");
}

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** JSON without line ends; any other text unchanged. */
function onOneLine(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}
