import type { StreamPlan } from '#areas/streaming/public.ts';

/** Text to burn in, as a file that ffmpeg's filter reads before its first frame. */
export interface Words {
  /** Absolute path; ASS that we wrote. */
  file: string;
  /** A folder with the fonts of the film. */
  fonts?: string;
}

export interface Picture {
  plan: StreamPlan;
  video: StreamPlan['video'][number];
  /** Number of the first wanted frame. */
  first: number;
  /** Frames from it to the end of the film. */
  count: number;
  /** Earlier frames that the decoder outputs. */
  lead: number;
  words?: Words | undefined;
}

/** Pixels of a DVD or DV film are not square, and players widen them; those of a rounded size count as square. */
const SHAPE = `setsar=r='if(between(sar,0.97,1.03),1,sar)'`;

/** Escapes a value inside a filter: ffmpeg removes two levels of quoting. */
export function filterValue(text: string): string {
  return text.replace(/[\\':]/g, '\\$&').replace(/[\\'[\],;]/g, '\\$&');
}

const TRANSFERS = { pq: 'smpte2084', hlg: 'arib-std-b67' };

/**
 * Maps BT.2020 PQ or HLG to BT.709 for screens without HDR. The probed transfer is passed to the filter, because
 * colours that only the container declares are lost by then, and the filter refuses to guess.
 */
export const toneMap = (transfer: 'pq' | 'hlg' = 'pq'): string[] => [
  `setparams=color_primaries=bt2020:color_trc=${TRANSFERS[transfer]}:colorspace=bt2020nc`,
  'zscale=t=linear:npl=100',
  'format=gbrpf32le',
  'zscale=p=bt709',
  'tonemap=tonemap=hable:desat=0',
  'zscale=t=bt709:m=bt709:r=tv',
];

/**
 * From decoded to encoded frames. `fps` counts from a fixed frame, so that each frame shows the last picture at or
 * before its time, whichever keyframe the decoder started at; `tpad` holds the last picture to the end of the film;
 * `trim` drops the lead before anything expensive.
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
    // Fragments are aligned when they are cut; a transport stream must be aligned from the start.
    ...(plan.container === 'ts' ? [`settb=1/${num}`, `setpts=PTS+(${plan.phase})`] : []),
    SHAPE,
    'format=yuv420p',
  ];
}

/** libass reads the file itself, as ASS only; the filter `subtitles` would let the file choose a demuxer. */
function textFilter({ video, words }: Picture): string[] {
  if (video.burnIn?.kind !== 'text' || !words) return [];
  const fonts = words.fonts ? `:fontsdir=${filterValue(words.fonts)}` : '';
  return [`ass=filename=${filterValue(words.file)}${fonts}`];
}

/** The graph for picture subtitles, which are overlaid; undefined if a plain chain is enough. */
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
