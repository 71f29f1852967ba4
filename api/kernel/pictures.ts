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
  /** Of the issue; `body` when absent. */
  path?: (string | number)[];
}

/** Takes a picture of a request in. Throws 415 for what is no such kind, 400 for what it is, 503 while nothing can open it. */
export async function pictureOf(
  pictures: Pictures,
  given: GivenPicture,
  { rules, make, path = ['body'] }: Wanted,
): Promise<MadePicture> {
  try {
    return await pictures.take(given, rules, make);
  } catch (error) {
    throw told(error, path, rules);
  }
}

function told(error: unknown, path: (string | number)[], { accepts }: PictureRules): unknown {
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
