// Recordings that ffmpeg makes: programmes with a logo and commercials without it, and scenes that look like breaks.

export interface Part {
  picture: string;
  seconds: number;
  logo?: boolean;
  silent?: boolean;
}

export const scene = (seconds: number): Part => ({
  picture: `mandelbrot=size=320x180:rate=25:maxiter=120:start_scale=${seconds / 40}`,
  seconds,
});
export const programme = (seconds: number): Part => ({ ...scene(seconds), logo: true });
const SPOTS = [
  'testsrc2=size=320x180:rate=25',
  'life=size=320x180:rate=25:mold=10:ratio=0.3',
  'smptehdbars=size=320x180:rate=25',
];
const spot = (seconds: number, i: number): Part => ({ picture: SPOTS[i % SPOTS.length] as string, seconds });
export const black = (seconds = 0.32): Part => ({ picture: 'color=black:size=320x180:rate=25', seconds, silent: true });
/** Commercials with black and silence around each. */
export const block = (...lengths: number[]): Part[] => [
  black(),
  ...lengths.flatMap((one, i) => [spot(one - 0.32, i), black()]),
];
export const dark = (seconds: number): Part => ({ ...black(seconds), logo: true });

const LOGO = 'drawbox=x=272:y=12:w=30:h=20:color=white@0.8:t=3,drawbox=x=281:y=18:w=12:h=8:color=white@0.8:t=2';

/** Inputs and options of ffmpeg for the parts one after the other. */
export function recording(parts: readonly Part[]): string[] {
  const inputs = parts.flatMap(({ picture, seconds, silent }) => [
    ...['-f', 'lavfi', '-t', String(seconds), '-i', picture],
    ...[
      '-f',
      'lavfi',
      '-t',
      String(seconds),
      '-i',
      silent ? 'anullsrc=r=48000:cl=mono' : 'anoisesrc=r=48000:amplitude=0.2',
    ],
  ]);
  const chains = parts.map(({ logo }, i) => `[${2 * i}]${logo ? `${LOGO},` : ''}format=yuv420p,setsar=1[v${i}]`);
  const all = parts.map((_, i) => `[v${i}][${2 * i + 1}]`).join('');
  return [
    ...[...inputs, '-filter_complex', `${chains.join(';')};${all}concat=n=${parts.length}:v=1:a=1`],
    ...['-c:v', 'libx264', '-preset', 'ultrafast', '-g', '25', '-c:a', 'aac', '-b:a', '64k'],
  ];
}

/** Where the parts of a break begin and end, in seconds. */
export function truth(parts: readonly (Part | Part[])[]): { all: Part[]; breaks: [number, number][] } {
  const breaks: [number, number][] = [];
  let at = 0;
  for (const part of parts) {
    const length = [part].flat().reduce((sum, { seconds }) => sum + seconds, 0);
    if (Array.isArray(part)) breaks.push([at, at + length]);
    at += length;
  }
  return { all: parts.flat(), breaks };
}
