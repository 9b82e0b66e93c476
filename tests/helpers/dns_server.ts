/** A DNS server over UDP on loopback (RFC 1035), which answers from a list. @module */

import { createSocket } from "node:dgram";
import { Buffer } from "node:buffer";
import type { AddressInfo } from "node:net";

const TYPES = { A: 1, NS: 2, CNAME: 5, SOA: 6, PTR: 12, MX: 15, TXT: 16, AAAA: 28, SRV: 33 };
type RecordType = keyof typeof TYPES;

/** Records of each name by type, as {@linkcode dnsServer} encodes them. */
export type Zone = Record<string, Partial<Record<RecordType, string[]>>>;

export interface DnsServer extends AsyncDisposable {
  nameServer: { ipAddr: string; port: number };
  /** Queries as `name TYPE`, in order. */
  questions: string[];
}

/**
 * @param zone A and AAAA: addresses in dotted form, AAAA as 32 hexadecimal digits; MX and SRV:
 * numbers, then a name; TXT: pieces joined by `|`; the rest: a name.
 * @param silent Receives queries and never answers.
 */
export async function dnsServer(zone: Zone, { silent = false } = {}): Promise<DnsServer> {
  const socket = createSocket("udp4");
  const questions: string[] = [];
  socket.on("message", (message, { port, address }) => {
    const { name, type, end } = questionOf(message);
    questions.push(`${name} ${typeName(type)}`);
    if (silent) return;
    const found = zone[name];
    const records = found?.[typeName(type) as RecordType] ?? [];
    const answers = records.map((text) => record(type, text));
    const head = Buffer.alloc(12);
    message.copy(head, 0, 0, 2);
    head.writeUInt16BE(found ? 0x8580 : 0x8583, 2); // an authoritative answer; else NXDOMAIN
    head.writeUInt16BE(1, 4);
    head.writeUInt16BE(answers.length, 6);
    socket.send(Buffer.concat([head, message.subarray(12, end), ...answers]), port, address);
  });
  await new Promise<void>((listening) => socket.bind(0, "127.0.0.1", listening));
  return {
    nameServer: { ipAddr: "127.0.0.1", port: (socket.address() as AddressInfo).port },
    questions,
    [Symbol.asyncDispose]: () => new Promise<void>((closed) => socket.close(closed)),
  };
}

function questionOf(message: Buffer) {
  const labels: string[] = [];
  let at = 12;
  for (let length = message[at]!; length > 0; length = message[at]!) {
    labels.push(message.toString("latin1", at + 1, at + 1 + length));
    at += 1 + length;
  }
  return { name: labels.join(".").toLowerCase(), type: message.readUInt16BE(at + 1), end: at + 5 };
}

const typeName = (number: number) =>
  Object.entries(TYPES).find(([, value]) => value === number)?.[0] ?? String(number);

/** A resource record for the queried name, with a TTL of a minute. */
function record(type: number, text: string): Buffer {
  const data = dataOf(type, text);
  const head = Buffer.from([0xc0, 12, 0, type, 0, 1, 0, 0, 0, 60, 0, 0]);
  head.writeUInt16BE(data.length, 10);
  return Buffer.concat([head, data]);
}

function dataOf(type: number, text: string): Buffer {
  const words = text.split(" ");
  const numbers = (count: number) => {
    const bytes = Buffer.alloc(2 * count);
    for (let i = 0; i < count; i++) bytes.writeUInt16BE(Number(words[i]), 2 * i);
    return bytes;
  };
  switch (type) {
    case TYPES.A:
      return Buffer.from(text.split(".").map(Number));
    case TYPES.AAAA:
      return Buffer.from(text, "hex");
    case TYPES.MX:
      return Buffer.concat([numbers(1), nameBytes(words[1]!)]);
    case TYPES.SRV:
      return Buffer.concat([numbers(3), nameBytes(words[3]!)]);
    case TYPES.TXT:
      return Buffer.concat(text.split("|").map((piece) => labelBytes(piece)));
    default:
      return nameBytes(text);
  }
}

const labelBytes = (label: string) => {
  const bytes = Buffer.from(label);
  return Buffer.concat([Buffer.from([bytes.length]), bytes]);
};

const nameBytes = (name: string) =>
  Buffer.concat([...name.split(".").map(labelBytes), Buffer.from([0])]);
