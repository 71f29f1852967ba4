// Reads a recording by ffmpeg: the keyframes for the logo, and then each stretch once for all that breaks show.
import type { ProbedStream } from '#platform/media.ts';
import type { AnalysedFile } from '../../analysis/each-file.ts';
import type { Span } from '../../analysis/intros/match.ts';
import { soundStream } from '../../analysis/intros/sound.ts';
import { readByFfmpeg } from '../../analysis/run.ts';
import { filmStream } from '../../artwork/still.ts';
import { LOGO_BYTES, LOGO_PICTURE, type Logo, LogoLearner, showsLogo } from './logo.ts';
import { eachPart, isBlackPicture, isSilent, Spans } from './spans.ts';

const PATIENCE_MS = 1_800_000;
/** Pictures from which the logo is learned; short recordings have one every two seconds. */
const LEARNED = { pictures: 600, leastMs: 2000 };
/** For black: often only a few pictures are black between two commercials. */
const SMALL = { width: 96, height: 54, rate: 25 };
const SOUND = { rate: 8000, stepMs: 20 };
/** A shorter black or silent part is a blink or a pause between two words. */
const LEAST_MS = 80;

const grey = ({ width, height }: { width: number; height: number }): string =>
  `scale=w=${width}:h=${height}:flags=fast_bilinear:out_range=tv,format=gray`;
/** Threads would take half as much CPU again, for handing small pictures to each other. */
const ONE_THREAD = ['-filter_threads', '1', '-filter_complex_threads', '1', '-threads', '1'];
/** Pictures and sound come in parts of a pipe, not one at a time. */
const GATHERED = ['-flush_packets', '0'];
const RAW = [...GATHERED, '-fps_mode', 'passthrough', '-c:v', 'rawvideo', '-f', 'rawvideo'];

/** Undefined for a recording that shows no logo, or the same one all the time. */
export async function learnLogo({ file, probe }: AnalysedFile, signal: AbortSignal): Promise<Logo | undefined> {
  const stream = filmStream(probe);
  if (!stream) return undefined;
  const learner = new LogoLearner();
  const everyMs = Math.max(LEARNED.leastMs, probe.durationMs / LEARNED.pictures);
  const writing = [
    ...[
      '-map',
      `0:${stream.index}`,
      '-vf',
      `fps=fps=1000/${everyMs}:start_time=0:eof_action=pass,${grey(LOGO_PICTURE)}`,
    ],
    ...RAW,
  ];
  const take = (output: AsyncIterable<Buffer>): Promise<void> => {
    let left = LEARNED.pictures;
    return eachPart(output, LOGO_BYTES, (picture) => {
      if (left > 0) learner.add(picture);
      left -= 1;
    });
  };
  const reading = [...ONE_THREAD, '-skip_frame', 'nokey', '-an', '-sn', '-dn'];
  await readByFfmpeg({ file, probe, reading, outputs: [{ writing, take }], signal, patienceMs: PATIENCE_MS });
  return learner.logo();
}

export interface Stretch {
  fromMs: number;
  lengthMs: number;
  logo: Logo | undefined;
}

export interface Measured {
  blacks: Span[];
  silences: Span[];
  /** Whether each second shows the logo. */
  logo: boolean[];
}

/** A part that cannot be read has no events. */
export async function measure(source: AnalysedFile, stretch: Stretch, signal: AbortSignal): Promise<Measured> {
  const { file, probe } = source;
  const [picture, sound] = [filmStream(probe), soundStream(probe)];
  const black = new Spans(stretch.fromMs, 1000 / SMALL.rate);
  const silent = new Spans(stretch.fromMs, SOUND.stepMs);
  const logo: boolean[] = [];
  const outputs = [
    ...(picture ? pictureOutputs(picture, stretch, { black, logo }) : []),
    ...(sound ? [soundOutput(sound, silent)] : []),
  ];
  const { fromMs, lengthMs } = stretch;
  const part = ['-ss', (fromMs / 1000).toFixed(3), '-t', (lengthMs / 1000).toFixed(3)];
  const reading = [...ONE_THREAD, ...part, '-sn', '-dn'];
  await readByFfmpeg({ file, probe, reading, outputs, signal, patienceMs: PATIENCE_MS });
  const long = ({ startMs, endMs }: Span): boolean => endMs - startMs >= LEAST_MS || endMs >= fromMs + lengthMs;
  return { blacks: black.all.filter(long), silences: silent.all.filter(long), logo };
}

/** Decoded once, and divided into small pictures for black and one picture a second for the logo. */
function pictureOutputs(
  { index }: ProbedStream,
  { lengthMs, logo: edges }: Stretch,
  found: { black: Spans; logo: boolean[] },
) {
  const frames = Math.ceil((lengthMs / 1000) * SMALL.rate);
  const once = `[0:${index}]fps=fps=${SMALL.rate}:start_time=0,trim=end_frame=${frames},split[small][large]`;
  const small = `[small]${grey(SMALL)}[black]`;
  const graph = `${once};${small};[large]fps=fps=1:start_time=0:round=down,${grey(LOGO_PICTURE)}[logo]`;
  return [
    {
      writing: ['-filter_complex', graph, '-map', '[black]', ...RAW],
      take: (output: AsyncIterable<Buffer>) =>
        eachPart(output, SMALL.width * SMALL.height, (picture) => found.black.add(isBlackPicture(picture))),
    },
    {
      writing: ['-map', '[logo]', ...RAW],
      take: (output: AsyncIterable<Buffer>) =>
        eachPart(output, LOGO_BYTES, (picture) => {
          const isFull = found.logo.length >= Math.ceil(lengthMs / 1000);
          if (!isFull) found.logo.push(edges === undefined || showsLogo(picture, edges));
        }),
    },
  ];
}

function soundOutput({ index }: ProbedStream, silent: Spans) {
  const filters = 'aresample=async=1:min_hard_comp=0.1:first_pts=0';
  return {
    writing: [
      ...['-map', `0:${index}`, '-af', filters, '-ac', '1', '-ar', String(SOUND.rate)],
      ...[...GATHERED, '-c:a', 'pcm_s16le', '-f', 's16le'],
    ],
    take: (output: AsyncIterable<Buffer>) =>
      eachPart(output, (SOUND.rate * SOUND.stepMs) / 500, (step) => silent.add(isSilent(step))),
  };
}
