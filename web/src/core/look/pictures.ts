// Addresses of the sizes in which the server makes an image.
export interface Pictured {
  id: string;
  kind: string;
  width: number;
  height: number;
  blurhash: string | null;
  version: string;
}

/** The sizes that exist; others are rounded up to one of them. */
const WIDTHS = [48, 96, 160, 240, 320, 480, 640, 960, 1280, 1440, 1920, 2560, 3840];
/** A picture that is a tenth smaller than its place still looks sharp. */
const ENOUGH = 0.9;
const MOST_DENSITY = 2;

interface Connection {
  saveData?: boolean;
}

/** The person saves data: one density is enough. */
const savesData = (): boolean => (navigator as Navigator & { connection?: Connection }).connection?.saveData === true;

const widthFor = (width: number): number => WIDTHS.find((one) => one >= width * ENOUGH) ?? 3840;

/** The address of an image at a width; its version makes the answer immutable. */
export function addressOf({ id, version }: Pictured, width: number, square = false): string {
  const size = square ? `width=${width}&height=${width}&fit=cover` : `width=${width}`;
  return `/api/v1/images/${id}?${size}&v=${version}`;
}

/** Addresses for a place of so many CSS pixels, by the density of the screen. */
export function sourcesOf(
  image: Pictured,
  width: number,
  { square = false, saving = savesData() }: { square?: boolean; saving?: boolean } = {},
): { src: string; srcset: string } {
  const one = widthFor(width);
  const two = widthFor(width * MOST_DENSITY);
  const src = addressOf(image, one, square);
  const srcset = saving || two === one ? '' : `${src} 1x, ${addressOf(image, two, square)} 2x`;
  return { src, srcset };
}

export type Shape = 'poster' | 'landscape' | 'square';

interface Shown {
  poster?: Pictured | undefined;
  backdrop?: Pictured | undefined;
  thumb?: Pictured | undefined;
}

/** The picture of an item for a place of this shape: one of the same shape first. */
export function artFor(artwork: Shown | undefined, shape: Shape): Pictured | undefined {
  const { poster, backdrop, thumb } = artwork ?? {};
  return shape === 'landscape' ? (thumb ?? backdrop ?? poster) : (poster ?? thumb);
}
