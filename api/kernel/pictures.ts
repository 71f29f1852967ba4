import {
  type GivenPicture,
  type MadePicture,
  ParserUnavailable,
  type PictureMake,
  PictureRefused,
  type PictureRules,
  type Pictures,
} from '#platform/pictures.ts';
import { ApiError, invalid } from './errors.ts';

const words = {
  not_an_image: 'this is no picture that can be opened',
  image_too_small: 'the picture is too small',
  image_too_large: 'the picture has too many pixels',
  animation_too_long: 'the animation is too long',
} as const;

export interface Wanted {
  rules: PictureRules;
  make?: PictureMake;
  /** Path of the issue; absent is `body`. */
  path?: (string | number)[];
}

/** Decodes a picture of a request. Throws 415 for another type, 400 for an invalid picture, 503 while no decoder is available. */
export async function pictureOf(
  pictures: Pictures,
  given: GivenPicture,
  { rules, make, path = ['body'] }: Wanted,
): Promise<MadePicture> {
  try {
    return await pictures.take(given, rules, make);
  } catch (error) {
    throw refusalOf(error, path, rules);
  }
}

function refusalOf(error: unknown, path: (string | number)[], { accepts }: PictureRules): unknown {
  if (error instanceof ParserUnavailable)
    return new ApiError('SERVICE_STARTING', 'Pictures cannot be opened just now', { waitingFor: 'parser' });
  if (!(error instanceof PictureRefused)) return error;
  const { reason } = error;
  if (reason !== 'unsupported') return invalid(path, reason, words[reason]);
  return new ApiError('MEDIA_UNSUPPORTED_CODEC', 'Not a picture of these kinds', {
    reason: 'unsupported-image',
    accepts: [...accepts],
  });
}
