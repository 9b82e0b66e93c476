/** Finds the fields of an input that its shape does not have. @module */

import * as z from "zod";

/** An unknown field, with the known fields of its object. */
interface UnknownField {
  path: PropertyKey[];
  known: readonly string[];
}

/**
 * Finds unknown fields at any depth, in the order of the input. Records and `unknown` accept any field.
 */
export function* unknownFields(
  shape: z.core.$ZodType,
  input: unknown,
  path: readonly PropertyKey[] = [],
): Generator<UnknownField> {
  if (typeof input !== "object" || input === null) return;
  const inner = unwrapped(shape);

  if (inner instanceof z.ZodUnion) {
    yield* unknownFieldsOfUnion(inner, input, path);
  } else if (inner instanceof z.ZodIntersection) {
    yield* unknownFields(merged(inner), input, path);
  } else if (inner instanceof z.ZodArray && Array.isArray(input)) {
    for (const [index, entry] of input.entries()) {
      yield* unknownFields(inner.element, entry, [...path, index]);
    }
  } else if (inner instanceof z.ZodTuple && Array.isArray(input)) {
    for (const [index, item] of inner.def.items.entries()) {
      yield* unknownFields(item, input[index], [...path, index]);
    }
  } else if (inner instanceof z.ZodRecord) {
    for (const [name, value] of Object.entries(input)) {
      yield* unknownFields(inner.valueType, value, [...path, name]);
    }
  } else if (inner instanceof z.ZodObject && !Array.isArray(input)) {
    const { shape: fields, def: { catchall } } = inner;
    const takesAny = catchall !== undefined && !(catchall instanceof z.ZodNever);
    for (const [name, value] of Object.entries(input)) {
      if (Object.hasOwn(fields, name)) {
        yield* unknownFields(fields[name]!, value, [...path, name]);
      } else if (!takesAny) {
        yield { path: [...path, name], known: Object.keys(fields) };
      }
    }
  }
}

/** Uses the option that accepts the input, or else the one with the fewest unknown fields. */
function unknownFieldsOfUnion(
  { options }: z.ZodUnion,
  input: object,
  path: readonly PropertyKey[],
): UnknownField[] {
  const taken = options.find((option) => z.safeParse(option, input).success);
  return (taken ? [taken] : options)
    .map((option) => [...unknownFields(option, input, path)])
    .reduce((fewest, found) => found.length < fewest.length ? found : fewest);
}

/** Returns an object shape with the fields of both sides. */
function merged(shape: z.core.$ZodType): z.ZodObject {
  const inner = unwrapped(shape);
  if (inner instanceof z.ZodObject) return inner;
  if (!(inner instanceof z.ZodIntersection)) return z.looseObject({});
  return merged(inner.def.left).extend(merged(inner.def.right).shape);
}

/** Returns the input shape of an optional, nullable, preprocessed or piped shape. */
function unwrapped(shape: z.core.$ZodType): z.core.$ZodType {
  let inner = shape;
  for (;;) {
    if (inner instanceof z.ZodLazy) inner = inner.def.getter();
    else if (inner instanceof z.ZodPipe) {
      inner = inner.def.in instanceof z.ZodTransform ? inner.def.out : inner.def.in;
    } else if ("innerType" in inner._zod.def) {
      inner = inner._zod.def.innerType as z.core.$ZodType;
    } else return inner;
  }
}
