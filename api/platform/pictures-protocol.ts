import type { PictureFormat } from './pictures-sniff.ts';

/** Limits of an accepted picture. */
export interface PictureRules {
  accepts: readonly PictureFormat[];
  /** Pixels of the shorter and of the longer side, after rotation. */
  minSide: number;
  maxSide: number;
  /** Of one frame, and of all frames together if the animation is kept. */
  maxPixels: number;
  maxFrames: number;
  /** Length of an animation in milliseconds. */
  maxMs?: number;
}

/** A part of a picture as fractions of its sides. */
export interface PicturePart {
  x: number;
  y: number;
  width: number;
  height: number;
}

/** The picture to produce: rotated upright, in sRGB, without metadata. */
export interface PictureMake {
  format: 'webp' | 'png' | 'avif' | 'jpeg';
  width: number;
  height: number;
  /** `cover` crops around the centre, `contain` pads, `inside` keeps the aspect ratio, `fill` does not. */
  fit: 'cover' | 'contain' | 'inside' | 'fill';
  /** Allows sizes above the picture's own. */
  enlarge?: boolean;
  lossless?: boolean;
  /** Padding colour, #rrggbb; transparent by default. */
  background?: string;
  /** Keeps all frames of an animation; default: the first. */
  animated?: boolean;
  /** Above it, quality and size are reduced. */
  maxBytes?: number;
  /** 1-100; default by format. */
  quality?: number;
  /** Clockwise, before anything else. */
  rotate?: 0 | 90 | 180 | 270;
  /** The part that is kept, after the rotation. */
  crop?: PicturePart;
  /** The point that `cover` keeps nearest to the centre; default is the centre. */
  focus?: { x: number; y: number };
  /** Sigma of a Gaussian blur, of the produced pixels. */
  blur?: number;
}

/** Several pictures on one, in a grid of two columns: the bytes of each follow each other. */
export interface Mosaic {
  /** Length of each picture in bytes. */
  lengths: readonly number[];
  /** Of the whole mosaic. */
  width: number;
  height: number;
}

/** A title on a plain ground. */
export interface Tile {
  title: string;
  /** #rrggbb. */
  background: string;
  width: number;
  height: number;
}

export interface PictureFacts {
  width: number;
  height: number;
  frames: number;
  alpha: boolean;
  blurhash: string;
  /** #rrggbb. */
  dominant: string;
  /** At most five colours, most frequent first. */
  palette: string[];
  /** Mean brightness, 0-255, and how much it varies: a dark or flat picture has little of one. */
  brightness: number;
  contrast: number;
  /** Perceptual hash, 16 hexadecimal digits; empty unless requested. */
  phash: string;
  made: { width: number; height: number; animated: boolean };
}

export type PictureReason =
  | 'unsupported'
  | 'not_an_image'
  | 'image_too_small'
  | 'image_too_large'
  | 'animation_too_long';

/** Reasons for which an icon is refused. */
export const iconFaults = [
  ...(['not-an-image', 'unsupported-format', 'too-large', 'too-small', 'animated', 'corrupt'] as const),
  ...(['svg-active-content', 'svg-external-reference', 'svg-too-complex'] as const),
  ...(['duplicate-name', 'name-invalid', 'archive-limits'] as const),
];
export type IconFault = (typeof iconFaults)[number];

/** One square of an icon; the bytes of all parts follow each other. */
export interface IconPart {
  size: number;
  format: 'png' | 'webp';
  length: number;
}

export interface UnpackLimits {
  entries: number;
  /** Of all entries together. */
  bytes: number;
  /** Unpacked to packed size of one entry. */
  ratio: number;
  /** A larger entry is listed without its content. */
  entryBytes: number;
}

/** A file in an archive; the contents of all follow each other. */
export interface UnpackedEntry {
  index: number;
  name: string;
  length: number;
  tooLarge: boolean;
}

/** Work for icons, in place of the work for one picture. */
export type IconTask =
  | { kind: 'draw' }
  | { kind: 'squares'; sizes: readonly number[]; isDrawn: boolean }
  | { kind: 'unpack'; limits: UnpackLimits };

export type IconAnswer =
  | { fault: IconFault; detail: string }
  | { tintable: boolean; parts: readonly IconPart[] }
  | { entries: readonly UnpackedEntry[] }
  | { drawn: true };

export class Refused extends Error {
  readonly reason: PictureReason;
  constructor(reason: PictureReason) {
    super(reason);
    this.reason = reason;
  }
}

/** Pictures cannot be opened now: a fault of this machine or of the parser pods, not of the picture. */
export class ParserUnavailable extends Error {}

export interface ChildRequest {
  format: PictureFormat;
  rules: PictureRules;
  make?: PictureMake;
  /** Whether blurhash, colours and transparency are requested. */
  facts: boolean;
  /** Whether the perceptual hash is requested. */
  phash?: true;
  /** The bytes are several pictures; the first has `format`. */
  mosaic?: Mosaic;
  /** There are no bytes: the picture is made from this. */
  tile?: Tile;
  /** The bytes are an icon, or an archive of icons. */
  icon?: IconTask;
}

export type ChildAnswer =
  | { ok: true; facts: PictureFacts; icon?: IconAnswer }
  | { ok: false; reason: PictureReason; detail: string };

export interface Opened {
  facts: PictureFacts;
  /** The produced picture; empty if none was requested. */
  bytes: Buffer;
  /** The result of the work for icons. */
  icon?: IconAnswer;
}

/**
 * Opens one picture in a sandbox. Throws `Refused` because of the picture, `ParserUnavailable` because of the sandbox.
 */
export type OpenPicture = (task: ChildRequest, bytes: Buffer) => Promise<Opened>;

/** Largest frame, with one picture and its facts, in either direction. */
export const MOST_FRAME_BYTES = 72 << 20;
