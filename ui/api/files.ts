/** Files from and to the service. @module */

import { apiUrl } from "../state/root.ts";
import { accessToken, refreshToken } from "../state/session.ts";
import { api, ApiError, ENDED, send, UNREACHABLE } from "./client.ts";

interface UploadOptions {
  /** Default: POST. */
  method?: "POST" | "PUT";
  headers?: Record<string, string>;
  signal: AbortSignal;
  /** From 0 to 1. */
  onProgress: (part: number) => void;
}

/**
 * Sends a file. Unlike `fetch`, the request says how much has been sent.
 *
 * @param path Below the service's root, e.g. `api/images/load`.
 * @returns The response's JSON.
 * @throws {ApiError} For every response that is not a success, and without a connection.
 */
export async function upload<Result>(
  path: string,
  file: File,
  { method = "POST", headers = {}, signal, onProgress }: UploadOptions,
): Promise<Result> {
  const token = await accessToken();
  if (token === undefined) throw new ApiError(401, ENDED);
  const request = new XMLHttpRequest();
  request.open(method, apiUrl(path));
  request.setRequestHeader("authorization", `Bearer ${token}`);
  request.setRequestHeader("content-type", "application/octet-stream");
  for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
  request.responseType = "json";
  signal.addEventListener("abort", () => request.abort());
  request.upload.onprogress = ({ loaded, total }) => onProgress(loaded / total);
  return await new Promise((resolve, reject) => {
    request.onload = () => {
      const { status, response } = request;
      if (status < 300) return resolve(response);
      if (status === 401) void refreshToken(); // Ends the session if it has been revoked.
      reject(new ApiError(status, response?.error ?? `Unexpected answer: status ${status}`));
    };
    request.onerror = () => reject(new ApiError(0, UNREACHABLE));
    request.onabort = () => reject(new ApiError(0, "The upload was cancelled"));
    request.send(file);
  });
}

/** Lets the browser save what a path of the API answers, e.g. `api/images/nginx/export`. */
export async function download(path: string): Promise<void> {
  const { ticket } = await api("POST /api/stream/ticket");
  const url = apiUrl(path);
  url.searchParams.set("ticket", ticket);
  const link = document.createElement("a");
  link.href = url.href;
  link.download = "";
  link.click();
}

/**
 * Reads what a path answers that takes no ticket, and lets the browser save it. For files that fit
 * into the browser's memory.
 *
 * @param path Below the service's root, with its query.
 * @throws {ApiError} With the service's sentence.
 */
export async function save(path: string, method = "GET"): Promise<void> {
  const response = await send(apiUrl(path), { method });
  if (!response.ok) {
    const { error } = await response.json();
    throw new ApiError(response.status, error);
  }
  const name = /filename="([^"]+)"/.exec(response.headers.get("content-disposition") ?? "")?.[1];
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = name ?? "download";
  link.click();
  URL.revokeObjectURL(link.href);
}
