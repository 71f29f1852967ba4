// Preview thumbnails: which part of which sheet shows a position.
import type { Trickplay } from 'foyer-client';

export interface Thumbnail {
  sheet: number;
  url: string;
  /** In the sheet, CSS pixels of its full size. */
  x: number;
  y: number;
  width: number;
  height: number;
  /** Size of a whole sheet. */
  sheetWidth: number;
  sheetHeight: number;
}

/** The thumbnail of a position; undefined without thumbnails. */
export function thumbnailAt(trickplay: Trickplay | undefined, ms: number): Thumbnail | undefined {
  const size = trickplay?.widths[0];
  if (!trickplay || !size) return undefined;
  const { width, height, columns, rows, thumbs } = size;
  // The thumbnail of a place shows the keyframe nearest to it.
  const number = Math.max(0, Math.min(thumbs - 1, Math.round(ms / trickplay.intervalMs)));
  const sheet = Math.floor(number / (columns * rows));
  const place = number % (columns * rows);
  return {
    sheet,
    url: `/api/v1/files/${trickplay.fileId}/trickplay/${width}-${sheet}.webp`,
    x: (place % columns) * width,
    y: Math.floor(place / columns) * height,
    ...{ width, height, sheetWidth: columns * width, sheetHeight: rows * height },
  };
}
