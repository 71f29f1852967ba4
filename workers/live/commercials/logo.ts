// The logo of a channel: edges in the corners of the picture that stay where they are. Pure.

/** Grey pictures of this size, one byte a pixel. */
export const LOGO_PICTURE = { width: 320, height: 180 };
export const LOGO_BYTES = LOGO_PICTURE.width * LOGO_PICTURE.height;

/** A corner is this much of the width and of the height; their outermost pixels are often noise. */
const PART = 0.3;
const RIM = 3;
/** Difference of brightness at an edge, of 255. */
const EDGE = 24;
/** An edge has one of four directions at each pixel: a moving picture seldom keeps one. */
const DIRECTIONS = 4;

const { width, height } = LOGO_PICTURE;
const [WIDE, HIGH] = [Math.round(width * PART), Math.round(height * PART)];

/** Places in a picture of the pixels in its corners. */
const CORNERS: Int32Array = (() => {
  const places: number[] = [];
  for (let y = RIM; y < height - RIM; y += 1)
    for (let x = RIM; x < width - RIM; x += 1)
      if ((x < WIDE || x >= width - WIDE) && (y < HIGH || y >= height - HIGH)) places.push(y * width + x);
  return Int32Array.from(places);
})();

/** One bit a direction at the place. */
function edgesAt(picture: Uint8Array, at: number): number {
  const across = (picture[at + 1] as number) - (picture[at - 1] as number);
  const down = (picture[at + width] as number) - (picture[at - width] as number);
  const horizontal = across > EDGE ? 1 : across < -EDGE ? 2 : 0;
  return horizontal | (down > EDGE ? 4 : down < -EDGE ? 8 : 0);
}

/** Edges of a logo: each is its place times four and its direction. */
export type Logo = readonly number[];

/** Share of the pictures that show a logo: less is a detail of a scene, more does not distinguish a break from the programme. */
const SHOWN = { least: 0.4, most: 0.97 };
const LEAST_EDGES = 24;
const MOST_EDGES = 400;
/** So many pictures at least. */
const LEAST_PICTURES = 30;
/** Share of the edges of a logo in a picture that shows it, and in one that shows it or does not for certain. */
const SEEN = 0.5;
const UNCLEAR = { from: 0.35, to: 0.65, most: 0.25 };
const DARK = 24;

/** Learns the logo from pictures all over a recording. */
export class LogoLearner {
  readonly #counts = new Uint32Array(CORNERS.length * DIRECTIONS);
  readonly #kept: Uint8Array[] = [];

  /** At most a few hundred pictures: a byte for each pixel of their corners is kept. */
  add(picture: Uint8Array): void {
    const edges = new Uint8Array(CORNERS.length);
    let light = 0;
    for (let i = 0; i < CORNERS.length; i += 1) {
      const at = CORNERS[i] as number;
      edges[i] = edgesAt(picture, at);
      if ((picture[at] as number) > DARK) light += 1;
    }
    if (light === 0) return; // black, as between two commercials
    this.#kept.push(edges);
    for (let i = 0; i < edges.length; i += 1) if (edges[i] !== 0) this.#count(i, edges[i] as number);
  }

  /** Undefined without a logo that comes and goes. */
  logo(): Logo | undefined {
    const pictures = this.#kept.length;
    if (pictures < LEAST_PICTURES) return undefined;
    const edges = [...this.#counts.keys()]
      .filter((edge) => this.#share(edge) >= SHOWN.least && this.#share(edge) <= SHOWN.most)
      .sort((a, b) => this.#share(b) - this.#share(a));
    const logo = withoutBars(edges).slice(0, MOST_EDGES);
    if (logo.length < LEAST_EDGES) return undefined;
    const shares = this.#kept.map((kept) => shareOf(logo, (i) => kept[i] as number));
    const shown = shares.filter((share) => share >= SEEN).length / pictures;
    const unclear = shares.filter((share) => share > UNCLEAR.from && share < UNCLEAR.to).length / pictures;
    const isClear = shown >= SHOWN.least && shown <= SHOWN.most && unclear <= UNCLEAR.most;
    return isClear ? logo : undefined;
  }

  #count(corner: number, bits: number): void {
    for (let way = 0; way < DIRECTIONS; way += 1)
      if (bits & (1 << way)) (this.#counts[corner * DIRECTIONS + way] as number) += 1;
  }

  #share(edge: number): number {
    return (this.#counts[edge] as number) / this.#kept.length;
  }
}

function shareOf(logo: Logo, edgesOf: (corner: number) => number): number {
  let seen = 0;
  for (const edge of logo) if (edgesOf(Math.floor(edge / DIRECTIONS)) & (1 << (edge % DIRECTIONS))) seen += 1;
  return seen / logo.length;
}

const LINE_SHARE = 0.7;

/** Without the edges of black bars, which dark scenes hide: rows and columns that are edges over both of their corners. */
function withoutBars(edges: Logo): number[] {
  const lines = new Map<number, number>();
  for (const edge of edges) lines.set(lineOf(edge), (lines.get(lineOf(edge)) ?? 0) + 1);
  const most = { row: 2 * (WIDE - RIM) * LINE_SHARE, column: 2 * (HIGH - RIM) * LINE_SHARE };
  return edges.filter((edge) => (lines.get(lineOf(edge)) ?? 0) < (isRow(edge) ? most.row : most.column));
}

/** Whether the brightness changes downwards. */
const isRow = (edge: number): boolean => edge % DIRECTIONS > 1;

/** A number for the row or the column of an edge. */
function lineOf(edge: number): number {
  const at = CORNERS[Math.floor(edge / DIRECTIONS)] as number;
  return isRow(edge) ? width + Math.floor(at / width) : at % width;
}

/** Whether a picture shows the logo. */
export function showsLogo(picture: Uint8Array, logo: Logo): boolean {
  return shareOf(logo, (corner) => edgesAt(picture, CORNERS[corner] as number)) >= SEEN;
}
