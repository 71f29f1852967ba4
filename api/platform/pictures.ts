// Foreign pictures: recognized by content, opened in a sandbox, encoded again. This process parses none of their bytes.
import { parserAt } from './parser.ts';
import { type Icons, iconsBy } from './pictures-icons.ts';
import { openInChild } from './pictures-pool.ts';
import { type PictureFacts, type PictureMake, type PictureRules, Refused, type Tile } from './pictures-protocol.ts';
import { isAnotherKind, mediaTypes, sniffPicture } from './pictures-sniff.ts';

export type { GivenIcon, Icons, MadeIcon, UnpackedFile } from './pictures-icons.ts';

export {
  type IconFault,
  type IconPart,
  iconFaults,
  ParserUnavailable,
  type PictureFacts,
  type PictureMake,
  type PicturePart,
  type PictureReason,
  type PictureRules,
  Refused as PictureRefused,
} from './pictures-protocol.ts';
export { mediaTypes, type PictureFormat } from './pictures-sniff.ts';

export interface GivenPicture {
  bytes: Buffer;
  /** The media type that the sender claims. */
  type: string;
}

export interface MadePicture extends PictureFacts {
  /** The actual media type, by content. */
  type: string;
  /** The produced picture; empty if none was requested. */
  bytes: Buffer;
}

const SAYS_PICTURE = /^(image\/|application\/octet-stream\b|$)/i;

export interface Pictures extends Icons {
  /**
   * Validates one picture; without `make` it is only opened and measured. Throws `PictureRefused`, and
   * `ParserUnavailable` when it cannot be opened now.
   */
  take(given: GivenPicture, rules: PictureRules, make?: PictureMake): Promise<MadePicture>;
  /** Its perceptual hash, 16 hexadecimal digits. Throws like `take`. */
  phash(bytes: Buffer, rules: PictureRules): Promise<string>;
  /** Another size of a picture that was accepted or produced here. Throws like `take`. */
  remake(bytes: Buffer, make: PictureMake): Promise<Buffer>;
  /** One picture of up to four that were accepted here. Throws like `take`. */
  mosaic(parts: readonly Buffer[], make: PictureMake): Promise<MadePicture>;
  /** A title on a plain ground. Throws like `take`. */
  tile(tile: Tile, make: PictureMake): Promise<Buffer>;
}

const OURS: PictureRules = {
  accepts: ['webp', 'png', 'svg'],
  minSide: 1,
  maxSide: 20_000,
  maxPixels: 1e8,
  maxFrames: 300,
};

/** Uses the parser pods at the address; without one, sandboxed processes of this machine. */
export function createPictures(parserUrl: string | undefined): Pictures {
  const open = parserUrl === undefined ? openInChild : parserAt(parserUrl);
  return {
    ...iconsBy(open),
    async take({ bytes, type }, rules, make) {
      const format = sniffPicture(bytes);
      if (!format) throw new Refused(isAnotherKind(bytes) || !SAYS_PICTURE.test(type) ? 'unsupported' : 'not_an_image');
      if (!rules.accepts.includes(format)) throw new Refused('unsupported');
      const done = await open({ format, rules, facts: true, ...(make && { make }) }, bytes);
      return { ...done.facts, type: mediaTypes[format], bytes: done.bytes };
    },
    async phash(bytes, rules) {
      const format = sniffPicture(bytes);
      if (!format) throw new Refused('not_an_image');
      return (await open({ format, rules, facts: false, phash: true }, bytes)).facts.phash;
    },
    async remake(bytes, make) {
      const format = sniffPicture(bytes);
      if (!format) throw new Refused('not_an_image');
      return (await open({ format, rules: OURS, facts: false, make }, bytes)).bytes;
    },
    async mosaic(parts, make) {
      const [first] = parts;
      const format = first && sniffPicture(first);
      if (!format) throw new Refused('not_an_image');
      const mosaic = { lengths: parts.map((part) => part.length), width: make.width, height: make.height };
      const done = await open({ format, rules: OURS, facts: true, make, mosaic }, Buffer.concat(parts));
      return { ...done.facts, type: `image/${make.format}`, bytes: done.bytes };
    },
    async tile(tile, make) {
      return (await open({ format: 'png', rules: OURS, facts: false, make, tile }, Buffer.alloc(0))).bytes;
    },
  };
}
