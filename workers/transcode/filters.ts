import type { StreamPlan } from '#areas/streaming/public.ts';

/** Text to burn in, as a file that ffmpeg's filter reads before its first picture. */
export interface Words {
  /** Absolute; ASS that we wrote. */
  file: string;
  /** A folder of fonts that the film carries. */
  fonts?: string;
}

export interface Picture {
  plan: StreamPlan;
  video: StreamPlan['video'][number];
  /** Number of the first wanted frame. */
  first: number;
  /** Frames from it to the end of the film. */
  count: number;
  /** Frames before it that the decoder gives. */
  lead: number;
  words?: Words | undefined;
}

/** Pixels of a DVD or DV film are not square, and players widen them; those of a rounded size are square all the same. */
const SHAPE = `setsar=r='if(between(sar,0.97,1.03),1,sar)'`;

/** A value inside a filter: ffmpeg takes two levels of quoting off. */
export function filterValue(text: string): string {
  return text.replace(/[\\':]/g, '\\$&').replace(/[\\'[\],;]/g, '\\$&');
}

const TRANSFERS = { pq: 'smpte2084', hlg: 'arib-std-b67' };

/**
 * BT.2020 PQ or HLG down to BT.709 for screens without HDR. What the file was found to be is said to the filter: colours that
 * only the container names are gone by then, and it refuses to guess.
 */
const toneMap = (transfer: 'pq' | 'hlg' = 'pq'): string[] => [
  `setparams=color_primaries=bt2020:color_trc=${TRANSFERS[transfer]}:colorspace=bt2020nc`,
  'zscale=t=linear:npl=100',
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=tonemap=hable:desat=0',
  'zscale=t=bt709:m=bt709:r=tv',
];

/**
 * From decoded pictures to those that are encoded. `fps` counts frames from a fixed one on, so that each has the last
 * picture at or before its time whichever keyframe the decoder began at; `tpad` holds the last picture to the end of the
 * film; `trim` drops the lead before anything costly.
 */
export function pictureFilters(picture: Picture): string[] {
  const { plan, video, first, count, lead } = picture;
  const { num, den } = plan.rate ?? { num: 25_000, den: 1000 };
  const even = (size: number): number => Math.max(2, Math.floor(size / 2) * 2);
  const startSec = ((first - lead) * den + plan.phase) / num;
  return [
    ...(video.deinterlace ? ['bwdif=mode=send_frame'] : []),
    `fps=fps=${num}/${den}:start_time=${startSec.toFixed(6)}`,
    'tpad=stop=-1:stop_mode=clone',
    `trim=start_frame=${lead}:end_frame=${lead + count}`,
    `scale=w=${even(video.width)}:h=${even(video.height)}:flags=bicubic`,
    ...(video.toneMap ? toneMap(video.transfer) : []),
    ...textFilter(picture),
    // Fragments are put on the phase when they are cut; a transport stream must be born on it.
    ...(plan.container === 'ts' ? [`settb=1/${num}`, `setpts=PTS+(${plan.phase})`] : []),
    SHAPE,
    'format=yuv420p',
  ];
}

/** libass reads the file by itself, as ASS and nothing else; the filter `subtitles` would let the file choose a demuxer. */
function textFilter({ video, words }: Picture): string[] {
  if (video.burnIn?.kind !== 'text' || !words) return [];
  const fonts = words.fonts ? `:fontsdir=${filterValue(words.fonts)}` : '';
  return [`ass=filename=${filterValue(words.file)}${fonts}`];
}

/** The graph for picture subtitles, which are laid over; undefined when a plain chain does. */
export function pictureGraph(picture: Picture, upload: readonly string[]): string | undefined {
  const burn = picture.video.burnIn;
  if (burn?.kind !== 'picture') return undefined;
  const [before, after] = splitAt(pictureFilters(picture), (filter) => filter.startsWith('setsar'));
  const { width, height } = picture.video;
  return [
    `[0:${picture.video.streamIndex}]${before.join(',')}[film]`,
    `[0:${burn.streamIndex}]scale=w=${width}:h=${height}[words]`,
    `[film][words]overlay=eof_action=pass,${[...after, ...upload].join(',')}[picture]`,
  ].join(';');
}

function splitAt(list: readonly string[], test: (item: string) => boolean): [string[], string[]] {
  const at = list.findIndex(test);
  return [list.slice(0, at), list.slice(at)];
}
