/** References of images in requests. @module */

import {
  findReference,
  type ImageReference,
  parseReference,
} from "../../engine/image_reference.ts";
import { AppError } from "../errors.ts";

/** @throws {AppError} `invalid`, naming the field `image` of the body. */
export function parseImage(image: string): ImageReference {
  try {
    return parseReference(image);
  } catch (error) {
    throw new AppError(
      "invalid",
      "body.image: must be a reference such as registry.example:5000/team/app:1",
      { cause: error },
    );
  }
}

/** The id of an image, which reads like the tag of a repository. */
const IMAGE_ID = /^sha\d+:/;

/** Whether an image, as a user writes it, differs from another one at most by its tag or digest. */
export function isSameRepository(image: string, other: string): boolean {
  if (IMAGE_ID.test(image)) return false;
  const [wanted, current] = [image, other].map(findReference);
  return wanted !== undefined && current !== undefined &&
    wanted.registry.toLowerCase() === current.registry.toLowerCase() &&
    wanted.repository === current.repository;
}
