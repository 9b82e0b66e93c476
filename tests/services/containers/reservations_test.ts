import { equal, throws } from "node:assert/strict";
import { AppError } from "../../../services/errors.ts";
import { createReservations } from "../../../services/containers/reservations.ts";

const WEB = { id: "1".repeat(64), name: "web" };
const SIDECAR = { id: "2".repeat(64), name: "sidecar" };

const conflict = (message: string) => (error: unknown) => {
  equal(error instanceof AppError && error.code, "conflict");
  equal((error as AppError).message, message);
  return true;
};

Deno.test("a second action on a container is refused with the name of the first", () => {
  const reservations = createReservations();
  const first = reservations.reserve(WEB, "rebuilt");

  for (const activity of ["rebuilt", "started", "stopped", "restarted"] as const) {
    throws(() => reservations.reserve(WEB, activity), conflict("web is being rebuilt"));
  }
  equal(reservations.find(WEB), "web is being rebuilt");
  first[Symbol.dispose]();

  equal(reservations.find(WEB), undefined);
  using _ = reservations.reserve(WEB, "stopped");
});

Deno.test("a container is recognized by its id or its name alone", () => {
  const reservations = createReservations();
  using _ = reservations.reserve(WEB, "rebuilt");
  equal(reservations.find({ id: "3".repeat(64), name: "web" }), "web is being rebuilt");
  equal(
    reservations.find({ id: WEB.id, name: "web-before" }),
    "web is being rebuilt, which also affects web-before",
  );
});

Deno.test("what an action affects is reserved as well, also when it is added later", () => {
  const reservations = createReservations();
  const first = reservations.reserve(WEB, "rebuilt", { affected: [SIDECAR] });
  const sentence = "web is being rebuilt, which also affects sidecar";
  throws(() => reservations.reserve(SIDECAR, "restarted"), conflict(sentence));
  first[Symbol.dispose]();

  using rebuild = reservations.reserve(WEB, "rebuilt");
  rebuild.add([SIDECAR]);
  throws(() => reservations.reserve(SIDECAR, "restarted"), conflict(sentence));
});

Deno.test("an action that cannot reserve everything reserves nothing", () => {
  const reservations = createReservations();
  using _ = reservations.reserve(SIDECAR, "restarted");
  throws(
    () => reservations.reserve(WEB, "rebuilt", { affected: [SIDECAR] }),
    conflict("sidecar is being restarted"),
  );
  equal(reservations.find(WEB), undefined);

  using rebuild = reservations.reserve(WEB, "rebuilt");
  throws(() => rebuild.add([SIDECAR]), conflict("sidecar is being restarted"));
});

Deno.test("actions of one operation do not exclude each other", () => {
  const reservations = createReservations();
  const operation = Symbol();
  const options = { operation, affected: [WEB, SIDECAR] };
  using _web = reservations.reserve(WEB, "restarted", options);
  using _sidecar = reservations.reserve(SIDECAR, "restarted", options);
  throws(() => reservations.reserve(WEB, "stopped"), conflict("web is being restarted"));
});
