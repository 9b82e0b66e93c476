import { deepEqual, equal, throws } from "node:assert/strict";
import {
  readTarHeader,
  TAR_BLOCK_BYTES,
  TAR_FILE_BYTES_MAX,
  TarError,
  tarHeader,
  tarPadding,
} from "../../../services/backup/tar.ts";

const at = new Date("2026-01-01T00:00:00Z");
const file = { name: "state.sqlite", size: 65_536 };

Deno.test("a header is read as it was written", () => {
  for (
    const each of [file, { name: "é".repeat(50), size: 0 }, { ...file, size: TAR_FILE_BYTES_MAX }]
  ) {
    deepEqual(readTarHeader(tarHeader(each, at)), each);
  }
});

Deno.test("a block of zeros is the end", () => {
  equal(readTarHeader(new Uint8Array(TAR_BLOCK_BYTES)), undefined);
});

Deno.test("any changed byte of a header is noticed", () => {
  for (let n = 0; n < TAR_BLOCK_BYTES; n++) {
    const header = tarHeader(file, at);
    header[n]! ^= 0x01;
    throws(() => readTarHeader(header), TarError, `byte ${n}`);
  }
});

Deno.test("names and sizes that the format has no room for are refused", () => {
  throws(() => tarHeader({ name: "x".repeat(101), size: 0 }, at), TarError);
  throws(() => tarHeader({ name: "", size: 0 }, at), TarError);
  throws(() => tarHeader({ name: "x", size: TAR_FILE_BYTES_MAX + 1 }, at), TarError);
});

Deno.test("padding fills up to a block", () => {
  deepEqual([0, 1, 511, 512, 513].map(tarPadding), [0, 511, 1, 0, 511]);
});
