import type { PictureFormat } from './pictures-sniff.ts';

/** What a picture may be; over it is refused. */
export interface PictureRules {
  accepts: readonly PictureFormat[];
  /** Pixels of the shorter and of the longer side, turned upright. */
  minSide: number;
  maxSide: number;
  /** Of one frame, and of all frames together where animation is kept. */
  maxPixels: number;
  maxFrames: number;
  /** Length of an animation, milliseconds. */
  maxMs?: number;
}

/** What is made of a picture: turned upright, in sRGB, without metadata. */
export interface PictureMake {
  format: 'webp' | 'png' | 'avif';
  width: number;
  height: number;
  /** `cover` crops about the centre, `contain` pads, `inside` keeps the shape. */
  fit: 'cover' | 'contain' | 'inside';
  /** Also above the picture's own size. */
  enlarge?: boolean;
  lossless?: boolean;
  /** Of the padding, #rrggbb; transparent when absent. */
  background?: string;
  /** All frames, where there are several; else the first. */
  animated?: boolean;
  /** Above it quality and size go down. */
  maxBytes?: number;
}

export interface PictureFacts {
  width: number;
  height: number;
  frames: number;
  alpha: boolean;
  blurhash: string;
  /** #rrggbb. */
  dominant: string;
  made: { width: number; height: number; animated: boolean };
}

export type PictureReason =
  | 'unsupported'
  | 'not_an_image'
  | 'image_too_small'
  | 'image_too_large'
  | 'animation_too_long';

export class Refused extends Error {
  readonly reason: PictureReason;
  constructor(reason: PictureReason) {
    super(reason);
    this.reason = reason;
  }
}

/** What opens pictures cannot be had: a fault of this machine or of the parser pods, not of the picture. */
export class ParserUnavailable extends Error {}

export interface ChildRequest {
  format: PictureFormat;
  rules: PictureRules;
  make?: PictureMake;
  /** Blurhash, colour and transparency are wanted. */
  facts: boolean;
}

export type ChildAnswer = { ok: true; facts: PictureFacts } | { ok: false; reason: PictureReason; detail: string };

export interface Opened {
  facts: PictureFacts;
  /** What was made; empty when nothing was to be. */
  bytes: Buffer;
}

/** Opens one picture in a jail. Throws `Refused` for what the picture is, `ParserUnavailable` for what the jail lacks. */
export type OpenPicture = (ask: ChildRequest, bytes: Buffer) => Promise<Opened>;

/** Of one picture with what is said of it, either way. */
export const MOST_FRAME_BYTES = 64 << 20;
