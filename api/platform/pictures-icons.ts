// Icons and archives of icons, opened in the sandbox.
import { type ChildRequest, type IconFault, type IconPart, type OpenPicture, Refused } from './pictures-protocol.ts';
import { isAnotherKind, type PictureFormat, sniffPicture } from './pictures-sniff.ts';

const ICON_SIZES = [24, 32, 48, 64, 96, 128, 256, 512];
const FORMATS: readonly PictureFormat[] = ['png', 'webp', 'jpeg', 'svg'];
const PICTURE_BYTES = 2 << 20;
const UNPACK = { entries: 500, bytes: 64 << 20, ratio: 100, entryBytes: PICTURE_BYTES };

export interface MadeIcon {
  sourceKind: 'png' | 'webp' | 'jpeg' | 'svg';
  width: number;
  height: number;
  tintable: boolean;
  parts: readonly IconPart[];
  /** All parts, one after another. */
  bytes: Buffer;
}

export type GivenIcon = { ok: true; icon: MadeIcon } | { ok: false; fault: IconFault; detail?: string };

export interface UnpackedFile {
  name: string;
  /** Undefined for a file that is too large. */
  bytes: Buffer | undefined;
}

export interface Icons {
  /** Squares of a picture or of a drawing, which is drawn once. Throws `ParserUnavailable`. */
  icon(bytes: Buffer): Promise<GivenIcon>;
  /** The files of a ZIP of pictures. Throws `ParserUnavailable`. */
  unpackIcons(bytes: Buffer): Promise<{ ok: true; files: UnpackedFile[] } | { ok: false; fault: IconFault }>;
}

const rules = { accepts: ['png' as const], minSide: 1, maxSide: 1, maxPixels: 1, maxFrames: 1 };
const task = (format: PictureFormat, icon: NonNullable<ChildRequest['icon']>): ChildRequest => ({
  format,
  rules,
  facts: false,
  icon,
});

export function iconsBy(open: OpenPicture): Icons {
  return {
    icon: (bytes) => judged(() => iconBy(open, bytes)),
    unpackIcons: (bytes) =>
      judged(async () => {
        const { icon, bytes: contents } = await open(task('png', { kind: 'unpack', limits: UNPACK }), bytes);
        if (!icon || !('entries' in icon)) return { ok: false, fault: faultOf(icon) };
        let at = 0;
        const files = icon.entries.map(({ name, length, tooLarge }) => {
          at += length;
          return { name, bytes: tooLarge ? undefined : contents.subarray(at - length, at) };
        });
        return { ok: true, files };
      }),
  };
}

/** A process that was ended by its limits has refused the content. */
async function judged<T>(work: () => Promise<T>): Promise<T | { ok: false; fault: IconFault }> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof Refused) return { ok: false, fault: 'corrupt' };
    throw error;
  }
}

const faultOf = (icon: unknown): IconFault =>
  typeof icon === 'object' && icon !== null && 'fault' in icon ? (icon.fault as IconFault) : 'corrupt';

/** The format of an icon by its content. */
function formatOf(bytes: Buffer): PictureFormat | IconFault {
  if (bytes.length > PICTURE_BYTES) return 'too-large';
  const format = sniffPicture(bytes);
  if (!format) return isAnotherKind(bytes) ? 'unsupported-format' : 'not-an-image';
  return FORMATS.includes(format) ? format : 'unsupported-format';
}

const isFormat = (word: string): word is MadeIcon['sourceKind'] => (FORMATS as readonly string[]).includes(word);

async function iconBy(open: OpenPicture, bytes: Buffer): Promise<GivenIcon> {
  const format = formatOf(bytes);
  if (!isFormat(format)) return { ok: false, fault: format as IconFault };
  if (format !== 'svg') return squaresOf(open, bytes, { format, isDrawn: false });
  const drawn = await open(task('svg', { kind: 'draw' }), bytes);
  if (drawn.icon && 'fault' in drawn.icon) return { ok: false, ...drawn.icon };
  return squaresOf(open, drawn.bytes, { format, isDrawn: true });
}

async function squaresOf(
  open: OpenPicture,
  bytes: Buffer,
  { format, isDrawn }: { format: MadeIcon['sourceKind']; isDrawn: boolean },
): Promise<GivenIcon> {
  const squares = { kind: 'squares' as const, sizes: ICON_SIZES, isDrawn };
  const { icon, facts, bytes: made } = await open(task(isDrawn ? 'png' : format, squares), bytes);
  if (!icon || !('parts' in icon)) return { ok: false, fault: faultOf(icon) };
  const { width, height } = facts;
  return { ok: true, icon: { sourceKind: format, width, height, ...icon, bytes: made } };
}
