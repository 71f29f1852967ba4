// Pictures of others: told by their content, opened in a jail, made anew. No byte of them is parsed in this process.
import { parserAt } from './parser.ts';
import { openInChild } from './pictures-pool.ts';
import { type PictureFacts, type PictureMake, type PictureRules, Refused } from './pictures-protocol.ts';
import { isAnotherKind, mediaTypes, sniffPicture } from './pictures-sniff.ts';

export {
  ParserUnavailable,
  type PictureFacts,
  type PictureMake,
  type PictureReason,
  type PictureRules,
  Refused as PictureRefused,
} from './pictures-protocol.ts';
export { mediaTypes, type PictureFormat } from './pictures-sniff.ts';

export interface GivenPicture {
  bytes: Buffer;
  /** What the sender says it is. */
  type: string;
}

export interface MadePicture extends PictureFacts {
  /** Media type of what was given, by its content. */
  type: string;
  /** What was made; empty when nothing was to be. */
  bytes: Buffer;
}

const SAYS_PICTURE = /^(image\/|application\/octet-stream\b|$)/i;

export interface Pictures {
  /**
   * Takes one picture in. Without `make` it is opened and measured only. Throws `PictureRefused`, and `ParserUnavailable` when
   * what opens it cannot be had.
   */
  take(given: GivenPicture, rules: PictureRules, make?: PictureMake): Promise<MadePicture>;
  /** Another size of a picture that was made here before. Throws as `take`. */
  remake(bytes: Buffer, make: PictureMake): Promise<Buffer>;
}

const OURS: PictureRules = {
  accepts: ['webp', 'png', 'svg'],
  minSide: 1,
  maxSide: 8192,
  maxPixels: 1e8,
  maxFrames: 300,
};

/** Through the parser pods at the address; without one, through jailed processes of this machine. */
export function createPictures(parserUrl: string | undefined): Pictures {
  const open = parserUrl === undefined ? openInChild : parserAt(parserUrl);
  return {
    async take({ bytes, type }, rules, make) {
      const format = sniffPicture(bytes);
      if (!format) throw new Refused(isAnotherKind(bytes) || !SAYS_PICTURE.test(type) ? 'unsupported' : 'not_an_image');
      if (!rules.accepts.includes(format)) throw new Refused('unsupported');
      const done = await open({ format, rules, facts: true, ...(make && { make }) }, bytes);
      return { ...done.facts, type: mediaTypes[format], bytes: done.bytes };
    },
    async remake(bytes, make) {
      const format = sniffPicture(bytes);
      if (!format) throw new Refused('not_an_image');
      return (await open({ format, rules: OURS, facts: false, make }, bytes)).bytes;
    },
  };
}
