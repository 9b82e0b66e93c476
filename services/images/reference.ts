/** References of images in requests. @module */

import { type ImageReference, parseReference } from "../../engine/image_reference.ts";
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
